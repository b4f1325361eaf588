"""``ethtool`` and its options, text and JSON."""

from __future__ import annotations

import json

import pytest

from tests.linux.parsers.samples import BY_KIND, best, parsed, sample


def test_features_keep_what_is_fixed() -> None:
    got = parsed("ethtool-k", sample("ethtool-k__debian12-6.1-v0__01.txt").text)
    assert got.extra["interface"] == "v0"
    assert got.values["tcp-segmentation-offload"] == "on"
    assert got.values["tx-checksum-ipv4"] == "off [fixed]"
    assert len(got.values) == 65


def test_features_that_were_asked_for_and_refused() -> None:
    text = "Features for eth0:\ngeneric-receive-offload: off [requested on]\nrx-all: on\n"
    assert parsed("ethtool-k", text).values == {
        "generic-receive-offload": "off [requested on]",
        "rx-all": "on",
    }


def test_features_as_json() -> None:
    got = parsed("ethtool-k", sample("ethtool-json-k__debian12-6.1-v0__01.json").text)
    assert got.extra["interface"] == "v0"
    assert "ifname" not in got.values
    assert got.values["tx-checksum-ipv4"] == {"active": False, "fixed": True, "requested": False}


def test_ring_sizes() -> None:
    assert parsed("ethtool-g", sample("ethtool-g__ubuntu2004-virtio-5.4__01.txt").text).values == {
        "rx_max": 256,
        "rx_mini_max": 0,
        "rx_jumbo_max": 0,
        "tx_max": 256,
        "rx": 256,
        "rx_mini": 0,
        "rx_jumbo": 0,
        "tx": 256,
    }


def test_ring_sizes_as_json() -> None:
    text = json.dumps(
        [{"ifname": "eth0", "rx-max": 4096, "tx-max": 4096, "rx": 512, "tx": 512, "tx-push": False}]
    )
    assert best(text).kind == "ethtool-g"
    assert parsed("ethtool-g", text).values == {
        "rx_max": 4096,
        "tx_max": 4096,
        "rx": 512,
        "tx": 512,
        "tx_push": False,
    }


def test_a_ring_size_without_its_heading_is_left_over() -> None:
    got = parsed("ethtool-g", "Ring parameters for eth0:\nRX:\t\t256\n")
    assert got.values == {}
    assert got.unrecognized == ["RX:\t\t256"]


def test_ring_sizes_below_a_lost_heading_are_left_over() -> None:
    text = sample("ethtool-g__debian12-6.18-virtio__01.txt").text
    got = parsed("ethtool-g", text.replace("Current hardware settings:\n", ""))
    assert got.values == {"rx_max": 256, "rx_mini_max": None, "rx_jumbo_max": None, "tx_max": 256}
    assert got.unrecognized == text.splitlines()[7:]
    below = text.partition("RX:\t\t256\nRX Mini:\tn/a\nRX Jumbo:\tn/a\nTX:\t\t256\nRX Buf")
    got = parsed("ethtool-g", below[0].replace("Current hardware settings:\n", "") + "RX Buf" + below[2])
    assert not [name for name in got.values if name.startswith(("tx_push", "tcp_data", "cqe"))]


def test_what_follows_a_lost_title_is_not_the_interface_s_above_it() -> None:
    rings = sample("ethtool-g__debian12-6.18-virtio__01.txt").text
    other = "Pre-set maximums:\nRX:\t\t4096\nTX Max:\t\t1\n"
    got = parsed("ethtool-g", rings + other)
    assert got.values == parsed("ethtool-g", rings).values
    assert got.unrecognized == other.splitlines()
    features = "Features for eth0:\nrx-checksumming: on\n"
    got = parsed("ethtool-k", f"{features}rx-checksumming: off\ntx-nocache-copy: off\n")
    assert got.values == {"rx-checksumming": "on"}
    assert got.unrecognized == ["rx-checksumming: off", "tx-nocache-copy: off"]
    got = parsed("ethtool-a", "Pause parameters for eth0:\nRX:\t\toff\nTX:\t\toff\nRX:\t\ton\n")
    assert got.values == {"rx": "off", "tx": "off"}


def test_pause() -> None:
    text = "Pause parameters for eth0:\nAutonegotiate:\ton\nRX:\t\toff\nTX:\t\toff\nRX negotiated: on\n\n"
    assert best(text).kind == "ethtool-a"
    assert parsed("ethtool-a", text).values == {
        "autonegotiate": "on",
        "rx": "off",
        "tx": "off",
        "rx_negotiated": "on",
    }


def test_coalescing_of_an_old_release() -> None:
    text = (
        "Coalesce parameters for eth0:\nAdaptive RX: on  TX: off\n"
        "stats-block-usecs: 0\n\nrx-usecs: 50\nrx-frames: 0\n"
    )
    assert best(text).kind == "ethtool-c"
    assert parsed("ethtool-c", text).values == {
        "adaptive-rx": "on",
        "adaptive-tx": "off",
        "stats-block-usecs": 0,
        "rx-usecs": 50,
        "rx-frames": 0,
    }


def test_drivers_are_text_even_if_a_version_looks_like_a_number() -> None:
    got = parsed("ethtool-i", sample("ethtool-i__debian12-6.1-v0__01.txt").text)
    assert got.values["version"] == "1.0"
    assert got.values["firmware-version"] == ""


def test_settings_with_modes_over_several_lines() -> None:
    text = (
        "Settings for eth0:\n"
        "\tSupported ports: [ TP ]\n"
        "\tSupported link modes:   10baseT/Half 10baseT/Full\n"
        "\t                        1000baseT/Full\n"
        "\tSpeed: 1000Mb/s\n"
        "\tDuplex: Half\n"
        "\tAuto-negotiation: on\n"
        "\tCurrent message level: 0x00000007 (7)\n"
        "\t\t\t       drv probe link\n"
        "\tLink detected: yes\n"
        "strange\n"
    )
    got = parsed("ethtool", text)
    assert got.values == {
        "supported_ports": "[ TP ]",
        "supported_link_modes": "10baseT/Half 10baseT/Full 1000baseT/Full",
        "speed_bps": 1_000_000_000,
        "duplex": "Half",
        "auto_negotiation": "on",
        "current_message_level": "0x00000007 (7) drv probe link",
        "link_detected": "yes",
    }
    assert got.unrecognized == ["strange"]


@pytest.mark.parametrize("speed", ["Unknown!", "Unknown! (-1)", "65535Mb/s", "4294967295Mb/s"])
def test_no_speed_is_null_and_no_number(speed: str) -> None:
    text = f"Settings for eth0:\n\tSpeed: {speed}\n\tDuplex: Unknown! (255)\n\tLink detected: no\n"
    assert parsed("ethtool", text).values == {"speed_bps": None, "duplex": None, "link_detected": "no"}


def test_several_interfaces_do_not_run_into_each_other() -> None:
    text = "Features for eth0:\nrx-all: on\nFeatures for eth1:\nrx-all: off\n"
    assert parsed("ethtool-k", text).values == {
        "interfaces": {"eth0": {"rx-all": "on"}, "eth1": {"rx-all": "off"}}
    }


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("netlink error: Operation not supported", "unsupported"),
        ("Cannot get device ring settings: Operation not supported", "unsupported"),
        ("netlink error: No such device", "unknown"),
        ("Cannot get driver information: Operation not permitted", "denied"),
        ("netlink error: something else", "other"),
    ],
)
def test_errors(line: str, kind: str) -> None:
    for option in ("ethtool-g", "ethtool"):
        got = parsed(option, f"{line}\n")
        assert got.values == {}
        assert got.extra["errors"] == [{"name": None, "kind": kind, "text": line}]
        assert not got.unrecognized
    assert best(f"{line}\n").kind == "ethtool"


def test_an_option_takes_only_its_own_part() -> None:
    both = (
        sample("ethtool-k__debian12-6.1-v0__01.txt").text
        + sample("ethtool-g__ubuntu2004-virtio-5.4__01.txt").text
    )
    assert parsed("ethtool-g", both).values["rx_max"] == 256
    assert BY_KIND["ethtool-k"].parse(both).values["tcp-segmentation-offload"] == "on"
    assert len(BY_KIND["ethtool-k"].parse(both).values) == 65
