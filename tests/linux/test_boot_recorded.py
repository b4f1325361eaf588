"""The boot resolver against what the real loaders did: every recorded experiment is replayed.

``precedence-*``: one tree of files given to each loader.  ``conf-probe-*``: one odd file each.
The truth is the recorded output, never our own reading of the rules.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hostcfg.platforms.linux.boot import BootLoader, ConfFile, resolve
from hostcfg.platforms.linux.conf import assignments, path_to_key

FIXTURES = Path(__file__).parents[1] / "fixtures" / "linux"

# The versions that the recordings name, by machine.
VERSIONS = {
    "debian11-5.10": {"procps": (3, 3, 17), "busybox": (1, 30, 1), "systemd": (247, 3)},
    "debian12-6.1": {"procps": (4, 0, 2), "busybox": (1, 35, 0), "systemd": (252, 39)},
    "debian-sid-7.2": {"procps": (4, 0, 7), "busybox": (1, 38, 0), "systemd": (262, 1)},
}
# Keys that the files name and the machine had, beside those of the experiment itself.
INTERFACES = ("all", "default", "eth0", "eth0/100", "lo")
EXISTING = (
    *(f"net.ipv4.conf.{name}.rp_filter" for name in INTERFACES),
    *("net.core.rmem_max", "net.core.wmem_max", "net.core.somaxconn", "net.core.default_qdisc"),
    *("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.tcp_sack", "net.ipv4.tcp_congestion_control"),
)


def recorded(pattern: str) -> list[Path]:
    found = sorted(FIXTURES.glob(pattern))
    assert found, f"no fixture matches {pattern}"
    return found


def loader_of(path: Path) -> BootLoader:
    experiment, machine, _ = path.stem.split("__")
    program = "busybox" if "bb-p" in experiment or "busybox" in experiment else ""
    program = program or ("systemd" if "systemd" in experiment else "procps")
    version = VERSIONS[machine][program]
    if program == "systemd":
        return BootLoader("systemd-sysctl", version)
    return BootLoader("procps", version) if program == "procps" else BootLoader("busybox", version)


def full_key(short: str) -> str:
    return f"net.core.{short}" if short == "somaxconn" else f"net.ipv4.{short}"


def tree_files(tree: dict[str, str]) -> list[ConfFile]:
    files = []
    for path, content in tree.items():
        if content.startswith("-> "):
            files.append(ConfFile(path, "", link=content[3:]))
        elif content == "(empty)":
            files.append(ConfFile(path, ""))
        else:
            short, value = content.split("=")
            files.append(ConfFile(path, f"{full_key(short)} = {value}\n"))
    return files


@pytest.mark.parametrize("path", recorded("precedence-*.json"), ids=lambda p: p.stem)
def test_precedence(path: Path) -> None:
    record = json.loads(path.read_text())
    files = tree_files(record["tree"])
    if "99-sysctl.conf" in record["cmd"]:
        text = next(f.text for f in files if f.path == "/etc/sysctl.conf")
        files.append(ConfFile("/etc/sysctl.d/99-sysctl.conf", text, link="../sysctl.conf"))
    boot = resolve(files, loader_of(path))
    # The loader's own words say what it wrote; what it did not write kept the kernel's default.
    wrote = written_keys(record["output"])
    expected = {
        full_key(short): value for short, value in record["values_after"].items() if full_key(short) in wrote
    }
    assert {key: value.raw for key, value in boot.values.items()} == expected


@pytest.mark.parametrize("path", recorded("precedence-*.json"), ids=lambda p: p.stem)
def test_files_in_the_recorded_order(path: Path) -> None:
    """procps and systemd name each file that they open."""
    record = json.loads(path.read_text())
    opened = re.findall(r'(?:Applying |Parsing |Reading config file ")(/[^\s"]+)', record["output"])
    files = tree_files(record["tree"])
    if "99-sysctl.conf" in record["cmd"]:
        files.append(ConfFile("/etc/sysctl.d/99-sysctl.conf", "", link="../sysctl.conf"))
    loader = loader_of(path)
    if loader.name == "busybox":
        assert opened == []
        return
    from hostcfg.platforms.linux.boot import files_in_order

    assert [f.path for f in files_in_order(files, loader)] == opened


def written_keys(output: str) -> set[str]:
    dotted = re.findall(r"^(net\S+) = ", output, re.MULTILINE)
    slashed = re.findall(r"^Setting '(?:/proc/sys/)?(net/\S+)' to", output, re.MULTILINE)
    return {*dotted, *map(path_to_key, slashed)}


def probes() -> list[Any]:
    return [
        pytest.param(path, item, id=f"{path.stem.removeprefix('conf-probe-')}-{item['conf']}")
        for path in recorded("conf-probe-*.json")
        for item in json.loads(path.read_text())
    ]


def truth(item: dict[str, Any], loader: BootLoader) -> dict[str, str]:
    """Key -> text of the last write that the kernel took, from the loader's output."""
    if loader.name != "systemd-sysctl":
        rows = re.findall(r"^(\S+) = (.*)$", item["stdout"], re.MULTILINE)
        # procps prints "net..core" and ".net.core" as they stand in the file, busybox 1.30 "eth0.100"
        keys = (re.sub(r"\.{2,}", ".", key).strip(".").replace("eth0.100", "eth0/100") for key, _ in rows)
        return dict(zip(keys, (raw.strip() for _, raw in rows), strict=True))
    failed = set(re.findall(r"^Couldn't write '.*' to '([^']*)'", item["stderr"], re.MULTILINE))
    rows = re.findall(r"^Setting '(?:/proc/sys/)?([^']*)' to '(.*?)'\.?$", item["stderr"], re.MULTILINE)
    return {path_to_key(path): raw for path, raw in rows if path not in failed}


@pytest.mark.parametrize(("path", "item"), probes())
def test_odd_file(path: Path, item: dict[str, Any]) -> None:
    loader = loader_of(path)
    text = item["input"].encode("latin-1").decode("utf-8")
    boot = resolve(
        [ConfFile("/etc/sysctl.d/odd.conf", text), ConfFile("/etc/sysctl.conf", "")], loader, EXISTING
    )
    if loader.name == "busybox":
        boot = resolve([ConfFile("/etc/sysctl.conf", text)], loader, EXISTING)
    # A key that no kernel has is an assignment all the same; the loader's complaint shows up there.
    ours = {key: value.raw for key, value in boot.values.items() if key in EXISTING}
    assert ours == truth(item, loader)


@pytest.mark.parametrize(("path", "item"), probes())
def test_lines_not_understood(path: Path, item: dict[str, Any]) -> None:
    """A complaint about a line (its number stands in the output) is one of ours too."""
    loader = loader_of(path)
    text = item["input"].encode("latin-1").decode("utf-8")
    conf = assignments(text, loader.name, loader.version)
    said = item["stderr"]
    numbers = {int(n) for n in re.findall(r"\((\d+)\): invalid syntax", said)}
    numbers |= {int(n) for n in re.findall(r":(\d+): Line is not an assignment", said)}
    numbers |= {int(n) for n in re.findall(r"bad line (\d+): 1 tokens", said)}
    assert numbers <= {number for number, _ in conf.not_understood}
