"""Secrets, asked for once each in a run: key passphrases, login passwords, ``become`` passwords."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Ask = Callable[[str], str | None]


class Prompts:
    """The ways to get secrets; None where there is nobody to ask.  For many threads.

    ``passphrase`` is asked with the path of a key, ``password`` with ``user@host``, ``become`` with
    the host's name; each answers None to decline.  One question is on the screen at a time, and
    what was answered is not asked again.
    """

    def __init__(
        self, *, passphrase: Ask | None = None, password: Ask | None = None, become: Ask | None = None
    ) -> None:
        self.passphrase = _Asked(passphrase)
        self.password = _Asked(password)
        self.become = _Asked(become)


class _Asked:
    """One kind of secret, remembered by what it is for."""

    _on_screen = threading.Lock()

    def __init__(self, ask: Ask | None) -> None:
        self._ask = ask
        self._answers: dict[str, str | None] = {}

    @property
    def available(self) -> bool:
        """Whether there is anybody to ask."""
        return self._ask is not None

    def get(self, subject: str) -> str | None:
        """The secret for ``subject``; None: there is nobody to ask, or they declined."""
        if self._ask is None:
            return None
        with self._on_screen:
            if subject not in self._answers:
                self._answers[subject] = self._ask(subject)
            return self._answers[subject]

    def settle(self, subject: str) -> None:
        """Ask now, and take the answer for every subject: nobody answers two hundred questions."""
        if self._ask is not None:
            answer = self._ask(subject)
            self._ask = lambda _: answer

    def forget(self, subject: str) -> None:
        """Ask again next time: it was wrong."""
        with self._on_screen:
            self._answers.pop(subject, None)
