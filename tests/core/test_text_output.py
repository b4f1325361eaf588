"""Blocks on a terminal and in a pipe: widths, colour, and names that the locale has no bytes for."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from hostcfg.outputs.blocks import Code, Column, Heading, Paragraph, Row, Table
from hostcfg.outputs.markdown import to_markdown
from hostcfg.outputs.serialize import to_json, to_yaml
from hostcfg.outputs.text import make_console, print_blocks

if TYPE_CHECKING:
    from hostcfg.model import Json

BLOCKS = (
    Heading("bü日本.txt", "Linux", "good"),
    Paragraph("one \x1b[31m sentence " * 12, "warning", "warning"),
    Table(
        (Column("Setting", fixed=True), Column("Value", right=True)),
        [Row(("recv_buffer_max", "6" * 90), "d" * 200)],
    ),
)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    stream = io.StringIO()
    console = make_console(stream)
    console.width = width
    print_blocks(BLOCKS, console)
    lines = stream.getvalue().splitlines()
    assert max(map(cell_len, lines)) <= width
    assert not any(line.endswith(" ") for line in lines)
    assert "\x1b" not in stream.getvalue()  # neither colour in a pipe nor what a host says


def test_what_the_locale_can_not_write_is_shown_as_an_escape() -> None:
    data = io.BytesIO()
    stream = io.TextIOWrapper(data, encoding="ascii")
    print_blocks(BLOCKS[:1], make_console(stream))
    stream.flush()
    assert data.getvalue() == b"b\\xfc\\u65e5\\u672c.txt  Linux\n"


@pytest.mark.parametrize(("setting", "coloured"), [(None, True), ("", True), ("1", False)])
def test_colour_on_a_terminal_unless_no_color_says_something(setting: str | None, coloured: bool) -> None:
    """no-color.org: set, and not the empty string."""
    code = (
        "from hostcfg.outputs.blocks import Heading\n"
        "from hostcfg.outputs.text import make_console, print_blocks\n"
        "print_blocks([Heading('x', '', 'good')], make_console())"
    )
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm-256color"}
    if setting is not None:
        env["NO_COLOR"] = setting
    ours, theirs = pty.openpty()
    done = subprocess.Popen([sys.executable, "-c", code], stdout=theirs, env=env)
    assert done.wait(60) == 0
    os.close(theirs)
    shown = os.read(ours, 4096)
    os.close(ours)
    assert (b"\x1b[" in shown) is coloured


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a_b *c* `d` [e](f) <g>", "a\\_b \\*c\\* \\`d\\` \\[e\\](f) \\<g\\>"),
        ("&lt;b&gt; | #1 ~x~", "\\&lt;b\\&gt; \\| \\#1 \\~x\\~"),
        ("- item", "\\- item"),
        ("+1", "\\+1"),
        ("---", "\\---"),
        ("1. first", "1\\. first"),
        ("12) x", "12\\) x"),
        ("10 Mbit/s, 3.5 s - all", "10 Mbit/s, 3.5 s - all"),
        ("8.8.8.8", "8.8.8.8"),
        ("two\nlines", "two lines"),
    ],
)
def test_text_in_markdown_shows_as_itself(text: str, written: str) -> None:
    assert to_markdown([Paragraph(text)]) == f"{written}\n"
    cell = Table((Column("-"),), [Row(("= 1",))])
    assert to_markdown([cell]) == "| - |\n| --- |\n| = 1 |\n"  # a cell opens no line


def drawn(table: Table) -> str:
    stream = io.StringIO()
    print_blocks([table], make_console(stream))
    return stream.getvalue()


LONG_KEY = "net.ipv4.tcp_available_congestion_control"


def test_a_key_without_room_in_its_line_stands_below_it() -> None:
    """28 + 2 + 16 + 2 leave 30 of the 78 columns."""
    rows = [
        Row(("congestion_control_available", "reno cubic bbr dctcp htcp westwood", LONG_KEY)),
        Row(("send_not_sent_lowat", "4294967295 bytes", "net.ipv4.tcp_notsent_lowat")),
        Row(("mtu_probing", "on", "k" * 31), "why"),
        Row(("sack", "on", "k" * 30)),
    ]
    columns = (Column("Setting", fixed=True), Column("Value", right=True), Column("Native key", below=True))
    assert drawn(Table(columns, rows)) == (
        "  Setting                                  Value  Native key\n"
        "  congestion_control_available    reno cubic bbr\n"
        f"{'dctcp htcp':>48}\n"
        f"{'westwood':>48}\n"
        f"      {LONG_KEY}\n"
        "  send_not_sent_lowat           4294967295 bytes  net.ipv4.tcp_notsent_lowat\n"
        "  mtu_probing                                 on\n"
        f"      {'k' * 31}: why\n"
        f"  sack                                        on  {'k' * 30}\n"
    )


@pytest.mark.parametrize("values", [("4096 131072 6291456", "4096 65536 65536"), ("v" * 60, "w" * 60)])
def test_no_key_is_broken_while_another_column_can_give_way(values: tuple[str, str]) -> None:
    columns = (
        Column("Native key", fixed=True),
        Column("file:/srv/far-end/london-1.txt", right=True),
        Column("file:/srv/far-end/bristol-1.txt", right=True),
    )
    text = drawn(Table(columns, [Row((LONG_KEY, *values))]))
    assert LONG_KEY in text
    assert max(map(len, text.splitlines())) <= 80


def test_half_a_surrogate_pair_is_an_escape_in_json_and_yaml() -> None:
    document: Json = {"taken": "\ud800", "rows": [{"\udfff": "é"}]}
    for indent in (None, 2):
        text = to_json(document, indent=indent)
        assert "\\ud800" in text
        assert json.loads(text.encode()) == document
    assert "\\ud800" in to_yaml(document).encode().decode().lower()


def test_no_control_character_reaches_the_terminal_in_markdown() -> None:
    text = to_markdown([Heading("\x1b[31m\n", "\x9b"), Paragraph("\u202e\ud800"), Code("a\x1b]0;x\x07")])
    assert all(c.isprintable() or c == "\n" for c in text)
    assert text.startswith("### \\\\x1b\\[31m")
