"""ssh_config(5): the same answers as ``ssh -G`` gives, and errors with file and line."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from hostcfg.errors import InputError
from hostcfg.transports.destination import parse_destination
from hostcfg.transports.ssh_config import SshConfig
from hostcfg.transports.ssh_options import HostOptions, host_options


def options(path: Path, text: str) -> HostOptions:
    return host_options(SshConfig([path]), parse_destination(text))


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o600)
    return path


def ssh_says(path: Path, text: str) -> dict[str, list[str]]:
    output = subprocess.run(["ssh", "-G", "-F", str(path), text], check=True, capture_output=True, text=True)
    said: dict[str, list[str]] = {}
    for line in output.stdout.splitlines():
        keyword, _, value = line.partition(" ")
        said.setdefault(keyword, []).append(value)
    return said


def home(name: str) -> str:
    """A file of the user's; OpenSSH asks the account for the home directory, where we take HOME."""
    account = pwd.getpwuid(os.getuid()).pw_dir
    if name.startswith(f"{account}/"):
        name = f"~/{name.removeprefix(account + '/')}"
    return str(Path(name).expanduser())


BASICS = """
# a comment
Host gw gw.example.org   # and one after a value
    HostName 192.0.2.1
    Port=2222
    User = "admin"
    IdentityFile ~/.ssh/gw_key
    IdentityFile "/keys/with blank/%h-%r"
    IdentitiesOnly yes
    UserKnownHostsFile /a/known /b/known
    StrictHostKeyChecking accept-new
    HostKeyAlias gateway
    ConnectTimeout 7
Host *.example.org !secret.example.org
    User wildcard
    ProxyJump admin@jump:2200,second
Host web?
    HostName %h.dc.example.org
    ProxyCommand nc -X 5 %h %p   # not a comment here
    Port 80
Host *
    User fallback
    IdentityFile /keys/all
    Port 22
    ConnectTimeout 9
"""

MATCHES = """
Match host 192.0.2.9 user root
    Port 9
Match originalhost far,near exec "true"
    Port 10
Match originalhost far exec "false"
    User nobody
Match originalhost alias
    HostName 192.0.2.9
    User root
Match final host 192.0.2.9
    HostKeyAlias final
Match !host far
    ConnectTimeout 3
Match all
    User everyone
"""


@pytest.mark.parametrize("config", [BASICS, MATCHES, ""])
@pytest.mark.parametrize(
    "host",
    [
        "gw",
        "gw.example.org",
        "a.example.org",
        "secret.example.org",
        "web1",
        "web10",
        "far",
        "near",
        "alias",
        "root@alias",
        "bob@gw",
        "192.0.2.9",
        "root@192.0.2.9",
    ],
)
def test_same_as_ssh(tmp_path: Path, config: str, host: str) -> None:
    path = write(tmp_path / "config", config)
    ours, theirs = options(path, host), ssh_says(path, host)
    assert ours.host_name == theirs["hostname"][0]
    assert ours.user == theirs["user"][0]
    assert str(ours.port) == theirs["port"][0]
    assert (ours.host_key_alias or "") == theirs.get("hostkeyalias", [""])[0]
    assert ours.strict.replace("yes", "true") == theirs["stricthostkeychecking"][0]
    assert ",".join(ours.proxy_jump) == theirs.get("proxyjump", [""])[0].replace("none", "")
    assert int(ours.connect_timeout_s or 0) == int(theirs["connecttimeout"][0].replace("none", "0"))
    assert ours.identities_only == (theirs["identitiesonly"][0] == "yes")
    assert ours.user_known_hosts == tuple(home(name) for name in theirs["userknownhostsfile"][0].split())
    if ours.identity_files_named:
        wanted = [
            name.replace("%h", ours.host_name).replace("%r", ours.user) for name in theirs["identityfile"]
        ]
        assert ours.identity_files == tuple(home(name) for name in wanted)


def test_proxy_command_takes_the_whole_line(tmp_path: Path) -> None:
    path = write(tmp_path / "config", BASICS)
    assert options(path, "web1").proxy_command == "nc -X 5 web1.dc.example.org 80   # not a comment here"


def test_first_of_jump_and_command_wins(tmp_path: Path) -> None:
    path = write(tmp_path / "config", "Host a\nProxyJump j\nProxyCommand nc %h %p\nHost *\nProxyJump none\n")
    assert (options(path, "a").proxy_jump, options(path, "a").proxy_command) == (("j",), None)
    assert (options(path, "b").proxy_jump, options(path, "b").proxy_command) == ((), None)


def test_include_keeps_its_condition(tmp_path: Path) -> None:
    write(tmp_path / "one.conf", "User one\nHost b\nPort 11\n")
    write(tmp_path / "two.conf", "Host a b\nPort 12\nMatch user one\nConnectTimeout 5\n")
    path = write(tmp_path / "config", "Host a\nInclude one.conf\nHost *\nInclude two.* missing.*\nPort 13\n")
    include = write(tmp_path / "absolute", path.read_text().replace("Include ", f"Include {tmp_path}/"))
    for host in ("a", "b", "c", "one@c"):
        ours, theirs = options(path, host), ssh_says(include, host)
        assert (ours.user, str(ours.port)) == (theirs["user"][0], theirs["port"][0]), host
        assert int(ours.connect_timeout_s or 0) == int(theirs["connecttimeout"][0].replace("none", "0")), host


def test_match_exec_runs_once_and_only_when_needed(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    path = write(
        tmp_path / "config",
        f'Match host a exec "echo %h >> {ran}"\nUser first\nMatch !exec "test %n = b"\nPort 7\n'
        f'Match exec "cat"\nConnectTimeout 8\n',  # would wait for ever if it read our input
    )
    config = SshConfig([path])
    a = host_options(config, parse_destination("a"))
    b = host_options(config, parse_destination("b"))
    host_options(config, parse_destination("root@a"))
    assert (a.user, a.port, a.connect_timeout_s) == ("first", 7, 8)
    assert (b.user == "first", b.port) == (False, 22)
    assert ran.read_text() == "a\n"


def test_a_loop_of_includes_ends(tmp_path: Path) -> None:
    path = write(tmp_path / "config", "Include config\n")
    with pytest.raises(InputError, match="nested too deeply"):
        SshConfig([path])


def test_match_localnetwork(tmp_path: Path) -> None:
    path = write(
        tmp_path / "config",
        "Match localnetwork 127.0.0.0/8\nPort 1\nMatch localnetwork 240.0.0.0/8\nUser elsewhere\n"
        "Match !localnetwork 240.0.0.0/8\nConnectTimeout 4\n",
    )
    found = options(path, "x")
    assert found.port == 1
    assert found.user != "elsewhere"
    assert found.connect_timeout_s == 4


def test_tokens_variables_and_homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYS", "/var/keys")
    path = write(
        tmp_path / "config",
        "Host n\nHostName h.example\nUser u\nPort 5\nHostKeyAlias k\nIdentityFile ${KEYS}/%%-%h-%n-%p-%r-%k\n"
        "CertificateFile /c/one\nCertificateFile /c/two\nIdentityAgent ~/agent\n",
    )
    found = options(path, "n")
    assert found.identity_files == ("/var/keys/%-h.example-n-5-u-k",)
    assert found.certificate_files == ("/c/one", "/c/two")
    assert found.agent == home("~/agent")


def test_a_named_key_stands_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "config", "IdentityFile /keys/other\n")
    found = host_options(SshConfig([path]), parse_destination("x", key="/keys/mine"))
    assert found.identity_files == ("/keys/mine",)
    assert found.identities_only


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("Host\n", 1, "a keyword and a value"),
        ("\nPort\n", 2, "a keyword and a value"),
        ('Host a\nIdentityFile "/unclosed\n', 2, "quote is not closed"),
        ("Match version x\n", 1, "criterion 'version'"),
        ("Host x\nTag work\nMatch tagged work\nPort 1\n", 2, "does not follow tags"),
        ("Match host\n", 1, "needs a value"),
        ("Match localnetwork nonsense\n", 1, "nonsense"),
        ("StrictHostKeyChecking maybe\n", 1, "yes, ask, accept-new or no"),
        ("IdentitiesOnly maybe\n", 1, "yes or no"),
        ("ConnectTimeout soon\n", 1, "a time above zero"),
        ("IdentityFile /x/%z\n", 1, "unknown token %z"),
        ("IdentityFile ${HOSTCFG_UNSET}/x\n", 1, "no HOSTCFG_UNSET"),
        ("UserKnownHostsFile ~no-such-user-here/x\n", 1, "no such user"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    path = write(tmp_path / "config", text)
    with pytest.raises(InputError) as caught:
        options(path, "x")
    assert (caught.value.path, caught.value.line) == (str(path), line)
    assert words in str(caught.value)


def test_a_bad_port_names_the_host(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="x: ssh configuration: Port 'ssh' is no port"):
        options(write(tmp_path / "config", "Port ssh\n"), "x")


def test_a_file_that_others_can_write_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "config", "Port 22\n")
    path.chmod(0o666)
    with pytest.raises(InputError, match="bad owner or permissions"):
        SshConfig([path])


def test_criteria_of_newer_versions_that_are_the_same_for_all_hosts(tmp_path: Path) -> None:
    text = (
        "Match tagged work\n Port 1\n"
        "Match sessiontype shell\n Port 2\n"
        "Match !tagged work sessiontype exec\n Port 3\n"
    )
    assert options(write(tmp_path / "tag", "Host *\n Tag unused\n Port 4\n"), "x").port == 4
    assert options(write(tmp_path / "config", text), "x").port == 3


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_file_that_never_ends_or_never_begins_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config", 0o600)
    with pytest.raises(InputError, match="nobody wrote to it"):
        SshConfig([tmp_path / "config"])
    zero = tmp_path / "zero"
    zero.touch(0o600)
    with zero.open("r+b") as file:
        file.truncate(65 << 20)
    with pytest.raises(InputError, match="larger than 64 MiB"):
        SshConfig([zero])


def test_a_user_without_a_name_or_a_home_is_told_what_to_set(tmp_path: Path) -> None:
    """As in a container that runs under a number."""
    if getattr(os, "geteuid", lambda: 1)() != 0:
        pytest.skip("needs root, to become nobody in particular")
    program = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from hostcfg.errors import InputError\n"
        "from hostcfg.transports.destination import parse_destination\n"
        "from hostcfg.transports.ssh_context import SshContext\n"
        "os.setuid(54321)\n"
        "for name in ('LOGNAME', 'USER', 'LNAME', 'USERNAME', 'HOME'): os.environ.pop(name, None)\n"
        "for files in ([], [Path('~/.ssh/config')]):\n"
        "    try: SshContext(config_files=files).options(parse_destination('x'))\n"
        "    except InputError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "the user who runs this has no name here: set LOGNAME to one",
        "~/.ssh/config: no home directory is known: set HOME",
    ]


def test_no_file_says_nothing(tmp_path: Path) -> None:
    found = options(tmp_path / "missing", "x")
    assert (found.host_name, found.port, found.proxy_jump) == ("x", 22, ())


def test_each_of_two_hundred_blocks_is_its_hosts(tmp_path: Path) -> None:
    blocks = "".join(
        f"Host h{n}\nHostName 192.0.2.{n % 250}\nUser u{n}\nIdentityFile /k/{n}\n" for n in range(200)
    )
    config = SshConfig([write(tmp_path / "config", blocks + "Host *\nConnectTimeout 5\n")])
    for number in range(200):
        assert host_options(config, parse_destination(f"h{number}")).user == f"u{number}"


@pytest.mark.parametrize(
    "everybody",
    [
        "Host *\n  User ops\n  Port 2222\n",
        "Host *\n  HostName %h.example.net\n  User ops\n",
        "Host *\n  User ops\nMatch host b*\n  Port 99\n",
        "Host * !b1\n  User ops\n",
    ],
)
def test_what_holds_for_all_is_each_hosts_own(tmp_path: Path, everybody: str) -> None:
    path = write(tmp_path / "config", f"Host a2\n  Port 7\n  HostName 192.0.2.2\n{everybody}")
    config = SshConfig([path])
    for destination in ("a1", "b1", "a2", "root@a1", "a1", "b2:77", "192.0.2.9"):
        alone = host_options(SshConfig([path]), parse_destination(destination))
        assert host_options(config, parse_destination(destination)) == alone
        assert alone.host_name.startswith("192.0.2.") or destination.split("@")[-1][:2] in alone.host_name
