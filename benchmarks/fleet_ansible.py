"""ansible-core in a virtual environment of its own, to compare with; skipped where pip can't get it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.fleet_servers import Farm

KEYS = """
tcp_rmem tcp_wmem tcp_window_scaling tcp_timestamps tcp_sack tcp_dsack tcp_fack tcp_ecn tcp_fin_timeout
tcp_keepalive_time tcp_keepalive_intvl tcp_keepalive_probes tcp_max_syn_backlog tcp_syn_retries
tcp_synack_retries tcp_retries1 tcp_retries2 tcp_reordering tcp_mtu_probing tcp_base_mss
tcp_slow_start_after_idle tcp_moderate_rcvbuf tcp_no_metrics_save tcp_adv_win_scale tcp_app_win
tcp_congestion_control tcp_notsent_lowat tcp_limit_output_bytes tcp_pacing_ss_ratio tcp_pacing_ca_ratio
tcp_early_retrans tcp_recovery tcp_frto tcp_rfc1337 tcp_syncookies tcp_tw_reuse tcp_min_tso_segs
tcp_thin_linear_timeouts tcp_workaround_signed_windows tcp_abort_on_overflow
"""
"""Forty keys, as many as hostcfg's probe is asked to read at least."""


@dataclass(frozen=True)
class Ansible:
    """``folder`` is the virtual environment; ``posix`` says whether ansible.posix came with it."""

    folder: Path
    posix: bool

    @classmethod
    def install(cls, directory: Path) -> Self | None:
        """None, and a line that says why, where it can't be installed."""
        folder = directory / "ansible"
        venv.create(folder, with_pip=True)
        pip = [str(folder / "bin/pip"), "--quiet", "--disable-pip-version-check"]
        done = subprocess.run([*pip, "install", "ansible-core"], capture_output=True, text=True)
        if done.returncode != 0:
            print(f"no comparison with ansible-core: pip can't install it ({done.stderr.strip()[-200:]})")
            return None
        (folder / "ansible.cfg").touch()  # nobody else's
        return cls(folder, _get_posix(pip, folder))

    def environment(self, made: Farm) -> dict[str, str]:
        """Ansible at its best: pipelining, 50 forks, shared connections, no facts, a known interpreter.

        Each call has a directory of its own for the connections that it shares, since it would find
        those of the call before, and log in nowhere.
        """
        config = made.home / ".ssh/config"
        sockets = tempfile.mkdtemp(prefix="cp", dir=made.home.parent)
        return {
            **made.environment,
            "PATH": f"{self.folder}/bin:{made.environment.get('PATH', '')}",
            "ANSIBLE_CONFIG": str(self.folder / "ansible.cfg"),
            "ANSIBLE_PIPELINING": "1",
            "ANSIBLE_FORKS": "50",
            "ANSIBLE_GATHERING": "explicit",
            "ANSIBLE_PYTHON_INTERPRETER": "/usr/bin/python3",
            "ANSIBLE_COLLECTIONS_PATH": str(self.folder / "collections"),
            "ANSIBLE_SSH_ARGS": f"-F {config} -C -o ControlMaster=auto -o ControlPersist=3s",
            "ANSIBLE_SSH_CONTROL_PATH_DIR": sockets,
        }

    def _inventory(self, made: Farm, count: int) -> Path:
        path = made.home / f"ansible-{count}.ini"
        rows = (f"{name} ansible_port={made.port} ansible_user=root\n" for name in made.names[:count])
        path.write_text("[all]\n" + "".join(rows))
        return path

    def ad_hoc(self, made: Farm, count: int) -> list[str]:
        """One command that reads the keys."""
        keys = " ".join(f"net.ipv4.{key}" for key in KEYS.split())
        call = [str(self.folder / "bin/ansible"), "all", "-i", str(self._inventory(made, count))]
        return [*call, "-m", "ansible.builtin.command", "-a", f"/usr/sbin/sysctl -e {keys}"]

    def sysctl(self, made: Farm, count: int) -> list[str]:
        """The module, in check mode, over the same keys."""
        book = made.home / "sysctl.yml"
        rows = "\n".join(f"        - net.ipv4.{key}" for key in KEYS.split())
        book.write_text(
            "- hosts: all\n  gather_facts: false\n  tasks:\n    - ansible.posix.sysctl:\n"
            "        {name: '{{ item }}', value: '1', sysctl_file: /etc/sysctl.d/90-benchmark.conf}\n"
            f"      loop:\n{rows}\n"
        )
        call = [str(self.folder / "bin/ansible-playbook"), "-i", str(self._inventory(made, count)), "--check"]
        return [*call, str(book)]


def _get_posix(pip: list[str], folder: Path) -> bool:
    """ansible.posix out of the wheel that carries all collections, if pip has that."""
    done = subprocess.run(
        [*pip, "download", "--no-deps", "--dest", str(folder / "wheel"), "ansible"], capture_output=True
    )
    wheels = list((folder / "wheel").glob("*.whl")) if done.returncode == 0 else []
    if not wheels:
        print("no comparison with ansible.posix.sysctl: pip can't get the collections", file=sys.stderr)
        return False
    with zipfile.ZipFile(wheels[0]) as archive:
        members = [n for n in archive.namelist() if n.startswith("ansible_collections/ansible/posix/")]
        archive.extractall(folder / "collections", members)
    return True
