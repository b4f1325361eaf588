"""The other programs of the base system, each as far as hostcfg or the recorded sessions call it."""

# pathlib would double what each call costs
# ruff: noqa: PTH110, PTH123, PTH208

from __future__ import annotations

import os
import sys

from tests.hosts.freebsd.programs.kernel import Kernel

TYPE_CHECKING = False  # typing would double what each call costs
if TYPE_CHECKING:
    from collections.abc import Callable

_HEAD_OF_KLDSTAT = "Id Refs Address                Size Name\n"
_FIRST_ADDRESS = 0xFFFFFFFF81410000
_MODULE_SIZE = {
    "cc_newreno": 0x22B0,
    "cc_cdg": 0x2650,
    "cc_chd": 0x245C,
    "cc_dctcp": 0x23B0,
    "cc_hd": 0x2364,
    "cc_vegas": 0x22E4,
}
_KERNEL_REFS = {"cc_newreno": 2, "cc_dctcp": 2}


def kldload(arguments: list[str], state: str, jail: str | None) -> int:
    """Loads each file; goes on after a failure."""
    status = 0
    with Kernel(state, write=True, jail=jail) as kernel:
        for name in (word for word in arguments if not word.startswith("-")):
            said = kernel.load(name.removesuffix(".ko"))
            if said and not ("-n" in arguments and "already loaded" in said):
                sys.stderr.write(f"kldload: {said}\n")
                status = 1
    return status


def kldunload(arguments: list[str], state: str, jail: str | None) -> int:
    """Unloads each file that nothing uses."""
    status = 0
    with Kernel(state, write=True, jail=jail) as kernel:
        for name in (word for word in arguments if not word.startswith("-")):
            said = kernel.unload(name.removesuffix(".ko"))
            if said:
                sys.stderr.write(f"kldunload: {said}\n")
                status = 1
    return status


def kldstat(arguments: list[str], state: str, jail: str | None) -> int:
    """The kernel and its modules; ``-q -n NAME`` by status alone."""
    with Kernel(state, jail=jail) as kernel:
        modules = kernel.modules
    if "-n" in arguments:
        found = arguments[arguments.index("-n") + 1].removesuffix(".ko") in modules
        if not found and "-q" not in arguments:
            sys.stderr.write(f"kldstat: can't find file {arguments[-1]}: No such file or directory\n")
        return 0 if found else 1
    refs = 1 + sum(_KERNEL_REFS.get(name, 3) for name in modules)
    sys.stdout.write(f"{_HEAD_OF_KLDSTAT} 1 {refs:>4} 0xffffffff80000000 80000000 kernel\n")
    address = _FIRST_ADDRESS
    for number, name in enumerate(modules, 2):
        size = _MODULE_SIZE.get(name, 0x2400)
        sys.stdout.write(f"{number:>2} {1:>4} 0x{address:x} {size:>8x} {name}.ko\n")
        address += (size + 0xFFF) // 0x1000 * 0x1000
    return 0


def uname(arguments: list[str], state: str, jail: str | None) -> int:
    """``-a`` and single letters."""
    with Kernel(state, jail=jail) as kernel:
        about, values = kernel.about, kernel.values
    one_line = values["kern.version"].replace("\n", " ").strip()
    parts = {
        "s": about["uname"],
        "n": values["kern.hostname"],
        "r": values["kern.osrelease"],
        "v": one_line,
        "m": values["hw.machine"],
        "p": values["hw.machine_arch"],
        "K": values["kern.osreldate"],
        "U": values["kern.osreldate"],
    }
    letters = "".join(word[1:] for word in arguments) or "s"
    chosen = "snrvm" if "a" in letters else letters
    sys.stdout.write(" ".join(parts[letter] for letter in parts if letter in chosen) + "\n")
    return 0


def ifconfig(arguments: list[str], state: str, jail: str | None) -> int:
    """``-a``, one interface, and ``vtnet0 mtu N``; options that the card has not are taken in silence."""
    with Kernel(state, write=len(arguments) > 1, jail=jail) as kernel:
        mtu = kernel.values["@mtu.vtnet0"]
        if arguments[1:2] == ["mtu"]:
            kernel.store({"@mtu.vtnet0": arguments[2]})
        elif len(arguments) < 2:
            with open(f"{state}/ifconfig", encoding="utf-8") as file:
                blocks = file.read().replace("@MTU@", mtu).split("\0")
            chosen = [b for b in blocks if arguments in (["-a"], []) or b.startswith(f"{arguments[0]}:")]
            sys.stdout.write("".join(chosen))
            if not chosen:
                sys.stderr.write(f"ifconfig: interface {arguments[0]} does not exist\n")
                return 1
    return 0


def route(arguments: list[str], state: str, jail: str | None) -> int:
    """``-n get ADDRESS|default``."""
    with Kernel(state, jail=jail) as kernel:
        mtu = kernel.values["@mtu.vtnet0"]
    target = arguments[-1]
    if target.startswith("127.") or target == "::1":
        name, mtu, where = "lo0", "16384", f"destination: {target}\n        fib: 0\n  interface: lo0\n"
        flags = "<UP,HOST,DONE,STATIC,PINNED>"
    elif target.startswith("10.0.2."):
        name, flags = "vtnet0", "<UP,DONE,PINNED>"
        where = f"destination: 10.0.2.0\n       mask: 255.255.255.0\n        fib: 0\n  interface: {name}\n"
    else:
        name, flags = "vtnet0", "<UP,GATEWAY,DONE,STATIC>"
        where = "destination: default\n       mask: default\n    gateway: 10.0.2.2\n        fib: 0\n"
        where += f"  interface: {name}\n"
    sys.stdout.write(
        f"   route to: {target}\n{where}      flags: {flags}\n"
        " recvpipe  sendpipe  ssthresh  rtt,msec    mtu        weight    expire\n"
        f"       0         0         0         0  {mtu:>8}         1         0 \n"
    )
    return 0


def service(arguments: list[str], state: str, jail: str | None) -> int:
    """``sysctl start|restart|lastload|reload`` as etc/rc.d/sysctl; other services do nothing."""
    from tests.hosts.freebsd.programs import sysctl

    if arguments[0] != "sysctl":
        return 0
    options = ["-f"] if arguments[1] in ("lastload", "reload") else ["-i", "-f"]
    saved = os.dup(1)
    nowhere = os.open("/dev/null", os.O_WRONLY)
    os.dup2(nowhere, 1)
    status = 0
    for path in ("/etc/sysctl.conf", "/etc/sysctl.conf.local"):
        if os.path.exists(path):
            status = sysctl.main([*options, path], state, jail)
    os.dup2(saved, 1)
    return status


def su(arguments: list[str], state: str, jail: str | None) -> int:
    """``su [-m] USER -c COMMAND`` for root; this file is not setuid, so for nobody else."""
    import pwd

    if os.geteuid() != 0:
        sys.stderr.write("su: not running setuid\n")
        return 1
    command = arguments.index("-c")
    user = pwd.getpwnam(next((w for w in arguments[:command] if not w.startswith("-")), "root"))
    os.initgroups(user.pw_name, user.pw_gid)
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)
    sys.stdout.flush()
    return os.execv("/bin/sh", ["sh", "-c", arguments[command + 1]])


def jail(arguments: list[str], state: str, inside: str | None) -> int:
    """``jail -c name=j ... command=PROGRAM ...``: runs it in a jail; a vnet jail has values of its own."""
    import shutil

    at = next(index for index, word in enumerate(arguments) if word.startswith("command="))
    kind = "vnet" if "vnet" in arguments[:at] else "jail"
    if kind == "vnet":
        shutil.copytree(state, f"{state}.vnet", dirs_exist_ok=True)
        shutil.copyfile(f"{state}/stock", f"{state}.vnet/values")
        os.environ["EMULATED_STATE"] = f"{state}.vnet"
    os.environ["EMULATED_JAIL"] = kind
    program = [arguments[at].removeprefix("command="), *arguments[at + 1 :]]
    return os.execv(program[0], program)


def nc(arguments: list[str], state: str, jail: str | None) -> int:
    """``-z 127.0.0.1 22``: whether a TCP socket can be made at all."""
    with Kernel(state, jail=jail) as kernel:
        if not kernel.accepts_connections():
            return 1
    address, port = arguments[-2:]
    sys.stderr.write(f"Connection to {address} {port} port [tcp/ssh] succeeded!\n")
    return 0


def daemon(arguments: list[str], state: str, jail: str | None) -> int:
    """``daemon [-cf] COMMAND``: a session of its own, ``-f`` with nothing open."""
    rest = list(arguments)
    letters = ""
    while rest and rest[0].startswith("-"):
        letters += rest.pop(0)[1:]
    if os.fork():
        return 0
    os.setsid()
    if os.fork():
        os._exit(0)
    if "c" in letters:
        os.chdir("/")
    if "f" in letters:
        nowhere = os.open("/dev/null", os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)
    return os.execvp(rest[0], rest)


def ps(arguments: list[str], state: str, jail: str | None) -> int:
    """``-o command= -p PID``, ``-axo pid,command``, from the /proc that the host does not see."""
    wanted = arguments[arguments.index("-p") + 1].split(",") if "-p" in arguments else os.listdir("/emu/proc")
    status = 1
    for pid in sorted((word for word in wanted if word.isdigit()), key=int):
        try:
            with open(f"/emu/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
                command = " ".join(file.read().rstrip("\0").split("\0"))
        except OSError:
            continue
        status = 0
        sys.stdout.write(f"{command}\n" if "-p" in arguments else f"{pid:>5} {command}\n")
    return status


def wc(arguments: list[str], state: str, jail: str | None) -> int:
    """``-c`` and ``-l`` with BSD's blanks in front."""
    names = [word for word in arguments if not word.startswith("-")]
    data = b""
    for name in names:
        with open(name, "rb") as file:
            data += file.read()
    data = data if names else sys.stdin.buffer.read()
    number = len(data) if "-c" in arguments else data.count(b"\n")
    sys.stdout.write(f"{number:>8}{''.join(f' {name}' for name in names)}\n")
    return 0


def which(arguments: list[str], state: str, jail: str | None) -> int:
    """The first of each in PATH."""
    import shutil

    status = 0
    for name in arguments:
        path = shutil.which(name)
        status |= path is None
        sys.stdout.write(f"{path}\n" if path else "")
    return status


def logger(arguments: list[str], state: str, jail: str | None) -> int:
    """Into /var/log/messages, where syslogd would put it."""
    with open("/var/log/messages", "a", encoding="utf-8") as file:
        file.write(" ".join(arguments) + "\n")
    return 0


PROGRAMS: dict[str, Callable[[list[str], str, str | None], int]] = {
    function.__name__: function
    for function in (
        *(kldload, kldunload, kldstat, uname, ifconfig, route, service),
        *(su, jail, nc, daemon, ps, wc, which, logger),
    )
}
