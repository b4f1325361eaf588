"""The grammar of cmd.exe: operators, blocks, ``if`` and ``for``, carets, quotes, redirections."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_DELIMITERS = " \t,;="


class Incomplete(Exception):
    """A block is not closed yet: the next line belongs to it."""


@dataclass
class Redirection:
    """``2>>file``; source 0 reads."""

    source: int
    target: str
    append: bool = False


@dataclass
class Simple:
    """One command; carets are gone, quotes stay."""

    text: str
    redirections: list[Redirection] = field(default_factory=list)


@dataclass
class Block:
    """What stands in parentheses, or a sequence."""

    nodes: list[Node]
    redirections: list[Redirection] = field(default_factory=list)


@dataclass
class Joined:
    """``left && right``."""

    operator: str
    left: Node
    right: Node


@dataclass
class If:
    """``words`` is the condition, word by word."""

    words: list[str]
    then: Node
    otherwise: Node | None = None


@dataclass
class For:
    """``switch`` is empty, l or f."""

    switch: str
    options: str
    variable: str
    items: str
    body: Node


Node = Simple | Block | Joined | If | For


def parse(text: str) -> Node:
    """The tree of a whole line or of several that belong together."""
    reader = _Reader(text)
    nodes = reader.sequence(depth=0, one_line=False)
    return nodes[0] if len(nodes) == 1 else Block(nodes)


def split_words(text: str) -> list[str]:
    """Arguments: blanks, commas, semicolons and equals signs separate them outside quotes."""
    return re.findall(r'(?:[^\s,;="]|"[^"]*")+', text)


@dataclass
class _Reader:
    text: str
    at: int = 0

    def blanks(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in _DELIMITERS:
            self.at += 1

    def peek(self, words: str) -> bool:
        return self.text.startswith(words, self.at)

    def word(self, name: str) -> bool:
        """Take ``name`` if it is the next word."""
        self.blanks()
        found = re.compile(rf"{name}(?=[\s(/]|$)", re.IGNORECASE).match(self.text, self.at)
        if found is None:
            return False
        self.at = found.end()
        return True

    def sequence(self, *, depth: int, one_line: bool) -> list[Node]:
        nodes: list[Node] = []
        while True:
            while self.at < len(self.text) and self.text[self.at] in " \t&\n":
                if self.text[self.at] == "\n" and one_line:
                    return nodes
                self.at += 1
            if self.at >= len(self.text):
                if depth and not one_line:
                    raise Incomplete
                return nodes
            if depth and self.peek(")"):
                return nodes
            nodes.append(self.either(depth))

    def either(self, depth: int) -> Node:
        node = self.both(depth)
        while self._operator("||"):
            node = Joined("||", node, self.both(depth))
        return node

    def both(self, depth: int) -> Node:
        node = self.pipe(depth)
        while self._operator("&&"):
            node = Joined("&&", node, self.pipe(depth))
        return node

    def pipe(self, depth: int) -> Node:
        node = self.unit(depth)
        while not self.peek("||") and self._operator("|"):
            node = Joined("|", node, self.unit(depth))
        return node

    def _operator(self, words: str) -> bool:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1
        if not self.peek(words):
            return False
        self.at += len(words)
        return True

    def unit(self, depth: int) -> Node:
        self.blanks()
        if self.peek("@"):
            self.at += 1
        if self.peek("("):
            self.at += 1
            nodes = self.sequence(depth=depth + 1, one_line=False)
            if not self.peek(")"):
                raise Incomplete
            self.at += 1
            return Block(nodes, self.trailing())
        if self.word("if"):
            return self.condition(depth)
        if self.word("for"):
            return self.loop(depth)
        return self.simple(depth)

    def trailing(self) -> list[Redirection]:
        found: list[Redirection] = []
        while True:
            match = re.compile(r"[ \t]*(\d?)(>>|>|<)").match(self.text, self.at)
            if match is None:
                return found
            self.at = match.end()
            found.append(self._move(match[1], match[2]))

    def _move(self, digit: str, sign: str) -> Redirection:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1
        if self.peek("&"):
            self.at += 2
            target = self.text[self.at - 2 : self.at]
        else:
            target = self.token("&|<>()\n")
        default = "0" if sign == "<" else "1"
        return Redirection(int(digit or default), target, append=sign == ">>")

    def token(self, ends: str) -> str:
        """Up to an unescaped blank or one of ``ends``; carets and quotes as everywhere."""
        done, quoted = "", False
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == '"':
                quoted = not quoted
            elif not quoted and char == "^":
                self.at += 1
                char = self.text[self.at : self.at + 1]
                done += char
                self.at += 1
                continue
            elif not quoted and (char in _DELIMITERS or char in ends):
                break
            done += char
            self.at += 1
        return done

    def simple(self, depth: int) -> Simple:
        text, moves, quoted = "", [], False
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "\n" or (not quoted and (char in "&|" or (depth and char == ")"))):
                break
            if quoted or char not in "^<>":
                quoted ^= char == '"'
                text += char
                self.at += 1
            elif char == "^":
                text += self.text[self.at + 1 : self.at + 2]
                self.at += 2
            else:
                sign = ">>" if self.peek(">>") else char
                digit = re.search(r"(?:^|[\s,;=])([0-9])$", text)
                self.at += len(sign)
                text = text[:-1] if digit else text
                moves.append(self._move(digit[1] if digit else "", sign))
        return Simple(text, moves)

    def body(self, depth: int) -> Node:
        """A block by itself, or all of the line."""
        self.blanks()
        if self.peek("("):
            return self.unit(depth)
        nodes = self.sequence(depth=depth, one_line=True)
        return nodes[0] if len(nodes) == 1 else Block(nodes)

    def condition(self, depth: int) -> If:
        words = [name for name in ("/i", "not", "/i") if self.word(name)]
        self.blanks()
        for name in ("exist", "defined", "errorlevel"):
            if self.word(name):
                self.blanks()
                words += [name, self.token("&|<>()\n")]
                break
        else:
            words.append(self.token("&|<>()\n"))
            if self.peek("=="):
                self.at += 2
                words.append("==")
            else:
                self.blanks()
                words.append(self.token("&|<>()\n").lower())
            self.blanks()
            words.append(self.token("&|<>()\n"))
        then = self.body(depth)
        otherwise = self.body(depth) if isinstance(then, Block) and self.word("else") else None
        return If(words, then, otherwise)

    def loop(self, depth: int) -> For:
        self.blanks()
        switch = options = ""
        if self.peek("/"):
            switch = self.text[self.at + 1].lower()
            self.at += 2
            self.blanks()
            options = "" if self.peek("%") else self.token("%\n")
            self.blanks()
        variable = self.text[self.at + 1]
        self.at += 2
        assert self.word("in"), self.text
        self.blanks()
        assert self.peek("("), self.text
        self.at += 1
        items = ""
        while not self.peek(")"):
            if self.peek("^"):
                self.at += 1
            items += self.text[self.at]
            self.at += 1
        self.at += 1
        assert self.word("do"), self.text
        return For(switch, options, variable, items, self.body(depth))
