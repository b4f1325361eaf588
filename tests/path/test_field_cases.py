"""Reports from people doing this job, through file: targets of mixed systems.

Their numbers: tests/fixtures/path does not hold them, they stand here beside each case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hostcfg.errors import InputError
from hostcfg.model import Link
from hostcfg.path import analyse_path, compare_measured, to_json
from tests.iperf.samples import parse
from tests.path.hosts import freebsd, linux, pasted, windows

if TYPE_CHECKING:
    from hostcfg.path import Direction, PathReport

CABLE = Link(20e6, 0.516)
BRISTOL = Link(22e6, 0.012)
CARRIER = Link(50e6, 0.030)


def finding_kinds(report: PathReport) -> set[str]:
    return {f.finding.kind for f in report.findings}


def needs(direction: Direction) -> list[tuple[str, str | None, object]]:
    return [(n.host, n.need.key, n.need.target) for n in direction.needs]


# Case 1: a 20 Mbit/s uplink over 411 to 516 ms; "Linux refused more than 320 KiB because wmem_max was
# 163840 and the kernel doubles a request"; about 512 KiB/s with window flags, 990 KiB/s after.


def test_1_a_request_is_doubled_and_ends_at_320_kib() -> None:
    sender = linux("hungary", wmem_max="163840", rmem_max="163840")
    receiver = linux("singapore", rmem_max="12582912", wmem_max="12582912")
    report = analyse_path(sender, receiver, CABLE, window_bytes=512 << 10)
    direction = report.directions[0]
    limit = direction.limited_by
    assert (limit.kind, limit.host, limit.setting) == ("explicit_window", "hungary", "send_explicit_max")
    assert (limit.key, limit.value) == ("net.core.wmem_max", 163840)
    assert "doubled to 327,680" in limit.reason
    # 512 KiB/s were seen once the sizes were asked for
    assert direction.low_bps <= 512 * 1024 * 8 <= direction.high_bps
    assert ("hungary", "net.core.wmem_max", 1_612_500) in needs(direction)
    assert finding_kinds(report) >= {"explicit_refused", "autotuning_off"}


def test_1_after_the_change_the_buffers_carry_what_was_seen() -> None:
    keys = {"rmem": "10240 87380 12582912", "wmem": "10240 87380 12582912"}
    keys |= {"rmem_max": "12582912", "wmem_max": "12582912"}
    direction = analyse_path(linux("hungary", **keys), linux("singapore", **keys), CABLE).directions[0]
    assert direction.limited_by.kind == "link_rate"
    # 1235 KiB/s x 0.516 s = 637 KiB in flight, the most that was seen
    assert direction.window_bytes is not None
    assert direction.window_bytes > 637 * 1024
    assert direction.needs == []


# Case 2: London to Bristol, 12 ms; the far end never had more than 64 KiB although 1024 KiB was asked
# for; 64 KiB / 12 ms = 43.7 Mbit/s is that window's ceiling while the path showed 22: both must be said.


def test_2_the_far_end_cap_and_the_paths_own_limit_are_both_said() -> None:
    far = linux("bristol", rmem_max="65536", wmem_max="65536")
    report = analyse_path(linux("london"), far, BRISTOL, window_bytes=1 << 20)
    direction = report.directions[0]
    assert direction.limited_by.kind == "link_rate"
    assert direction.predicted_bps == pytest.approx(21e6, rel=0.01)
    window = direction.limits[1]
    assert (window.kind, window.host, window.key) == ("explicit_window", "bristol", "net.core.rmem_max")
    assert window.rate_bps == pytest.approx(43.7e6, rel=0.03)
    assert ("bristol", "net.core.rmem_max", 1 << 20) in needs(direction)
    assert any("43" in s or "42.5" in s for s in direction.sentences)
    assert "window_headroom" in finding_kinds(report)


def test_2_the_same_window_by_autotuning() -> None:
    far = linux("bristol", rmem="4096 65536 131072")
    report = analyse_path(linux("london"), far, BRISTOL)
    direction = report.directions[0]
    assert direction.limited_by.kind == "link_rate"
    assert direction.limits[1].rate_bps == pytest.approx(43.7e6, rel=0.01)
    (finding,) = [f for f in report.findings if f.finding.kind == "window_headroom"]
    assert (finding.host, finding.finding.severity) == ("bristol", "warning")
    assert "21.7 Mbit/s" in finding.finding.message  # once a queue doubles the RTT: what the path showed


def test_2_on_a_faster_link_the_window_is_the_limit() -> None:
    far = linux("bristol", rmem="4096 65536 131072")
    direction = analyse_path(linux("london"), far, Link(100e6, 0.012)).directions[0]
    assert direction.limited_by.kind == "receive_window"
    assert direction.predicted_bps == pytest.approx(43.7e6, rel=0.01)
    assert ("bristol", "net.ipv4.tcp_rmem", 375_000) in needs(direction)


# Case 3: SLAC to ORNL, 200 Mbit/s x 80 ms with 8 MB windows gave 201 Mbit/s; KEK allowed 128 KiB and
# gave 3.7 Mbit/s however large the other end, so 283 ms.


def test_3_sufficient_windows_at_both_ends_fill_the_link() -> None:
    slac, ornl = (linux(h, rmem_max="16777216", wmem_max="16777216") for h in ("slac", "ornl"))
    report = analyse_path(slac, ornl, Link(200e6, 0.080), window_bytes=8 << 20)
    for direction in report.directions:
        assert direction.limited_by.kind == "link_rate"
        assert direction.predicted_bps == pytest.approx(201e6, rel=0.06)
        assert direction.needs == []


def test_3_one_small_end_limits_whatever_the_other_has() -> None:
    big = linux("slac", rmem="4096 131072 67108864", wmem="4096 16384 67108864")
    small = freebsd("kek", recvbuf_max=131072, sendbuf_max=131072)
    there, back = analyse_path(big, small, Link(200e6, 0.283)).directions
    assert there.predicted_bps == pytest.approx(3.7e6, rel=0.01)
    assert (there.limited_by.kind, there.limited_by.host) == ("receive_window", "kek")
    assert there.limited_by.key == "net.inet.tcp.recvbuf_max"
    assert back.predicted_bps == pytest.approx(3.7e6, rel=0.01)
    assert (back.limited_by.kind, back.limited_by.key) == ("send_buffer", "net.inet.tcp.sendbuf_max")
    # the cap comes before what it caps
    assert [key for _, key, _ in needs(there)] == ["kern.ipc.maxsockbuf", "net.inet.tcp.recvbuf_max"]
    assert there.test.streams == 54  # 7,075,000 / 131,072


# Case 5: FreeBSD file server, one transfer to a slow receiver starves the others; sendbuf_max 262144 ->
# 65536 restores them; netstat -m showed denied requests.

DENIED = """
1024/2326/3350 mbufs in use (current/cache/total)
1023/1025/2048/25600 mbuf clusters in use (current/cache/total/max)
1106/2171/531 requests for mbufs denied (mbufs/clusters/mbuf+clusters)
361/1345/0 requests for jumbo clusters denied (4k/9k/16k)
"""
SERVER = """kern.osrelease: 8.2-RELEASE
kern.ipc.maxsockbuf: 262144
net.inet.tcp.sendbuf_max: {sendbuf_max}
net.inet.tcp.recvbuf_max: 262144
net.inet.tcp.sendbuf_auto: 1
net.inet.tcp.recvbuf_auto: 1
net.inet.tcp.rfc1323: {rfc1323}
"""


def test_5_a_buffer_far_above_the_bdp_is_a_finding_and_so_are_denied_buffers() -> None:
    server = pasted("filer", SERVER.format(sendbuf_max=262144, rfc1323=1) + DENIED)
    report = analyse_path(server, linux("slow"), Link(10e6, 0.001))
    direction = report.directions[0]
    assert direction.limited_by.kind == "link_rate"
    (queue,) = [f for f in report.findings if f.finding.kind == "standing_queue" and f.host == "filer"]
    assert queue.finding.severity == "warning"
    assert "net.inet.tcp.sendbuf_max" in queue.finding.keys or "kern.ipc.maxsockbuf" in queue.finding.keys
    denied = [f for f in report.findings if f.host == "filer" and "denied" in f.finding.message]
    assert denied
    assert any("1106" in f.finding.message or "2171" in f.finding.message for f in denied)


def test_5_a_smaller_send_buffer_or_no_scaling_takes_the_queue_away() -> None:
    small = pasted("filer", SERVER.format(sendbuf_max=65536, rfc1323=1))
    unscaled = pasted("filer", SERVER.format(sendbuf_max=262144, rfc1323=0))
    for server in (small, unscaled):
        report = analyse_path(server, linux("slow"), Link(10e6, 0.001))
        assert not [f for f in report.findings if f.finding.kind == "standing_queue" and f.host == "filer"]


def test_5_the_old_maximum_is_above_what_its_cap_allows() -> None:
    """256 KiB x 8/9 = 233,016: growth in steps of 8,192 from 32,768 ends at 229,376."""
    server = pasted("filer", SERVER.format(sendbuf_max=262144, rfc1323=1))
    direction = analyse_path(server, linux("fast"), Link(1e9, 0.05)).directions[0]
    assert direction.window_bytes == 229_376
    assert direction.limited_by.key == "kern.ipc.maxsockbuf"


# Case 6: 50 Mbit/s x 30 ms = 187,500 bytes; Windows PCs with iperf: 190k 13.8 Mbit/s, then streams
# 2 -> 20.8, 4 -> 33.9, 5 -> 43.4, 8 -> 45.0, 12 -> 47.1.


def test_6_the_window_is_the_bdp_and_the_link_its_limit() -> None:
    report = analyse_path(windows("pc1"), windows("pc2"), CARRIER, window_bytes=190_000)
    direction = report.directions[0]
    assert report.link.bdp_bytes == 187_500
    assert direction.limited_by.kind == "link_rate"
    assert direction.needs == []
    assert "autotuning_off" in finding_kinds(report)  # normal would allow 16 MiB


@pytest.mark.parametrize(("streams", "measured_mbps"), [(8, 45.0), (12, 47.1)])
def test_6_many_streams_reach_the_links_goodput(streams: int, measured_mbps: float) -> None:
    report = analyse_path(windows("pc1"), windows("pc2"), CARRIER, streams=streams)
    assert report.directions[0].predicted_bps == pytest.approx(measured_mbps * 1e6, rel=0.08)
    text = f"[SUM] 0.0-60.0 sec  100 MBytes  {measured_mbps} Mbits/sec\n"
    head = "Client connecting to pc2, TCP port 5001\n[  3] local a port 1 connected with b port 2\n"
    (evidence,) = compare_measured(report, parse(head + text))
    assert evidence.verdict == "as_predicted"


def test_6_one_streams_shortfall_is_not_blamed_on_the_window() -> None:
    report = analyse_path(windows("pc1"), windows("pc2"), CARRIER, window_bytes=190_000)
    text = (
        "Client connecting to pc2, TCP port 5001\n"
        "TCP window size:  186 KByte\n"
        "[  3] local 192.0.2.1 port 1 connected with 192.0.2.2 port 5001\n"
        "[  3]  0.0-60.0 sec  98.7 MBytes  13.8 Mbits/sec\n"
    )
    (evidence,) = compare_measured(report, parse(text))
    assert evidence.verdict == "below"
    assert evidence.explained == pytest.approx(13.8 / 48.2, abs=0.005)
    # 13.8 Mbit/s x 30 ms are 35.4 segments of 1460 bytes: 1.5 / 35.4^2
    assert any("0.119%" in sentence for sentence in evidence.sentences)


def test_6_without_autotuning_streams_add_up() -> None:
    for streams, expected in ((1, 17.13e6), (2, 34.26e6), (3, 48.2e6)):
        report = analyse_path(windows("pc1", level="disabled"), windows("pc2"), CARRIER, streams=streams)
        assert report.directions[0].predicted_bps == pytest.approx(expected, rel=0.001)
        back = report.directions[1].limited_by
        assert back.kind == ("receive_window" if streams < 3 else "link_rate")


def test_a_level_is_named_as_windows_names_it() -> None:
    report = analyse_path(windows("pc1"), windows("pc2", level="disabled"), CARRIER)
    there, back = report.directions
    assert (there.limited_by.kind, back.limited_by.kind) == ("receive_window", "window_scaling")
    assert "pc2's global.autotuninglevel = disabled" in there.sentences[0]
    for direction in (there, back):
        (need,) = direction.needs
        assert (need.current_native, need.target_native) == ("disabled", "highlyrestricted")
        assert need.command is not None
        assert "autotuninglevel=highlyrestricted" in need.command
        assert "set global.autotuninglevel to highlyrestricted (now disabled)" in direction.sentences[-1]


def test_a_system_without_a_model_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="hostcfg knows the settings of"):
        pasted(
            "sun",
            "PROTO PROPERTY PERM CURRENT PERSISTENT DEFAULT POSSIBLE\ntcp max_buf rw 1048576 -- 1048576 1\n",
        )


def test_three_systems_in_one_document() -> None:
    report = analyse_path(freebsd("bsd"), linux("lin", release="6.12.0"), Link(1e9, 0.1))
    document = to_json(report)
    assert document["schema"] == "hostcfg.path/1"
    assert report.directions[0].limited_by.key == "kern.ipc.maxsockbuf"
