"""``path`` through the program: field cases with mixed systems, the document, the mail, bad input."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.program import hostcfg

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
WINDOWS_7 = FIXTURES / "windows" / "tcp_show_global__win7__en__01.txt"  # level normal
FILE_SERVER = FIXTURES / "docs" / "fileserver.txt"

LINUX = {
    "kernel.osrelease": "6.1.0",
    "net.core.rmem_max": "212992",
    "net.core.wmem_max": "212992",
    "net.ipv4.tcp_rmem": "4096 131072 6291456",
    "net.ipv4.tcp_wmem": "4096 16384 4194304",
    "net.ipv4.tcp_window_scaling": "1",
    "net.ipv4.tcp_timestamps": "1",
    "net.ipv4.tcp_moderate_rcvbuf": "1",
    "net.ipv4.tcp_adv_win_scale": "1",
    "net.ipv4.tcp_congestion_control": "cubic",
}
FREEBSD = {
    "kern.osrelease": "14.2-RELEASE",
    "kern.ipc.maxsockbuf": "2097152",
    "net.inet.tcp.sendbuf_max": "2097152",
    "net.inet.tcp.recvbuf_max": "2097152",
    "net.inet.tcp.sendspace": "32768",
    "net.inet.tcp.recvspace": "65536",
    "net.inet.tcp.sendbuf_auto": "1",
    "net.inet.tcp.recvbuf_auto": "1",
    "net.inet.tcp.rfc1323": "1",
}


@pytest.fixture
def linux(tmp_path: Path) -> Callable[..., str]:
    """A Linux host's mail: keys by the last part of their name."""

    def mail(name: str, **keys: str) -> str:
        values = dict(LINUX)
        for key, value in keys.items():
            (whole,) = [known for known in LINUX if known.rpartition(".")[2] == key]
            values[whole] = value
        return _mail(tmp_path, name, values, " = ")

    return mail


@pytest.fixture
def freebsd(tmp_path: Path) -> Callable[..., str]:
    """A FreeBSD host's mail."""

    def mail(name: str, **keys: str) -> str:
        values = FREEBSD | {f"net.inet.tcp.{key}": value for key, value in keys.items()}
        return _mail(tmp_path, name, values, ": ")

    return mail


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[Path, str], str]:
    """A recorded output under a host's name."""

    def mail(recorded: Path, name: str) -> str:
        return f"file:{shutil.copy(recorded, tmp_path / f'{name}.txt')}"

    return mail


def _mail(folder: Path, name: str, values: dict[str, str], separator: str) -> str:
    path = folder / f"{name}.txt"
    path.write_text("".join(f"{key}{separator}{value}\n" for key, value in values.items()))
    return f"file:{path}"


def document(a: str, b: str, rate: str, rtt: str, *more: str | Path, code: int) -> Any:
    ran = hostcfg("path", a, b, "--rate", rate, "--rtt", rtt, *more, "-o", "json")
    assert (ran.code, ran.stderr) == (code, ""), ran
    return ran.document


# Field cases


def test_1_another_continent(linux: Callable[..., str], copied: Callable[[Path, str], str]) -> None:
    """Linux, whose wmem_max of 163,840 is doubled, to Windows 7: 320 KiB of buffer and no more."""
    hungary = linux("hungary", rmem_max="163840", wmem_max="163840")
    singapore = copied(WINDOWS_7, "singapore")
    found = document(hungary, singapore, "20mbit", "516ms", "--window", "512K", code=1)
    assert found["link"]["bdp_bytes"] == 1_290_000
    there = found["directions"][0]
    assert (there["from"], there["to"]) == (hungary, singapore)
    limit = there["limited_by"]
    assert (limit["kind"], limit["host"], limit["setting"]) == (
        "explicit_window",
        hungary,
        "send_explicit_max",
    )
    assert (limit["key"], limit["value"]) == ("net.core.wmem_max", 163840)
    assert there["low_bps"] <= 512 * 1024 * 8 <= there["high_bps"]  # what was seen with the size asked for
    (need,) = [n for n in there["needs"] if n["key"] == "net.core.wmem_max"]
    assert (need["host"], need["current"]) == (hungary, 163840)
    assert need["target"] * 2 >= 1_290_000

    triple = "10240 87380 12582912"
    mended = linux("after", rmem_max="12582912", wmem_max="12582912", tcp_rmem=triple, tcp_wmem=triple)
    after = document(mended, singapore, "20mbit", "516ms", code=0)["directions"][0]
    assert after["limited_by"]["kind"] == "link_rate"
    assert after["window_bytes"] > 637 * 1024  # 1235 KiB/s x 0.516 s
    assert after["predicted_bps"] == pytest.approx(20e6 * 1460 / 1514, rel=1e-6)  # no timestamps on Windows 7


def test_2_the_far_end_was_capped(linux: Callable[..., str], freebsd: Callable[..., str]) -> None:
    """FreeBSD in London, Linux with 64 KiB in Bristol: the window is a fault, the path's limit is lower."""
    london, bristol = freebsd("london"), linux("bristol", rmem_max="65536", wmem_max="65536")
    found = document(london, bristol, "22mbit", "12ms", "--window", "1024K", code=0)
    there = found["directions"][0]
    assert there["limited_by"]["kind"] == "link_rate"
    assert there["predicted_bps"] == pytest.approx(21e6, rel=0.01)
    window = there["limits"][1]
    assert (window["kind"], window["host"], window["key"]) == (
        "explicit_window",
        bristol,
        "net.core.rmem_max",
    )
    assert window["predicted_bps"] == pytest.approx(43.7e6, rel=0.03)  # 65,536 x 8 / 12 ms
    assert [(n["host"], n["key"], n["target"]) for n in there["needs"]] == [
        (bristol, "net.core.rmem_max", 1_048_576)
    ]
    text = hostcfg("path", london, bristol, "--rate", "22mbit", "--rtt", "12ms", "--window", "1M").stdout
    assert "on bristol set net.core.rmem_max to at least 1,048,576" in " ".join(text.split())


def test_3_one_small_end(linux: Callable[..., str], freebsd: Callable[..., str]) -> None:
    big = linux("slac", tcp_rmem="4096 131072 67108864", tcp_wmem="4096 16384 67108864")
    kek = freebsd("kek", recvbuf_max="131072", sendbuf_max="131072")
    there, back = document(big, kek, "200mbit", "283ms", code=1)["directions"]
    for direction, kind, key in (
        (there, "receive_window", "net.inet.tcp.recvbuf_max"),
        (back, "send_buffer", "net.inet.tcp.sendbuf_max"),
    ):
        assert direction["predicted_bps"] == pytest.approx(3.7e6, rel=0.01)
        limit = direction["limited_by"]
        assert (limit["kind"], limit["host"], limit["key"]) == (kind, kek, key)

    slac, ornl = (linux(name, rmem_max="16777216", wmem_max="16777216") for name in ("slac8", "ornl8"))
    found = document(slac, ornl, "200mbit", "80ms", "--window", "8M", code=0)
    assert found["link"]["bdp_bytes"] == 2_000_000
    for direction in found["directions"]:
        assert (direction["limited_by"]["kind"], direction["needs"]) == ("link_rate", [])
        assert direction["predicted_bps"] == pytest.approx(201e6, rel=0.06)


def test_5_one_slow_transfer_starves_the_others(
    linux: Callable[..., str], copied: Callable[[Path, str], str]
) -> None:
    found = document(copied(FILE_SERVER, "files"), linux("slow"), "10mbit", "1ms", code=0)
    messages = [f["message"] for f in found["findings"] if f["host"] == found["directions"][0]["from"]]
    kinds = {f["kind"] for f in found["findings"]}
    assert "standing_queue" in kinds
    assert any("191 ms of queue" in message for message in messages)  # 229,376 x 1514/1448 bytes at 10 Mbit/s
    assert any("1106 mbufs, 2171 clusters, 531 mbuf+clusters" in message for message in messages)
    assert any("361 page-size, 1345 9k" in message for message in messages)


def test_6_carrier_ethernet(copied: Callable[[Path, str], str], linux: Callable[..., str]) -> None:
    pc, far = copied(WINDOWS_7, "pc"), linux("far")
    found = document(pc, far, "50mbit", "30ms", "--window", "190000", code=0)
    assert found["link"]["bdp_bytes"] == 187_500
    assert found["directions"][0]["limited_by"]["kind"] == "link_rate"
    assert "autotuning_off" in {f["kind"] for f in found["findings"]}
    for streams, seen_bps in ((8, 45.0e6), (12, 47.1e6)):
        many = document(pc, far, "50mbit", "30ms", "--streams", str(streams), code=0)["directions"][0]
        assert many["predicted_bps"] == pytest.approx(seen_bps, rel=0.08)


def test_6_a_pc_without_autotuning(tmp_path: Path, linux: Callable[..., str]) -> None:
    off = tmp_path / "off.txt"
    off.write_text(WINDOWS_7.read_text().replace(": normal", ": disabled"))
    found = document(linux("near"), f"file:{off}", "50mbit", "30ms", "--streams", "2", code=1)
    there = found["directions"][0]
    assert there["limited_by"]["key"] == "global.autotuninglevel"
    # 44 segments of 1460 bytes in 65,535: 2 x 44 x 1460 x 8 / 30 ms
    assert there["predicted_bps"] == pytest.approx(34.26e6, rel=0.001)
    assert "autotuninglevel=highlyrestricted" in there["needs"][0]["command"]


# The document and the two forms for people


def test_the_document_has_the_fields_of_the_contract(linux: Callable[..., str]) -> None:
    a, b = linux("a"), linux("b", tcp_rmem="4096 131072 262144")
    found = document(a, b, "200mbit", "80ms", code=1)
    assert found["schema"] == "hostcfg.path/1"
    assert found["link"].items() >= {"rate_bps": 200_000_000, "rtt_s": 0.08, "bdp_bytes": 2_000_000}.items()
    there, back = found["directions"]
    assert (there["from"], there["to"], back["from"], back["to"]) == (a, b, b, a)
    assert there["window_bytes"] == 131_072
    assert there["predicted_bps"] == 90 * 1448 * 8 / 0.08  # 90 whole segments
    assert there["limited_by"].items() >= {
        "kind": "receive_window", "host": b, "setting": "recv_buffer_max", "key": "net.ipv4.tcp_rmem",
        "value": 262144,
    }.items()  # fmt: skip
    (need,) = there["needs"]
    assert need.items() >= {
        "host": b, "setting": "recv_buffer_max", "key": "net.ipv4.tcp_rmem", "current": 262144,
        "target": 5_000_000,
    }.items()  # fmt: skip


def test_the_table_fits_a_terminal_and_names_hosts_as_people_do(linux: Callable[..., str]) -> None:
    a, b = linux("lon-1"), linux("bri-1", tcp_rmem="4096 131072 262144")
    text = hostcfg("path", a, b, "--rate", "200mbit", "--rtt", "80ms", COLUMNS="80").stdout
    commands = ("sysctl ", "iperf")
    assert [line for line in text.splitlines() if len(line) > 80 and not line.startswith(commands)] == []
    assert "file:" not in text
    lines = text.splitlines()
    assert lines[0] == "lon-1 <-> bri-1  200 Mbit/s x 80 ms, BDP 2,000,000 bytes"
    assert "  recv_buffer_max     6291456  262144 <--" in lines
    assert "lon-1 -> bri-1  13 Mbit/s, 6.81% of what the link carries" in lines
    assert "sysctl -w 'net.ipv4.tcp_rmem=4096 131072 5000000'   # on bri-1" in lines
    assert "iperf3 -c bri-1 -t 21 -O 5 -P 16" in lines  # 2,000,000 / 131,072
    assert "iperf3 -c bri-1 -t 21 -O 5 -R" in lines


def test_two_files_of_one_name_keep_their_paths(linux: Callable[..., str], tmp_path: Path) -> None:
    a = linux("host")
    (tmp_path / "far").mkdir()
    b = f"file:{shutil.copy(a.removeprefix('file:'), tmp_path / 'far' / 'host.txt')}"
    text = hostcfg("path", a, b, "--rate", "10mbit", "--rtt", "80ms").stdout
    assert "host <-> host" not in text
    assert "iperf3 -c host " in text


def test_the_mail_is_markdown_with_the_commands_to_run(linux: Callable[..., str]) -> None:
    a, b = linux("lon-1"), linux("bri-1", tcp_rmem="4096 131072 262144")
    ran = hostcfg("path", a, b, "--rate", "200mbit", "--rtt", "80ms", "-o", "markdown")
    lines = ran.stdout.splitlines()
    assert ran.code == 1
    assert lines[0] == "### lon-1 \\<-\\> bri-1 (200 Mbit/s x 80 ms, BDP 2,000,000 bytes)"
    assert "| Setting | lon-1 | bri-1 |" in lines
    assert "| recv\\_buffer\\_max | 6291456 | 262144 \\<-- |" in lines
    start = lines.index("```sh")
    assert lines[start + 1] == "sysctl -w 'net.ipv4.tcp_rmem=4096 131072 5000000'   # on bri-1"
    assert lines[start + 2] == "```"
    assert any(
        "bri-1's net.ipv4.tcp\\_rmem\\[2\\] = 262,144 leaves one stream a window of 131,072" in x
        for x in lines
    )


# Exit codes, an inventory's paths, results beside the prediction


def test_a_missing_scale_option_is_a_limit_of_its_own(linux: Callable[..., str]) -> None:
    there = document(linux("a"), linux("b", tcp_window_scaling="0"), "100mbit", "80ms", code=1)["directions"][
        0
    ]
    limit = there["limited_by"]
    assert (limit["kind"], limit["setting"], limit["value"]) == ("window_scaling", "window_scaling", False)
    assert there["predicted_bps"] == 45 * 1448 * 8 / 0.08  # 65,535 bytes hold 45 segments


def test_the_status_is_about_what_limits_now(linux: Callable[..., str]) -> None:
    """A window of 31,320 bytes is 20.3 of 95.6 Mbit/s: ten streams fill the link, one would not."""
    lon, bri = linux("lon"), linux("bri", tcp_rmem="4096 65536 65536")
    assert document(lon, bri, "100mbit", "12ms", code=1)["directions"][0]["limited_by"]["host"] == bri
    for direction in document(lon, bri, "100mbit", "12ms", "--streams", "10", code=0)["directions"]:
        assert direction["limited_by"]["kind"] == "link_rate"
    # 1% of loss leaves 14 Mbit/s at most, and the window would be next
    found = document(lon, bri, "100mbit", "12ms", "--loss", "1%", code=1)
    assert found["directions"][0]["limited_by"]["kind"] == "loss"
    assert found["directions"][0]["needs"]


def test_loss_is_no_settings_fault(linux: Callable[..., str]) -> None:
    found = document(linux("a"), linux("b"), "100mbit", "80ms", "--loss", "0.1%", code=0)
    assert found["directions"][0]["limited_by"]["kind"] == "loss"


RESULT = """\
Connecting to host bri-1, port 5201
[  5] local 192.0.2.1 port 40000 connected to 192.0.2.2 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-10.00  sec  15.6 MBytes  13.1 Mbits/sec    0    160 KBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec  15.6 MBytes  13.1 Mbits/sec    0             sender
[  5]   0.00-10.08  sec  15.4 MBytes  12.8 Mbits/sec                  receiver
"""


def test_a_result_stands_beside_the_prediction(linux: Callable[..., str], tmp_path: Path) -> None:
    a, b = linux("lon-1"), linux("bri-1", tcp_rmem="4096 131072 262144")
    result = tmp_path / "result.txt"
    result.write_text(RESULT)
    (measured,) = document(a, b, "200mbit", "80ms", "--iperf3", result, code=1)["measured"]
    assert (measured["measured_bps"], measured["predicted_bps"]) == (12.8e6, 13_032_000)
    assert measured["verdict"] == "as_predicted"
    text = hostcfg("path", a, b, "--rate", "200mbit", "--rtt", "80ms", "--iperf3", result).stdout
    assert "Measured 12.8 Mbit/s of the 13 Mbit/s that bri-1's" in " ".join(text.split())


@pytest.fixture
def inventory(tmp_path: Path, linux: Callable[..., str]) -> Path:
    linux("lon-1")
    linux("sin-1", tcp_rmem="4096 131072 262144")
    path = tmp_path / "hosts.yaml"
    path.write_text(
        "hosts:\n"
        "  lon-1: {address: 'file:lon-1.txt', rate: 1gbit}\n"
        "  sin-1: {address: 'file:sin-1.txt', rate: 200mbit, path_address: 203.0.113.8}\n"
        "paths:\n"
        "  - {from: lon-1, to: sin-1, rtt: 170ms}\n"
        "  - {from: lon-1, to: lon-1, rtt: 1ms}\n"
        "  - {from: sin-1, to: lon-1, rate: 10mbit, rtt: 1ms}\n"
    )
    return path


def test_all_paths_of_an_inventory(inventory: Path) -> None:
    ran = hostcfg("path", "--all", "-i", inventory, "-o", "json")
    assert ran.code == 2  # the path from lon-1 to itself
    assert ran.stderr.splitlines() == ["hostcfg: both ends are lon-1: a path has two"]
    first, second = ran.document["paths"]
    assert first["link"]["rate_bps"] == 200_000_000  # the slower of the two hosts' rates
    assert first["directions"][0]["limited_by"]["host"] == "sin-1"
    assert second["link"]["rate_bps"] == 10_000_000
    summary = hostcfg("path", "--all", "-i", inventory).stdout.splitlines()
    assert summary[1].split()[:3] == ["lon-1", "->", "sin-1"]  # the worst first


def test_the_paths_own_address_stands_in_the_commands(inventory: Path) -> None:
    ran = hostcfg("path", "lon-1", "sin-1", "--rtt", "170ms", "-i", inventory, "-o", "json")
    assert ran.document["link"]["rate_bps"] == 200_000_000
    assert ran.document["directions"][0]["test"]["commands"][0].startswith("iperf3 -c 203.0.113.8 ")
    given = ("--address", "sin-1=2001:db8::8")
    ran = hostcfg("path", "lon-1", "sin-1", "--rtt", "170ms", "-i", inventory, *given, "-o", "json")
    assert ran.document["directions"][1]["test"]["commands"][0].startswith("iperf3 -c 2001:db8::8 ")


def test_two_hosts_have_the_rate_and_rtt_of_their_listed_path(inventory: Path) -> None:
    there = hostcfg("path", "lon-1", "sin-1", "-i", inventory, "-o", "json").document["link"]
    assert (there["rate_bps"], there["rtt_s"]) == (200_000_000, 0.17)  # the slower end's rate: none is listed
    back = hostcfg("path", "sin-1", "lon-1", "-i", inventory, "-o", "json").document["link"]
    assert (back["rate_bps"], back["rtt_s"]) == (10_000_000, 0.001)
    given = hostcfg("path", "sin-1", "lon-1", "-i", inventory, "--rtt", "3ms", "-o", "json").document["link"]
    assert (given["rate_bps"], given["rtt_s"]) == (10_000_000, 0.003)
    text = inventory.read_text()
    inventory.write_text(text[: text.index("  - {from: lon-1, to: lon-1")])
    swapped = hostcfg("path", "sin-1", "lon-1", "-i", inventory, "-o", "json").document["link"]
    assert (swapped["rate_bps"], swapped["rtt_s"]) == (200_000_000, 0.17)


def test_an_inventory_without_paths_is_named(tmp_path: Path) -> None:
    (tmp_path / "inv.ini").write_text("[web]\nlon-1\n")
    line = hostcfg("path", "-i", tmp_path / "inv.ini", "--all").one_line_of_trouble()
    assert "inv.ini has no paths" in line
    assert "give -i FILE" not in line


# Wrong calls

LINK = ("--rate", "100mbit", "--rtt", "80ms")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["A", "B", "--rate", "0mbit", "--rtt", "80ms"], ("0mbit", "above zero")),
        (["A", "B", "--rate", "100mbit", "--rtt", "0ms"], ("0ms", "above zero")),
        (["A", "B", "--rate", "100", "--rtt", "80ms"], ("100", "100mbit")),
        (["A", "B", "--rate", "100mbit", "--rtt", "80"], ("80", "80ms")),
        (["A", "B", "--rtt", "80ms"], ("--rate 100mbit (or auto)",)),
        (["A", "B", "--rate", "100mbit"], ("--rtt 80ms (or auto)",)),
        (["A", *LINK], ("two ends, not 1", "--all")),
        (["A", "B", "A", *LINK], ("two ends, not 3",)),
        (["A", "A", *LINK], ("both ends are file:", "has two")),
        (["A", "file:/no/such/file", *LINK], ("/no/such/file", "No such file")),
        (["A", "B", *LINK, "--window", "many"], ("many", "64K")),
        (["A", "B", *LINK, "--window", "0"], ("size", "above zero")),
        (["A", "B", *LINK, "--window", "2G"], ("1 GiB",)),
        (["A", "B", *LINK, "--loss", "0.1"], ("0.1", "0.1%")),
        (["A", "B", *LINK, "--loss", "100%"], ("100",)),
        (["A", "B", *LINK, "--live"], ("--live", "over SSH or local")),
        (["A", "B", *LINK, "--iperf3", "/no/such/result"], ("/no/such/result", "No such file")),
        (["A", "B", "--rate", "100mbit", "--rtt", "auto"], ("--rtt auto", "neither can", "give --rtt")),
        (["A", "B", "--rate", "auto", "--rtt", "80ms"], ("no interface speed is known", "give --rate")),
        (["A", "B", *LINK, "--address", "192.0.2.1"], ("192.0.2.1", "HOST=ADDRESS")),
        (["A", "B", *LINK, "--address", "a=x y"], ("'x y'", "neither an IP address nor a host name")),
        (["A", "B", *LINK, "--address", "a=fe80::1%$(id)"], ("neither an IP address",)),
        (["A", "B", *LINK, "--address", "lon-9=192.0.2.1"], ("lon-9", "the ends of this path are")),
        (["--all"], ("--all needs an inventory with paths", "-i FILE")),
        (["A", "B", "--all"], ("--all", "give no hosts")),
        (["--all", "--address", "A=192.0.2.1"], ("--all", "--address")),
    ],
)
def test_a_wrong_call(linux: Callable[..., str], arguments: list[str], says: tuple[str, ...]) -> None:
    ends = {"A": linux("a"), "B": linux("b")}
    line = hostcfg("path", *[ends.get(word, word) for word in arguments]).one_line_of_trouble()
    assert all(word in line for word in says), line


def test_a_text_without_a_result_is_named(linux: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("we ran iperf3 and it was slow\n")
    call = ("path", linux("a"), linux("b"), *LINK, "--iperf3", tmp_path / "notes.txt")
    line = hostcfg(*call).one_line_of_trouble()
    assert "notes.txt" in line
    assert "no result of iperf3 or iperf" in line
    (tmp_path / "notes.txt").write_text(LINUX["net.ipv4.tcp_rmem"])
    assert "no result" in hostcfg(*call).one_line_of_trouble()


def test_an_end_that_says_nothing_of_its_windows(linux: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "far.txt").write_text("net.ipv4.ip_forward = 1\n")
    far = f"file:{tmp_path / 'far.txt'}"
    line = hostcfg("path", linux("a"), far, *LINK).one_line_of_trouble()
    assert "far.txt" in line
    assert "net.ipv4.tcp_rmem" in line


def test_an_unknown_option_of_an_inventory_is_named(tmp_path: Path) -> None:
    path = tmp_path / "hosts.yaml"
    path.write_text("hosts:\n  a: {address: 'file:a.txt', path_address: 'a b'}\n")
    line = hostcfg("path", "a", "local", *LINK, "-i", path).one_line_of_trouble()
    assert "hosts.yaml:2" in line
    assert "path_address" in line
