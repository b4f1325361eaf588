"""``-o html`` through the program: what it prints, its exit codes, and what it says where it can't."""

from __future__ import annotations

import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from tests.e2e.program import Ran, hostcfg

DOCS = Path(__file__).parents[1] / "fixtures" / "docs"
LINK = ("--rate", "100mbit", "--rtt", "12ms")


def run(*arguments: str) -> Ran:
    return hostcfg(*arguments, "-o", "html", cwd=DOCS)


def text_of(page: str) -> str:
    """What a page says, without its style, script and tags."""
    body = re.sub(r"<(style|script)>.*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<(?!i>|/i>|wbr>)[^>]*>", " ", body)).split())


def check_page(page: str) -> None:
    """One document that stands alone."""
    assert page.startswith("<!DOCTYPE html>\n")
    assert page.endswith("</html>\n")
    assert page.isascii()
    assert re.search(r"(src|href|action)\s*=|url\(|@import|https?:", page) is None
    assert page.count("<script>") == page.count("<style>") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "title"),
    [
        (("show", "file:lon-1.txt"), 0, "TCP settings of 1 host"),
        (
            ("diff", "file:lon-1.txt", "file:bri-1.txt", "-p", "wan", *LINK),
            1,
            "2 hosts against the profile wan",
        ),
        (("diff", "file:lon-1.txt", "file:lon-1.txt"), 0, "file:lon-1.txt and file:lon-1.txt"),
        (("diff", "file:lon-1.txt", "file:bri-1.txt"), 1, "file:lon-1.txt and file:bri-1.txt"),
        (("path", "file:lon-1.txt", "file:bri-1.txt", *LINK), 1, "lon-1 &lt;-&gt; bri-1"),
        (("show", "file:lon-1.txt", "file:no-such.txt"), 2, "TCP settings of 2 hosts"),
    ],
)
def test_a_page_and_the_same_exit_code(arguments: tuple[str, ...], code: int, title: str) -> None:
    ran = run(*arguments)
    assert ran.code == code
    check_page(ran.stdout)
    assert f"<title>{title}</title>" in ran.stdout


def test_what_could_not_be_read_is_named_with_its_kind() -> None:
    ran = run("diff", "file:lon-1.txt", "file:no-such.txt", "-p", "wan", *LINK)
    assert ran.code == 2
    assert len(ran.stderr.splitlines()) == 1
    said = text_of(ran.stdout)
    assert "1 could not be read 1 differs from wan" in said
    assert "file:no-such.txt input no-such.txt: can't be read: No such file or directory" in said


def test_it_counts_as_the_document_does() -> None:
    targets = [f"file:{name}.txt" for name in ("lon-1", "bri-1", "fileserver", "office-pc")]
    call = ("diff", *targets, "-p", "lan", "--rate", "1gbit", "--rtt", "250us")
    document = hostcfg(*call, "-o", "json", cwd=DOCS).document
    page = run(*call).stdout
    differ = sum(host["status"] == "differs" for host in document["hosts"])
    assert f"<b>{differ}</b> differ from lan" in page
    drifts = sum(len(host["differences"]) for host in document["hosts"])
    assert page.count('<td class="n d"') == drifts > 0


def test_few_hosts_have_all_their_details() -> None:
    said = text_of(run("diff", "file:bri-1.txt", "-p", "wan", *LINK).stdout)
    assert "One connection:" in said
    assert "net.ipv4.tcp_rmem" in said
    assert "the window must hold the 150,000 bytes in flight" in said


def test_groups_are_those_of_the_inventory(tmp_path: Path) -> None:
    (tmp_path / "fleet.yaml").write_text(
        "hosts:\n"
        "  lon-1: {address: 127.0.0.1, port: 1}\n"
        "  sin-1: {address: 127.0.0.1, port: 1}\n"
        "groups: {edge: [lon-1], empty: []}\n"
    )
    ran = hostcfg("show", "-i", tmp_path / "fleet.yaml", "*", "-o", "html", home=tmp_path)
    assert ran.code == 2
    assert re.findall(r'<option value="\d">([^<]*)</option>', ran.stdout) == ["edge", "could not be read"]
    rows = re.findall(r'data-s="0" data-g="(\d?)"><th scope="row">([^<]*)</th><td class="error">', ran.stdout)
    assert sorted(rows) == [("", "sin-1"), ("0", "lon-1")]
    assert "unreachable" in ran.stdout


def test_every_path_of_an_inventory_and_those_that_failed(tmp_path: Path) -> None:
    ends = f"from: 'file:{DOCS}/lon-1.txt', to: 'file:{{}}', rate: 100mbit, rtt: 12ms"
    good, bad = ends.format(DOCS / "bri-1.txt"), ends.format(tmp_path / "none.txt")
    (tmp_path / "fleet.yaml").write_text(f"hosts: {{}}\npaths:\n  - {{{good}}}\n  - {{{bad}}}\n")
    ran = hostcfg("path", "-i", tmp_path / "fleet.yaml", "--all", "-o", "html")
    assert ran.code == 2
    check_page(ran.stdout)
    said = text_of(ran.stdout)
    assert "1 path could not be analysed 1 direction limited by a setting 1 direction not limited" in said
    assert "lon-1 -> bri-1 100 Mbit/s x 12 ms BDP 150,000 bytes 20.3 Mbit/s 21.2%" in said
    document = hostcfg("path", "-i", tmp_path / "fleet.yaml", "--all", "-o", "json").document
    (failed,) = document["failed"]
    assert failed["to"] == f"file:{tmp_path}/none.txt"
    assert failed["error"]["kind"] == "input"
    assert len(document["paths"]) == 1


WITHOUT = """
import sys
sys.modules.update(dict.fromkeys(sys.argv.pop(1).split()))  # None: import says that there is no such module
from hostcfg.cli import main
main()
"""


@pytest.mark.parametrize("missing", ["jinja2", "pygal", "jinja2 pygal"])
def test_without_the_extra_it_says_what_to_install(missing: str) -> None:
    call = [sys.executable, "-c", WITHOUT, missing, "show", "file:no-such.txt", "-o", "html"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"hostcfg: -o html needs {missing.replace(' ', ' and ')}: pip install 'hostcfg[report]' "
        "(in a checkout: sh setup.sh report)\n"
    )


@pytest.mark.parametrize("command", ["parse", "plan", "history"])
def test_other_commands_have_no_page(command: str) -> None:
    ran = hostcfg(command, "-o", "html")
    assert ran.code == 2
    assert "'html' is not one of" in ran.stderr
