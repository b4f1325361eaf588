"""``ss -ti``: typed sockets, and the rows of the index as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.linux.parsers.samples import best, parsed, sample

if TYPE_CHECKING:
    from hostcfg.model import Json


def _sockets(text: str) -> list[dict[str, Json]]:
    rows = parsed("ss", text).values["sockets"]
    assert isinstance(rows, list)
    return [row for row in rows if isinstance(row, dict)]


def test_a_socket_of_a_current_release() -> None:
    socket = _sockets(sample("ss-tin__debian12-6.1-P4-w64k__01.txt").text)[0]
    assert socket == {
        "state": "ESTAB",
        "recv_q": 0,
        "send_q": 127424,
        "local": "10.0.0.1:33348",
        "peer": "10.0.0.2:5201",
        "congestion_control": "cubic",
        "wscale": [1, 1],
        "rto_ms": 320.0,
        "rtt_ms": [116.997, 21.532],
        "mss": 1448,
        "pmtu": 1500,
        "rcvmss": 536,
        "advmss": 1448,
        "cwnd": 115,
        "bytes_sent": 1806781,
        "bytes_retrans": 1448,
        "bytes_acked": 1741622,
        "segs_out": 1258,
        "segs_in": 73,
        "data_segs_out": 1256,
        "send_bps": 11386275,
        "lastsnd_ms": 256,
        "lastrcv_ms": 3632,
        "lastack_ms": 256,
        "pacing_bps": 22772424,
        "delivery_bps": 2455416,
        "delivered": 1212,
        "busy_ms": 3584,
        "rwnd_limited_ms": 2288,
        "sndbuf_limited_ms": 612,
        "unacked": 44,
        "retrans": [0, 1],
        "rcv_space": 14480,
        "rcv_ssthresh": 64088,
        "notsent": 63712,
        "minrtt_ms": 100.528,
        "snd_wnd": 64088,
    }


def test_an_old_release_with_memory_owners_and_timers() -> None:
    sockets = _sockets(sample("ss-peaonmi__rhcos-4.18__01.txt").text)
    assert len(sockets) == 8
    first = sockets[0]
    assert first["local"] == "172.16.1.10:60094"
    assert first["peer"] == "172.16.1.11:2380"
    assert first["congestion_control"] == "cubic"
    assert first["wscale"] == [7, 7]
    assert first["rtt_ms"] == [0.329, 0.315]
    assert first["skmem"] == {
        "r": 0,
        "rb": 367360,
        "t": 0,
        "tb": 87040,
        "f": 4096,
        "w": 0,
        "o": 0,
        "bl": 0,
        "d": 0,
    }
    assert first["send_bps"] == 352_100_000  # "352.1Mbps"
    assert first["app_limited"] is True
    assert first["ts"] is True
    assert sockets[1]["delivery_bps"] == 87_310_700_000
    # no such fields before they existed
    assert "bytes_sent" not in first
    assert "snd_wnd" not in first


def test_receive_buffers_of_the_receivers() -> None:
    for system, buffers in (
        ("debian-sid-7.2", [262144, 87380]),
        ("debian11-5.10", [262144, 87380]),
        ("debian12-6.1", [87380, 262144]),
    ):
        sockets = _sockets(sample(f"ss-tinm-server__{system}-rmem256k__01.txt").text)
        memory = [socket["skmem"] for socket in sockets]
        assert [m["rb"] for m in memory if isinstance(m, dict)] == buffers
        assert sockets[0]["peer"] == {"debian-sid-7.2": "[::ffff:10.0.0.1]:42240"}.get(
            system, sockets[0]["peer"]
        )


def test_all_on_one_line_without_a_state_and_with_zones() -> None:
    text = (
        "Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n"
        '0 0 [fe80::1]%eth0:22 [fe80::2]%eth0:5022 users:(("sshd",pid=1,fd=3)) bbr wscale:7,8 mss:1448\n'
    )
    socket = _sockets(text)[0]
    assert socket["state"] is None
    assert socket["local"] == "[fe80::1]%eth0:22"
    assert socket["congestion_control"] == "bbr"
    assert socket["wscale"] == [7, 8]
    assert socket["mss"] == 1448


def test_a_title_alone_is_known_and_has_no_sockets() -> None:
    text = "State Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\n"
    assert best(text).kind == "ss"
    got = parsed("ss", text)
    assert got.values == {"sockets": []}
    assert got.extra["rows"] == []


def test_details_of_a_lost_socket_belong_to_nobody() -> None:
    lines = sample("ss-tin__debian12-6.1-aws3__01.txt").text.split("\n")
    del lines[3]  # the line of the second socket
    text = "\n".join(lines)
    assert len(_sockets(text)) == 1
    assert _sockets(text)[0]["cwnd"] == 392
    assert len(parsed("ss", text).unrecognized) == 1


def test_a_field_cut_by_damage_is_left_out() -> None:
    text = (
        "ESTAB 0 0 10.0.0.1:1 10.0.0.2:2\n\t cubic wscale:7, rtt:1.2/ mss:14x8 cwnd:10 rwnd_limited:5m(1%)\n"
    )
    socket = _sockets(text)[0]
    assert socket.keys() == {"state", "recv_q", "send_q", "local", "peer", "congestion_control", "cwnd"}
    row = parsed("ss", text).extra["rows"]
    assert isinstance(row, list)
    assert row[0] == {
        "peer": "10.0.0.2:2",
        "send_q": 0,
        "cwnd": "10",
        **dict.fromkeys(
            ("wscale", "rtt", "minrtt", "mss", "snd_wnd", "bytes_acked", "rwnd_limited", "sndbuf_limited")
        ),
        **dict.fromkeys(("notsent", "unacked", "retrans")),
    }


def test_details_that_contradict_the_send_queue_belong_to_nobody() -> None:
    lines = sample("ss-tin__debian12-6.1-P4-w64k__01.txt").text.splitlines()
    at = next(i for i, line in enumerate(lines) if "send_q" not in line and " 127424 " in line)
    emptied = [*lines[:at], lines[at].replace("127424", "0     "), *lines[at + 1 :]]
    got = parsed("ss", "\n".join(emptied) + "\n")
    sockets = got.values["sockets"]
    assert isinstance(sockets, list)
    assert len(sockets) == len(_sockets("\n".join(lines) + "\n"))
    assert lines[at + 1].strip() in got.unrecognized
    assert all("mss" in row or row["send_q"] == 0 for row in sockets if isinstance(row, dict))
