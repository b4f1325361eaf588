"""The boot resolver against the real loaders of this machine, on trees that nobody thought of.

Each run has a network and a mount namespace of its own: the loaders read the test's files in their
own directories and write sysctls of a network namespace that ends with them.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hostcfg.platforms.linux.accepts import same_value
from hostcfg.platforms.linux.boot import BootLoader, ConfFile, resolve
from hostcfg.platforms.linux.host import version_of

pytestmark = pytest.mark.root

SYSTEMD = "/usr/lib/systemd/systemd-sysctl"
KEYS = (  # of each network namespace; the kernel changes none of them along with another
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_retries2",
    "net.ipv4.tcp_syn_retries",
    "net.ipv4.tcp_synack_retries",
    "net.core.somaxconn",
)
PATHS = [
    f"{directory}/sysctl.d/{name}"
    for directory in ("/etc", "/run", "/usr/local/lib", "/usr/lib")
    for name in ("10-a.conf", "50-b.conf", "9-c.conf", ".h.conf", "Z.conf", "no.cnf")
]


def start_script(root: Path, loader: str) -> str:
    """Puts the tree in place and prints what the loader left in /proc/sys."""
    files = " ".join("/proc/sys/" + key.replace(".", "/") for key in KEYS)
    return (
        "set -e\nmount -t tmpfs tmpfs /run\nmkdir /run/sysctl.d\n"
        f"cp -a {root}/run/sysctl.d/. /run/sysctl.d/\n"
        f"mount --bind {root}/usr/lib/sysctl.d /usr/lib/sysctl.d\n"
        f"mount --bind {root}/usr/local/lib /usr/local/lib\n"
        f"mount --bind {root}/etc/sysctl.d /etc/sysctl.d\n"
        f"mount --bind {root}/etc/sysctl.conf /etc/sysctl.conf\n"
        f"set +e\n{loader} >/dev/null 2>&1\ngrep -H '' {files}\n"
    )


def after_loading(root: Path, loader: str) -> dict[str, str]:
    done = subprocess.run(
        ["unshare", "--net", "--mount", "sh", "-c", start_script(root, loader)],
        capture_output=True,
        text=True,
        timeout=30,
    )
    rows = re.findall(r"^/proc/sys/([^:]+):(.*)$", done.stdout, re.MULTILINE)
    assert len(rows) == len(KEYS), done.stderr
    return {path.replace("/", "."): raw for path, raw in rows}


def build(root: Path, tree: dict[str, str | None], conf: str) -> list[ConfFile]:
    """The files on disk, and as the probe reports them; None is a link to /dev/null."""
    if root.exists():
        shutil.rmtree(root)
    for directory in ("etc/sysctl.d", "run/sysctl.d", "usr/lib/sysctl.d", "usr/local/lib/sysctl.d"):
        (root / directory).mkdir(parents=True)
    (root / "etc/sysctl.conf").write_text(conf)
    files = [ConfFile("/etc/sysctl.conf", conf)]
    for path, text in tree.items():
        target = root / path.lstrip("/")
        if text is None:
            target.symlink_to("/dev/null")
        else:
            target.write_text(text)
        files.append(ConfFile(path, text or "", link=None if text is not None else "/dev/null"))
    return files


def here(name: str) -> BootLoader | None:
    if name == "systemd":
        if not Path(SYSTEMD).exists():
            return None
        said = subprocess.run([SYSTEMD, "--version"], capture_output=True, text=True).stdout
        return BootLoader("systemd-sysctl", version_of(said))
    if name == "procps":
        said = subprocess.run(["sysctl", "--version"], capture_output=True, text=True).stdout
        return BootLoader("procps", version_of(said)) if "procps" in said else None
    return BootLoader("busybox", (1, 35, 0)) if shutil.which("busybox") else None


COMMANDS = {"systemd": SYSTEMD, "procps": "sysctl --system", "busybox": "busybox sysctl -p"}

values = st.sampled_from(["1", "2", "0x3", "04", "5 # five", " 6 ", '"7"', "eight", "", "99999999999", "1 2"])
names = st.sampled_from(
    [*KEYS, "net/ipv4/tcp_retries2", "net..ipv4.tcp_retries2", "net.ipv4.nosuch", "net.ipv4.tcp_syn*_retries"]
)
lines = st.one_of(
    st.builds(
        "{}{}{}{}".format,
        st.sampled_from(["", "-", "  ", "\t", "# ", ";"]),
        names,
        st.sampled_from(["=", " = ", "\t=", " == "]),
        values,
    ),
    st.builds("-{}".format, names),
    st.sampled_from(["", "nonsense", "=1", "net.ipv4.tcp_retries2 12", "[x]"]),
)
texts = st.builds(
    "{}{}".format, st.lists(lines, max_size=5).map("\n".join), st.sampled_from(["", "\n", "\r\n"])
)
trees = st.dictionaries(st.sampled_from(PATHS), st.one_of(st.none(), texts), max_size=6)


@pytest.mark.parametrize("name", COMMANDS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tree=trees, conf=texts)
@example(tree={PATHS[0]: "net.ipv4.tcp_syn*_retries=1\n-net.ipv4.tcp_syn*_retries"}, conf="")
@example(
    tree={PATHS[0]: "net.ipv4.tcp_syn*_retries=1\nnet.ipv4.tcp_*_retries=2\nnet.ipv4.tcp_syn*_retries=1\n"},
    conf="",
)
def test_as_the_real_loader(
    name: str, tmp_path: Path, untouched: dict[str, str], tree: dict[str, str | None], conf: str
) -> None:
    loader = here(name)
    if loader is None:
        pytest.skip(f"{name} is not installed")
    root = tmp_path / "root"
    boot = resolve(build(root, tree, conf), loader, KEYS)
    real = after_loading(root, COMMANDS[name])
    for key in KEYS:
        ours = boot.values[key].raw if key in boot.values else untouched[key]
        assert same_value(key, ours, real[key]), f"{key}: {ours!r} but {real[key]!r}"


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a network namespace starts with."""
    root = tmp_path_factory.mktemp("untouched") / "root"
    build(root, {}, "")
    return after_loading(root, "true")
