"""Ansible's inventories mean what ansible-inventory says they mean (recorded, see the fixtures' README)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hostcfg.errors import InventoryError
from hostcfg.inventory import Inventory, load_inventory
from hostcfg.inventory.ini import read_ini
from hostcfg.inventory.tree import PRIORITY, USED, Tree
from hostcfg.inventory.vars_dirs import read_vars_dirs
from hostcfg.targets import HostSpec

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures/inventory"
INVENTORIES = [
    "plain.ini",
    "plain.yml",
    "nested.yml",
    "ranges.ini",
    "ranges.yml",
    "hostvars.ini",
    "groupvars.ini",
    "groupvars.yml",
    "priority.yml",
    "branches/hosts",
    "several",
]


def expected_path(name: str) -> Path:
    return FIXTURES / "expected" / f"{name.replace('/', '-').replace('.', '-')}.json"


def recorded(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(expected_path(name).read_text())
    return found


def members(document: dict[str, Any], group: str) -> set[str]:
    body = document.get(group, {})
    found = set(body.get("hosts", ()))
    for child in body.get("children", ()):
        found |= members(document, child)
    return found


@pytest.mark.parametrize("name", INVENTORIES)
def test_the_same_groups_and_hosts(name: str) -> None:
    inventory, document = load_inventory(FIXTURES / name), recorded(name)
    assert set(inventory.names) == members(document, "all")
    for group in document.keys() - {"_meta", "all"}:
        assert {group: set(inventory.match_names(f"@{group}"))} == {group: members(document, group)}


def merged_variables(name: str) -> dict[str, dict[str, str]]:
    """What hostcfg takes to hold for each host, as text."""
    from hostcfg.inventory import load

    path = FIXTURES / name
    tree = Tree()
    files = [path] if path.is_file() else sorted(p for p in path.iterdir() if p.suffix in (".ini", ".yml"))
    for file in files:
        text = file.read_text()
        load._add(text, load._yaml_root(text, file), file, tree)
    tree.check()
    read_vars_dirs(path.parent if path.is_file() else path, tree)
    return {
        host: {key: str(var.value).lower() for key, var in tree.variables(host).items()}
        for host in tree.hosts
    }


def flags(variables: dict[str, str]) -> dict[str, str]:
    """YAML 1.1's words for true and false, as they are written, are those of JSON."""
    words = {"yes": "true", "no": "false"}
    return {k: words.get(v, v) if k == "ansible_become" else v for k, v in variables.items()}


@pytest.mark.parametrize("name", INVENTORIES)
def test_the_same_variable_wins(name: str) -> None:
    hostvars = recorded(name)["_meta"]["hostvars"]
    for host, variables in merged_variables(name).items():
        wanted = {k: str(v).lower() for k, v in hostvars.get(host, {}).items() if k in USED}
        found = {k: v for k, v in variables.items() if k != PRIORITY}  # which is not printed
        assert (host, flags(found)) == (host, flags(wanted))


def usable(inventory: Inventory) -> dict[str, HostSpec]:
    """Every host's entry, but for those that can't be used."""
    found = {}
    for name in inventory.names:
        try:
            found[name] = inventory.spec(name)
        except InventoryError:
            continue
    return found


@pytest.mark.parametrize("name", INVENTORIES)
def test_what_ansible_inventory_prints_is_an_inventory_too(name: str) -> None:
    """But for priorities, which it has dropped, every host is reached in the same way."""
    assert usable(load_inventory(expected_path(name))) == usable(load_inventory(FIXTURES / name))


def test_how_hosts_are_reached() -> None:
    inventory = load_inventory(FIXTURES / "hostvars.ini")
    assert inventory.spec("gate.corp.test") == HostSpec("gate.corp.test", "ssh", "gate.corp.test", port=5309)
    assert inventory.spec("box") == HostSpec("box", "ssh", "192.0.2.50", port=5555)
    assert inventory.spec("localhost") == HostSpec("localhost", "local")
    assert inventory.spec("old.corp.test") == HostSpec(
        "old.corp.test", "ssh", "192.0.2.51", port=2200, user="legacy"
    )
    assert inventory.spec("keyed.corp.test") == HostSpec(
        "keyed.corp.test", "ssh", "keyed.corp.test", key="/home/ops/.ssh/fleet", become="sudo"
    )
    assert inventory.spec("six") == HostSpec("six", "ssh", "2001:db8::7", port=2206)
    assert inventory.spec("templated").address == "templated.mgmt.corp.test"


def test_groups_that_are_only_named_have_no_hosts(tmp_path: Path) -> None:
    """As Ansible's guide has them beside others."""
    path = tmp_path / "hosts"
    path.write_text(
        "[oslo]\nh1\n[bergen]\nh1\nh2\n[south:children]\noslo\nbergen\n[norway:children]\nsouth\nnorth\n"
    )
    inventory = load_inventory(path)
    assert inventory.match_names("@norway") == ["h1", "h2"]
    assert inventory.match_names("@north") == []
    assert inventory.notes == (
        f"{path}:11: group 'norway' has the child 'north', which is no group: it has no hosts",
    )


def test_where_the_other_end_of_a_path_reaches_a_host(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("h1 ansible_host=192.0.2.1 hostcfg_path_address=203.0.113.8\n")
    assert load_inventory(tmp_path / "hosts").spec("h1").path_address == "203.0.113.8"


def test_groups_of_groups_and_their_variables() -> None:
    inventory = load_inventory(FIXTURES / "groupvars.ini")
    assert [spec.name for spec in inventory.match("norway")] == ["host1", "host2", "host3", "host4"]
    assert inventory.spec("host1") == HostSpec(
        "host1",
        "ssh",
        "host1",
        port=2022,
        user="oslo",
        key="/keys/norway",
        become="sudo",
        jump="ops@bastion.corp.test",
    )
    assert inventory.spec("host2").port == 7
    assert inventory.spec("host3").user == "south"
    assert inventory.spec("host3").become is None
    assert inventory.spec("host4").user == "norway"


FAULTY = {
    "ansible_port=99999": "is no port",
    "ansible_port=ssh": "is no port",
    "ansible_host=-oProxyCommand=x": "can't begin with '-'",
    "ansible_user='-l'": "can't begin with '-'",
    "ansible_host='a b'": "can't be in a host here",
    'ansible_host="{{ mgmt_ip }}"': "is a template ({{ mgmt_ip }}), which Ansible alone can fill in",
    'ansible_user="{% if x %}a{% endif %}"': "is a template",
    "ansible_connection=winrm": "'winrm' is no connection of hostcfg's",
    "ansible_connection=community.docker.docker": "is no connection of hostcfg's",
    "ansible_become=maybe": "'maybe' is neither yes nor no",
    "ansible_become=yes ansible_become_method=su": "'su' is none of sudo and doas",
    "ansible_become=yes ansible_become_user=postgres": "becomes 'postgres', and hostcfg becomes root only",
    "ansible_ssh_common_args=\"-o ProxyCommand='nc -X 5 proxy %h %p'\"": "a ProxyCommand in an inventory is",
    "ansible_ssh_common_args='-F ssh.cfg'": "asks ssh for another configuration (ssh.cfg), which is not read",
    "ansible_ssh_common_args='-J'": "can't be read as arguments of ssh: option -J requires argument",
    "ansible_ssh_common_args='-J a,b:70000'": "ansible_ssh_common_args: 'b:70000': the port is a number",
    "ansible_host=192.0.2.1 ansible_user='a b'": "ansible_user: 'a b': ' ' can't be in a user here",
    "ansible_ssh_private_key_file=~nobody-of-that-name/k": "there is no such user",
    "hostcfg_os=posix": "is no system; known are freebsd, linux, macos, windows",
    "hostcfg_rate=fast": "is no rate",
    "hostcfg_rate=100": "has no unit",
    "hostcfg_os=linx": "is no system; did you mean 'linux'?",
}


@pytest.mark.parametrize("variables", FAULTY)
def test_what_hostcfg_cannot_do_is_a_fault_of_the_host_that_asks_for_it(
    variables: str, tmp_path: Path
) -> None:
    path = tmp_path / "hosts"
    path.write_text(f"good\n[g]\nbad {variables}\n")
    inventory = load_inventory(path)
    assert [spec.name for spec in inventory.match("good")] == ["good"]
    assert [spec.problem is None for spec in inventory.match("all")] == [True, False]
    with pytest.raises(InventoryError) as caught:
        inventory.spec("bad")
    assert FAULTY[variables] in str(caught.value)
    assert str(caught.value).startswith(f"{path}:3: bad: ")


JUMPS = {
    "'-J ops@gate'": "ops@gate",
    "'-o ProxyJump=gate:2222,inner'": "gate:2222,inner",
    "'-oProxyJump=gate'": "gate",
    "'-o \"ProxyJump gate\"'": "gate",
    "'-o ProxyCommand=\"ssh -W %h:%p -q ops@gate\"'": "ops@gate",
    "'-o ProxyCommand=\"ssh -p 2222 -W %h:%p ops@gate\"'": "ops@gate:2222",
    "'-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null'": None,
    "'-C -o ControlMaster=auto -o ControlPersist=60s'": None,
    "'-o ProxyJump=none'": "none",  # whatever ~/.ssh/config says
    "'-o ProxyCommand=none -J gate'": "none",
    "-Jgate": "gate",
    "'-qJ gate'": "gate",
    "'-tt -i /k -J gate -J other'": "gate",
}


@pytest.mark.parametrize("arguments", JUMPS)
def test_a_jump_host_in_arguments_for_ssh(arguments: str, tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text(f"h1 ansible_ssh_common_args={arguments}\n")
    assert load_inventory(path).spec("h1").jump == JUMPS[arguments]


def test_who_and_where_in_arguments_for_ssh(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text(
        "h1 ansible_ssh_common_args='-p 2222 -l ops -i /k'\n"
        "h2 ansible_ssh_extra_args='-o Port=2222 -oUser=ops -o \"IdentityFile /k\" -o HostName=192.0.2.9'\n"
        "h3 ansible_ssh_args='-C -J gate' ansible_ssh_common_args='-J other -l ops' ansible_user=root\n"
    )
    inventory = load_inventory(path)
    assert inventory.spec("h1") == HostSpec("h1", "ssh", "h1", port=2222, user="ops", key="/k")
    assert inventory.spec("h2") == HostSpec("h2", "ssh", "192.0.2.9", port=2222, user="ops", key="/k")
    assert inventory.spec("h3") == HostSpec("h3", "ssh", "h3", user="root", jump="gate")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[web]\nh1 ansible_host\n", ":2: 'ansible_host': after a host there are only variables"),
        ("[web]\nh1 ansible_user='x\n", ":2: a quotation without its end"),
        ("[web:var]\na=b\n", ":1: [web:var] is no section; did you mean 'vars'?"),
        ("[web\nh1\n", ":1: '[web': a range is written"),
        ("[web servers]\nh1\n", ":1: '[web servers]' is no section"),
        ("h1\n[wbe:vars]\na=1\n[web]\nh2\n", ":2: [wbe:vars] is for no group; did you mean 'web'?"),
        (
            "h1\n[a:children]\nwebserver\n[webservers]\nh2\n",
            ":3: group 'a' has the child 'webserver', which is no group; did you mean 'webservers'?",
        ),
        ("h1\n[a:children]\nb\n[b:children]\na\n", "is within itself"),
        ("h1\n[a:children]\na\n", ":3: group 'a' is within itself"),
        ("h1\n[web:vars]\nnothing\n[web]\nh2\n", ":3: 'nothing': write NAME=VALUE"),
        ("web[5:1]\n", ":1: '[5:1]': the range ends before it begins"),
        ("web[1:]\n", ":1: '[1:]': the range has no end"),
        ("web[01:5]\n", ":1: '[01:5]': with a leading zero"),
        ("web[1:9:0]\n", ":1: '[1:9:0]': the step is at least 1"),
        ("web[1:999999999]\n", ":1: '[1:999999999]' stands for more than 100000 hosts"),
        ("web[1:400][1:400]\n", ":1: 'web[1:400][1:400]' stands for more than 100000 hosts"),
        ("-oProxyCommand=x\n", ":1: '-oProxyCommand=x': a host's name can't begin with '-'"),
        (
            "h1\n[web:vars]\na=1\nansible_group_priority=high\n[web]\nh2\n",
            ":4: ansible_group_priority: is no number",
        ),
        ("# nothing\n", "has no hosts"),
    ],
)
def test_faults_of_the_whole_file_have_their_line(text: str, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text(text)
    with pytest.raises(InventoryError) as caught:
        load_inventory(path)
    assert f"{path}{fault}" in str(caught.value) or fault in str(caught.value)


def test_a_hundred_thousand_nested_groups_need_no_stack() -> None:
    tree = Tree()
    lines = ["h1"]
    for number in range(100_000):
        lines += [f"[g{number}:children]", f"g{number + 1}"]
    read_ini("\n".join([*lines, "[g100000]", "h2 ansible_user=deep"]), "hosts", tree)
    tree.check()
    assert tree.variables("h2")["ansible_user"].value == "deep"


def test_vault_values_are_a_fault_only_where_they_are_used(tmp_path: Path) -> None:
    path = tmp_path / "hosts.yml"
    path.write_text(
        "web:\n  hosts:\n    h1:\n"
        "      ansible_user: !vault |\n        $ANSIBLE_VAULT;1.1;AES256\n        6162\n"
        "      secret_of_the_app: !vault |\n        $ANSIBLE_VAULT;1.1;AES256\n        6162\n"
        "    h2:\n      secret_of_the_app: !vault |\n        $ANSIBLE_VAULT;1.1;AES256\n        6162\n"
    )
    inventory = load_inventory(path)
    assert inventory.spec("h2") == HostSpec("h2", "ssh", "h2")
    with pytest.raises(InventoryError, match=r":4: h1: ansible_user: is encrypted with ansible-vault"):
        inventory.spec("h1")


def test_vault_in_json_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_text(
        json.dumps(
            {
                "_meta": {
                    "hostvars": {
                        "h1": {"ansible_port": 22},
                        "h2": {"ansible_user": {"__ansible_vault": "$ANSIBLE_VAULT;1.1;AES256\n61"}},
                        "h3": {"ansible_user": {"__ansible_unsafe": "deploy"}},
                    }
                },
                "all": {"children": ["web"]},
                "web": {"hosts": ["h1", "h2", "h3"]},
            },
            indent=4,
        )
    )
    inventory = load_inventory(path)
    assert inventory.spec("h3").user == "deploy"
    line = next(n for n, row in enumerate(path.read_text().split("\n"), 1) if '"ansible_user": {' in row)
    with pytest.raises(InventoryError, match=rf":{line}: h2: ansible_user: is encrypted"):
        inventory.spec("h2")


def test_passwords_are_not_even_kept(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("h1 ansible_password=hunter2 ansible_become_pass=hunter3\n")
    inventory = load_inventory(path)
    assert "hunter" not in repr(inventory.spec("h1"))
    assert [note.split(": ")[1].split(" ")[0] for note in inventory.notes] == [
        "ansible_password",
        "ansible_become_pass",
    ]
    assert not any("hunter" in note for note in inventory.notes)


def test_an_encrypted_group_vars_file_is_noted(tmp_path: Path) -> None:
    (tmp_path / "group_vars").mkdir()
    (tmp_path / "group_vars/all.yml").write_text("$ANSIBLE_VAULT;1.1;AES256\n6162\n")
    (tmp_path / "hosts").write_text("h1\n")
    inventory = load_inventory(tmp_path / "hosts")
    assert inventory.spec("h1").user is None
    assert inventory.notes == (
        f"{tmp_path}/group_vars/all.yml is encrypted with ansible-vault, so what it says is not known",
    )


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("inventory.py", "#!/usr/bin/env python3\nprint('{}')\n", ":1: is a program, which is not run"),
        ("aws.yml", "plugin: aws_ec2\nregions: [eu-west-1]\n", ":1: is a configuration for one of Ansible's"),
        ("hosts", "$ANSIBLE_VAULT;1.1;AES256\n61\n", ":1: is encrypted with ansible-vault"),
        ("hosts.json", '{"_meta": {"hostvars": {}},\n "all": }', ":2: is no JSON"),
        (
            "hosts.yml",
            "web:\n  host:\n    h1:\n",
            ":2: group 'web': 'host' is none of hosts, children, vars; did",
        ),
        ("hosts.yml", "web:\n  hosts:\n    - h1\n", ":2: the hosts of 'web' are NAME: lines"),
        ("hosts.yml", "web:\n  hosts:\n    h1: [a]\n", ":3: variables are NAME: VALUE lines"),
        ("hosts.yml", "web:\n  hosts:\n    h1:\n    h1:\n", ":4: h1: given twice; first in line 3"),
        ("hosts.yml", "web:\n\thosts:\n", ":2: a tab in the indentation"),
        ("hosts.yml", "web:\n  hosts:\n    'a b':\n", ":3: 'a b': a host's name has no blanks"),
        ("hosts.yml", "a: &x\n  children: &y\n    b: *x\n", "within what it stands for"),
    ],
)
def test_files_that_can_not_be_read(name: str, text: str, fault: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InventoryError) as caught:
        load_inventory(path)
    assert fault in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_aliases_that_grow_are_refused(tmp_path: Path) -> None:
    rows = ["a0: &a0 {vars: {x: [1, 2, 3, 4, 5, 6, 7, 8, 9]}}"]
    rows += [f"a{n}: &a{n} {{vars: {{x: [{', '.join([f'*a{n - 1}'] * 9)}]}}}}" for n in range(1, 9)]
    path = tmp_path / "hosts.yml"
    path.write_text("\n".join(rows) + "\n")
    with pytest.raises(InventoryError, match="stand for more than anyone can have meant"):
        load_inventory(path)


def test_a_host_called_local_would_never_be_reached(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("local ansible_host=192.0.2.1\nother\n")
    inventory = load_inventory(path)
    with pytest.raises(InventoryError, match="local: local is always this machine"):
        inventory.spec("local")
    path.write_text("local ansible_connection=local\n")
    assert load_inventory(path).spec("local") == HostSpec("local", "local")


def test_line_ends_of_three_systems(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    for end in ("\n", "\r\n", "\r"):
        path.write_bytes(
            end.join(["[web]", "h1 ansible_user=x", "\th2", "[web:vars]", "ansible_port=7"]).encode()
        )
        inventory = load_inventory(path)
        assert inventory.spec("h1") == HostSpec("h1", "ssh", "h1", user="x", port=7)
        assert list(inventory.groups["web"]) == ["h1", "h2"]


def test_what_a_program_prints_may_come_through_a_pipe(tmp_path: Path) -> None:
    read, write = os.pipe()
    with os.fdopen(write, "w") as file:
        file.write('{"web": {"hosts": ["h1"]}}')
    with os.fdopen(read):
        assert load_inventory(Path(f"/dev/fd/{read}")).names == ("h1",)
