"""The floor: bare paramiko, well used, with a thread pool, runs one command on each host.

    python -m benchmarks.fleet_floor HOSTS_FILE WORKERS SCRIPT_FILE

What "well used" takes: keys and known_hosts are read once, by a dictionary and not by
paramiko.HostKeys (whose load is quadratic); a socket of its own with TCP_NODELAY, and TCP_QUICKACK
after each receive; no agent, no search for keys; the script goes to ``/bin/sh -s`` as standard input.
It verifies host keys, and it understands nothing of what the hosts print.
"""

from __future__ import annotations

import socket
import sys
from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import paramiko

_QUICKACK = getattr(socket, "TCP_QUICKACK", None)


class _Socket:
    """A socket that acknowledges at once."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def recv(self, size: int) -> bytes:
        data = self._sock.recv(size)
        if _QUICKACK is not None:
            self._sock.setsockopt(socket.IPPROTO_TCP, _QUICKACK, 1)
        return data

    def __getattr__(self, name: str) -> object:
        return getattr(self._sock, name)


def known_keys(path: Path) -> dict[str, bytes]:
    """Host -> key blob."""
    rows = (line.split() for line in path.read_text().splitlines())
    return {row[0]: b64decode(row[2]) for row in rows}


def run(destination: str, key: paramiko.PKey, known: dict[str, bytes], script: bytes) -> int:
    """How many bytes the host printed."""
    host, _, port = destination.partition(":")
    sock = socket.create_connection((host, int(port)), 30)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    transport = paramiko.Transport(_Socket(sock))  # type: ignore[arg-type]
    try:
        transport.start_client(timeout=30)
        if transport.get_remote_server_key().asbytes() != known[f"[{host}]:{port}"]:
            raise SystemExit(f"{host}: another host key")
        transport.auth_publickey("root", key)
        channel = transport.open_session(timeout=30)
        channel.exec_command("/bin/sh -s")
        channel.sendall(script)
        channel.shutdown_write()
        size = 0
        while data := channel.recv(1 << 16):
            size += len(data)
        assert channel.recv_exit_status() == 0
        return size
    finally:
        transport.close()


def main() -> None:
    hosts, workers, script = sys.argv[1:]
    ssh = Path.home() / ".ssh"
    key = paramiko.Ed25519Key.from_private_key_file(str(ssh / "id_ed25519"))
    known = known_keys(ssh / "known_hosts")
    text = Path(script).read_bytes()
    names = Path(hosts).read_text().split()
    with ThreadPoolExecutor(int(workers)) as pool:
        sizes = list(pool.map(lambda name: run(name, key, known, text), names))
    print(f"{len(sizes)} hosts, {sum(sizes)} bytes")


if __name__ == "__main__":
    main()
