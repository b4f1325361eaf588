"""hostcfg's own inventory, plain lists, and the selection of hosts."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostcfg.errors import InventoryError, UsageError
from hostcfg.inventory import PathSpec, load_inventory
from hostcfg.inventory.ranges import parse_pattern
from hostcfg.targets import HostSpec, from_reach, resolve_targets, select, to_reach

FLEET = """
defaults: {user: root, key: keys/fleet, become: yes}
hosts:
  lon-1: {address: 192.0.2.7, rate: 1gbit}
  sin-1:
    address: admin@192.0.2.8:2222
    os: freebsd
    become: no
  web[01:03]:
  "[2001:db8::9]:2200":
  here: {address: local}
  mailed: {address: "file:far end.txt", os: windows}
groups:
  europe: [lon-1, "web[01:02]"]
  everyone: ["@europe", sin-1, "@everybody"]
  everybody: [here]
paths:
  - {from: lon-1, to: sin-1, rate: 1gbit, rtt: 170ms}
  - {from: local, to: "file:x.txt", rate: auto}
"""


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    path = tmp_path / "fleet.yaml"
    path.write_text(FLEET)
    return path


def test_hosts_with_their_defaults(fleet: Path, tmp_path: Path) -> None:
    inventory = load_inventory(fleet)
    key = str(tmp_path / "keys/fleet")
    assert inventory.names == (
        "lon-1",
        "sin-1",
        "web01",
        "web02",
        "web03",
        "[2001:db8::9]:2200",
        "here",
        "mailed",
    )
    assert inventory.spec("lon-1") == HostSpec(
        "lon-1", "ssh", "192.0.2.7", user="root", key=key, become="sudo", rate="1gbit"
    )
    assert inventory.spec("sin-1") == HostSpec(
        "sin-1", "ssh", "admin@192.0.2.8:2222", user="root", key=key, os="freebsd"
    )
    assert inventory.spec("web02").address == "web02"
    assert inventory.spec("here").kind == "local"
    assert inventory.spec("mailed") == HostSpec(
        "mailed", "file", str(tmp_path / "far end.txt"), user="root", key=key, os="windows", become="sudo"
    )


def test_groups_may_hold_groups(fleet: Path) -> None:
    inventory = load_inventory(fleet)
    assert inventory.match_names("@europe") == ["lon-1", "web01", "web02"]
    assert inventory.match_names("everyone") == ["lon-1", "sin-1", "web01", "web02", "here"]


def test_paths(fleet: Path) -> None:
    assert load_inventory(fleet).paths == (
        PathSpec("lon-1", "sin-1", "1gbit", "170ms", 18),
        PathSpec("local", "file:x.txt", "auto", None, 19),
    )


def test_what_a_pattern_names(fleet: Path) -> None:
    inventory = load_inventory(fleet)
    assert inventory.match_names("web*") == ["web01", "web02", "web03"]
    assert inventory.match_names("web0[13]") == ["web01", "web03"]
    assert inventory.match_names("web[01:03]") == ["web01", "web02", "web03"]  # no glob: web0 or web1 or ...
    assert inventory.match_names("web[02:09]") == ["web02", "web03"]
    assert inventory.match_names("?in-1") == ["sin-1"]
    assert list(inventory.match_names("all")) == list(inventory.match_names("*")) == list(inventory.names)
    assert inventory.match_names("@eur*") == ["lon-1", "web01", "web02"]
    assert inventory.match_names("lon") == []
    assert inventory.match_names("@nobody") == []


@pytest.mark.parametrize(
    ("limit", "exclude", "left"),
    [
        ((), (), ["lon-1", "web01", "web02"]),
        (("web*",), (), ["web01", "web02"]),
        (("web01,lon-1",), (), ["lon-1", "web01"]),
        (("web01", "lon-1"), (), ["lon-1", "web01"]),
        ((), ("lon-1",), ["web01", "web02"]),
        ((), ("@everybody",), ["lon-1", "web01", "web02"]),
        (("@everyone",), ("web02",), ["lon-1", "web01"]),
    ],
)
def test_limit_and_exclude(
    limit: tuple[str, ...], exclude: tuple[str, ...], left: list[str], fleet: Path
) -> None:
    inventory = load_inventory(fleet)
    specs = resolve_targets(["@europe"], inventory)
    assert [s.name for s in select(specs, inventory, limit=limit, exclude=exclude)] == left


def test_a_slip_in_limit_or_exclude_is_no_empty_selection(fleet: Path) -> None:
    inventory = load_inventory(fleet)
    specs = resolve_targets(["@europe"], inventory)
    with pytest.raises(UsageError, match="--exclude 'wbe01' names no host"):
        select(specs, inventory, exclude=["wbe01"])
    with pytest.raises(UsageError, match="--limit 'wbe' names no host among the targets"):
        select(specs, None, limit=["wbe"])
    with pytest.raises(UsageError, match="leave no host"):
        select(specs, inventory, limit=["sin-1"])


def test_a_plain_list(tmp_path: Path) -> None:
    path = tmp_path / "hosts.txt"
    path.write_text(
        "\ufeff# our edge\nlon-1\nroot@192.0.2.7:2222   # in Singapore\n\n"
        "2001:db8::1\r\n[2001:db8::2]:22\nlon-1\n"
    )
    inventory = load_inventory(path)
    assert inventory.names == ("lon-1", "root@192.0.2.7:2222", "2001:db8::1", "2001:db8::2")
    assert inventory.spec("root@192.0.2.7:2222").address == "root@192.0.2.7:2222"
    assert inventory.spec("2001:db8::2").port == 22


def test_a_yaml_list_of_names(tmp_path: Path) -> None:
    path = tmp_path / "hosts.yaml"
    path.write_text("- lon-1\n- sin-[1:2]\n")
    assert load_inventory(path).names == ("lon-1", "sin-1", "sin-2")
    (tmp_path / "hosts.json").write_text('["lon-1", "sin-[1:2]"]')
    assert load_inventory(tmp_path / "hosts.json").names == ("lon-1", "sin-1", "sin-2")
    path.write_text("hosts: [lon-1, 'sin-[1:2]']\n")
    assert load_inventory(path).names == ("lon-1", "sin-1", "sin-2")


def test_json_is_yaml(tmp_path: Path) -> None:
    path = tmp_path / "hosts.json"
    path.write_text('{"hosts": {"lon-1": {"port": 22}}, "groups": {"all-of-it": ["lon-1"]}}')
    assert load_inventory(path).spec("lon-1") == HostSpec("lon-1", "ssh", "lon-1", port=22)


FAULTS = {
    "hosts: {a: {adress: x}}": ":1: a: adress: unknown; did you mean 'address'?",
    "hosts:\n  a:\n    port: 70000": ":3: a: port: a port is a number from 1 to 65535",
    "hosts:\n  a: {os: linus}": ":2: a: os: 'linus' is no system; did you mean 'linux'?",
    "hosts:\n  a: {become: su}": ":2: a: become: 'su' is none of sudo, doas, yes, no",
    "hosts:\n  a: {rate: 100}": ":2: a: rate: '100' has no unit",
    "hosts:\n  a: {user: [root]}": ":2: a: user: takes one value",
    "hosts:\n  a: {user: }": ":2: a: user: takes one value",
    "hosts:\n  a: root@b": ":2: a: host 'a' has `key: value` entries",
    "hosts:\n  a:\n  a:": ":3: a: given twice; first in line 2",
    "hosts:\n  a1:\n  a[1:2]:": ":3: a1: given twice",
    "hosts:\n  -oProxyCommand=x:": ":2: '-oProxyCommand=x': a host's name can't begin with '-'",
    "hosts:\n  'a b':": ":2: 'a b': a host's name has no blanks",
    "hosts:\n  a: {address: '-x'}": ":2: a: address: '-x': a host can't begin with '-'",
    "hosts:\n  a: {address: 'x;y'}": ":2: a: address: 'x;y': ';' can't be in a host here",
    "hosts:\n  a: {user: '$(id)'}": ":2: a: user: '$(id)': '$' can't be in a user here",
    "defaults: {user: a b}\nhosts:\n  a:": ":1: defaults: user: 'a b': ' ' can't be in a user here",
    "hosts:\n  a: {user: !vault x}": ":2: a: user: the tag !vault is not used here",
    "hosts:\n  a: {jump: 'b,c:70000'}": ":2: a: jump: 'c:70000': the port is a number from 1 to 65535",
    "hosts:\n  a: {jump: -x}": ":2: a: jump: '-x': a host can't begin with '-'",
    "hosts:\n  a: {key: ~nobody-of-that-name/k}": ":2: a: key: ~nobody-of-that-name/k: there is no such user",
    "hosts:\n  a: {address: 'file:'}": ":2: a: address: file: needs a path",
    "hosts:\n  a: {os: posix}": ":2: a: os: 'posix' is no system; known are freebsd, linux, macos, windows",
    "hosts:\n  'a[1:3]': {address: 192.0.2.1}": ":2: a[1:3]: address: a range of hosts can't have",
    "hosts:\n  local: {address: 192.0.2.1}": ":2: local: local is always this machine",
    "hosts:\n  a:\ngroups:\n  all: [a]": ":4: all: the group is every host: give it another name",
    "hosts:\n  a:\ngroups:\n  '@g': [a]": ":4: @g: the group can't be asked for by this name",
    "hosts:\n  a:\ngroups:\n  g h: [a]": ":4: g h: the group can't be asked for by this name",
    "host:\n  a:": ":1: host: unknown; did you mean 'hosts'?",
    "hosts:\n  a:\ngroup:\n  g: [a]": ":3: group: unknown; did you mean 'groups'?",
    "hosts:\n  a:\ngroups:\n  g: [b]": ":4: g: 'b' is not among the hosts",
    "hosts:\n  a:\ngroups:\n  g: a": ":4: g: a group is a list of hosts",
    "hosts:\n  a:\ngroups:\n  g: ['@h']\n  h: ['@g']": "is within itself",
    "hosts:\n  a:\ngroups:\n  g: ['@x']": ":4: g: '@x' is no group",
    "hosts:\n  a:\npaths:\n  - {from: a}": ":4: paths: a path has a 'to'",
    "hosts:\n  a:\npaths:\n  - {from: a, to: b}": ":4: to: 'b' is not among the hosts",
    "hosts:\n  a:\npaths:\n  - {from: a, to: a, rtt: 80}": ":4: rtt: '80' has no unit",
    "hosts:\n  a:\npaths:\n  - {from: a, to: a, tos: 1}": ":4: tos: unknown",
    "defaults: {rate: fast}\nhosts:\n  a:": ":1: defaults: rate: 'fast' is no rate",
    "hosts: 5": ":1: hosts: hosts is NAME: {...} entries, or a list of names",
    "": ":1: is empty; an inventory has hosts",
    "just words": "has",
}


@pytest.mark.parametrize("text", FAULTS)
def test_faults_have_file_line_and_key(text: str, tmp_path: Path) -> None:
    path = tmp_path / "fleet.yaml"
    path.write_text(text + "\n")
    with pytest.raises(InventoryError) as caught:
        load_inventory(path)
    assert FAULTS[text] in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(InventoryError, match="there is no such file"):
        load_inventory(tmp_path / "missing.yaml")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InventoryError, match="holds no inventory"):
        load_inventory(tmp_path / "empty")
    (tmp_path / "latin").write_bytes(b"caf\xe9\n")
    with pytest.raises(InventoryError, match=":1: is not UTF-8"):
        load_inventory(tmp_path / "latin")
    (tmp_path / "long").write_bytes(b"x" * (9 << 20))
    with pytest.raises(InventoryError, match="is larger than 8192 KiB"):
        load_inventory(tmp_path / "long")


@given(st.text(max_size=60))
def test_hostile_text_is_a_fault_and_nothing_else(text: str) -> None:
    try:
        names = parse_pattern(text).names
    except ValueError:
        return
    assert names
    assert not any(name.startswith("-") or any(c.isspace() for c in name) for name in names)


@given(st.text(alphabet="[]:{}@#-_= \n\"'abc01", max_size=200), st.sampled_from(["h.yaml", "h.ini", "h"]))
def test_hostile_files_are_a_fault_and_nothing_else(text: str, name: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(text)
        try:
            inventory = load_inventory(path)
        except InventoryError:
            return
        for host in inventory.names:
            with suppress(InventoryError):
                assert inventory.spec(host).name == host


def test_reach_comes_back_from_the_journal() -> None:
    spec = HostSpec("a", "ssh", "192.0.2.1", port=22, user="root", key="/k", become="doas", jump="gate")
    assert from_reach("a", to_reach(spec)) == spec
    assert to_reach(HostSpec("local", "local")) == {"kind": "local"}
    for damaged in ({}, {"kind": "file"}, {"kind": 5}, {"address": "x"}):
        with pytest.raises(UsageError, match="give -i FILE"):
            from_reach("a", damaged)
