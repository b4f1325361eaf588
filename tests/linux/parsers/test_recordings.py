"""Recorded sets: what each sysctl printed, and that a refused value never becomes a reading."""

from __future__ import annotations

import json

import pytest

from tests.linux.parsers.samples import FOLDER, parsed

FILES = sorted(path.name for path in FOLDER.glob("sysctl-w-*.json"))


def _runs() -> list[tuple[str, dict[str, str]]]:
    return [(file, run) for file in FILES for run in json.loads((FOLDER / file).read_text("utf-8"))]


def test_there_are_recordings_of_both_tools() -> None:
    assert {name.split("__")[0] for name in FILES} == {"sysctl-w-busybox", "sysctl-w-procps"}


@pytest.mark.parametrize(("file", "run"), _runs(), ids=lambda v: v if isinstance(v, str) else v["name"])
def test_a_line_of_stderr_is_an_error_and_never_a_value(file: str, run: dict[str, str]) -> None:
    got = parsed("sysctl-set", run["stderr"])
    assert not got.values
    assert not got.unrecognized
    errors = got.extra.get("errors")
    assert isinstance(errors, list)
    assert len(errors) == len(run["stderr"].splitlines())
    assert all(isinstance(error, dict) and error["kind"] != "other" for error in errors)


# What the kernel refused, by the key's name where the tool gives it: (tool, run) -> (key, kind).
REFUSED = {
    ("procps", "cc"): ("net.ipv4.tcp_congestion_control", "not_found"),
    ("procps", "qdisc"): ("net.core.default_qdisc", "not_found"),
    ("procps", "invalid"): ("net.ipv4.tcp_rmem", "invalid"),
    ("procps", "okq"): ("net.ipv4.tcp_rmem", "invalid"),
    ("procps", "perm"): ("net.core.rmem_max", "denied"),
    ("procps", "unknown"): ("net.ipv4.tcp_tw_recycle", "unknown"),
    ("procps", "noeq"): (None, "syntax"),
    ("busybox", "cc"): (None, "not_found"),
    ("busybox", "qdisc"): (None, "not_found"),
    ("busybox", "invalid"): (None, "invalid"),
    ("busybox", "rofs"): ("net.core.rmem_max", "read_only"),
    ("busybox", "unknown"): ("net.ipv4.tcp_tw_recycle", "unknown"),
    ("busybox", "noeq"): ("net.core.rmem_max", "syntax"),
}


@pytest.mark.parametrize(("file", "run"), _runs(), ids=lambda v: v if isinstance(v, str) else v["name"])
def test_kinds_of_refusal(file: str, run: dict[str, str]) -> None:
    tool = "procps" if "procps" in file else "busybox"
    wanted = REFUSED.get((tool, run["name"]))
    if wanted is None:
        return
    errors = parsed("sysctl-set", run["stderr"]).extra["errors"]
    assert isinstance(errors, list)
    assert [(e["name"], e["kind"]) for e in errors if isinstance(e, dict)] == [wanted]


@pytest.mark.parametrize("file", FILES)
def test_several_keys_in_one_call(file: str) -> None:
    """``sysctl -w net.core.somaxconn=1024 net.ipv4.nosuch=1 net.ipv4.tcp_sack=1``: two of three."""
    run = next(r for f, r in _runs() if f == file and r["name"] == "multi")
    got = parsed("sysctl-set", run["stderr"] + run["stdout"])
    assert got.values == {"net.core.somaxconn": 1024, "net.ipv4.tcp_sack": 1}
    assert got.extra["unknown"] == ["net.ipv4.nosuch"]


@pytest.mark.parametrize("file", FILES)
def test_several_keys_read_in_one_call(file: str) -> None:
    run = next(r for f, r in _runs() if f == file and r["name"] in ("sysctl-many", "bb-sysctl-many"))
    got = parsed("sysctl", run["stdout"] + run["stderr"])
    assert got.values.keys() == {
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_wmem",
        "net.core.rmem_max",
        "net.ipv4.tcp_low_latency",
        "net.core.default_qdisc",
    }
    assert got.extra["unknown"] == ["net.ipv4.tcp_tw_recycle"]
