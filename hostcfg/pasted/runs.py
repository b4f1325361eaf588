"""A text as runs: what was typed, and what came out of it.

Prompts cut best, and the command that was typed says what follows.
"""

from __future__ import annotations

from hostcfg.lean import dataclass
from hostcfg.pasted.noise import strip_noise
from hostcfg.pasted.prompts import commands_in
from hostcfg.pasted.scores import MAX_PARTS


@dataclass(frozen=True, slots=True)
class Run:
    """A typed command (None: none was seen) and the lines up to the next one."""

    command: str | None
    lines: tuple[str, ...]

    def text(self, *, transcript: bool) -> str:
        typed = [f"$ {self.command}"] if transcript and self.command else []
        return "\n".join([*typed, *self.lines]) + "\n"

    def all_lines(self) -> list[str]:
        """The command and the lines that are not blank."""
        return [line.strip() for line in (self.command or "", *self.lines) if line.strip()]


def runs_of(text: str, most: int = MAX_PARTS) -> list[Run]:
    """Cut at every prompt, ``most`` at most; a bare prompt ends what came before it."""
    lines = strip_noise(text)
    runs: list[Run] = []
    command: str | None = None
    body: list[str] = []
    for line, typed in zip(lines, commands_in(lines), strict=True):
        if typed is None or len(runs) >= most:
            body.append(line)
            continue
        runs.append(Run(command, tuple(body)))
        command, body = (typed or None), []
    runs.append(Run(command, tuple(body)))
    return [run for run in runs if run.command or any(line.strip() for line in run.lines)]
