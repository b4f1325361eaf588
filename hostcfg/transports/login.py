"""Logging in: which keys and passwords are tried in which order, and what a failure says."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import paramiko

from hostcfg.errors import HostError
from hostcfg.transports.ssh_errors import translated
from hostcfg.transports.words import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hostcfg.transports.keys import Candidate, KeyRing
    from hostcfg.transports.prompts import Prompts
    from hostcfg.transports.ssh_session import Session

    Step = Callable[[], list[str]]
    """One request; the methods that are still wanted after it (none: logged in)."""

_BUDGET_BYTES = 1 << 20


def log_in(session: Session, keys: KeyRing, prompts: Prompts, limit_s: float) -> str:
    """Log in within ``limit_s``, for which time that a person takes to answer does not count.

    What was accepted is returned, in words.
    HostError ``auth`` that says what was tried and what the server accepts; ``timeout``.
    """
    login = _Login(session, keys, prompts, limit_s)
    login.run()
    return login.tried[-1] if login.tried else "no proof at all"


class _Login:
    def __init__(self, session: Session, keys: KeyRing, prompts: Prompts, limit_s: float) -> None:
        self.session = session
        self.transport = session.transport
        self.options = session.options
        self.keys = keys
        self.prompts = prompts
        self.limit_s = limit_s
        self.left_s = limit_s
        self.notes: list[str] = []
        self.tried: list[str] = []
        self.methods: Sequence[str] = ()  # what the server accepts, once it has said so
        self.partly = False  # a key was accepted and the server wants more

    def run(self) -> None:
        if "publickey" in self.options.methods:
            for candidate in self.keys.candidates(self.options, self.notes):
                if self._try_key(candidate):
                    return
                if self.partly or (self.methods and "publickey" not in self.methods):
                    break
        if not self._try_password():
            raise self._refused()

    def _step(self, step: Step) -> bool:
        """Whether one request logged us in; it counts against the time limit."""
        began = time.monotonic()
        self.session.wire.limit(self.left_s, _BUDGET_BYTES)
        self.transport.auth_timeout = self.left_s + 5  # the wire ends it first
        try:
            with translated(self.session.attempt("login", self.limit_s)):
                try:
                    still_wanted = step()
                except paramiko.AuthenticationException:
                    if not self.transport.is_active():
                        raise
                    still_wanted = None
        except HostError as error:
            if error.kind == "auth":
                raise self._cut_off(error) from error
            raise
        finally:
            self.session.wire.limit(None, None)
            self.left_s -= time.monotonic() - began
        handler = self.transport.auth_handler
        self.methods = getattr(handler, "methods", ())
        self.partly = self.partly or bool(still_wanted)
        return still_wanted is not None and not still_wanted

    def _try_key(self, candidate: Candidate) -> bool:
        def step() -> list[str]:
            if "rsa" in candidate.key.get_name():  # its signature algorithm depends on the server
                self.transport.await_service()
            try:
                return self.transport.auth_publickey(self.options.user, candidate.key)
            except paramiko.AuthenticationException:
                raise
            except (paramiko.SSHException, OSError) as error:
                if not self.transport.is_active():
                    raise
                self.notes.append(f"{candidate.label} can't sign: {error}")  # an agent's key that is locked
                raise paramiko.AuthenticationException from error

        self.tried.append(candidate.label)
        return self._step(step)

    def _try_password(self) -> bool:
        wanted = [m for m in ("password", "keyboard-interactive") if m in self.options.methods]
        if not wanted:
            return False
        user = self.options.user
        if not self.methods and self._step(lambda: self.transport.auth_none(user)):
            return True  # the server wants no proof at all
        method = next((m for m in wanted if m in self.methods), None)
        if method is None:
            return False
        subject = f"{user}@{self.options.host_name}"
        password = self.prompts.password.get(subject) if self.options.ask else None
        if password is None:
            self.notes.append("a password would do, and none was given (--ask-pass)")
            return False
        self.tried.append("the password")
        if method == "password":
            accepted = self._step(lambda: self.transport.auth_password(user, password, fallback=False))
        else:
            answers = _Answers(password, self.notes)
            accepted = self._step(lambda: self.transport.auth_interactive(user, answers))
        if not accepted:
            self.prompts.password.forget(subject)
        return accepted

    def _refused(self) -> HostError:
        text = f"no login as {self.options.user}"
        text += f": the host does not accept {', '.join(self.tried)}" if self.tried else ": no key to offer"
        if self.partly:
            text = f"the login as {self.options.user} needs more than a key"
        if self.methods:
            text += f"; it takes {printable(', '.join(self.methods))}"
        return HostError("auth", _with_notes(text, self.notes), host=self.session.host)

    def _cut_off(self, error: HostError) -> HostError:
        """The server hung up in the middle."""
        text = error.message
        if len(self.tried) > 1:
            text = (
                f"the host ended the login after {len(self.tried)} tries ({', '.join(self.tried)});"
                " name the right key with IdentityFile and set IdentitiesOnly yes"
            )
        return HostError("auth", _with_notes(text, self.notes), host=self.session.host)


class _Answers:
    """Answers a keyboard-interactive server: the password, once, to its one hidden question (RFC 4256)."""

    def __init__(self, password: str, notes: list[str]) -> None:
        self._password: str | None = password
        self._notes = notes

    def __call__(self, title: str, instructions: str, prompts: list[tuple[str, bool]]) -> list[str]:
        del title, instructions
        if len(prompts) == 1 and not prompts[0][1] and self._password is not None:
            answer, self._password = self._password, None
            return [answer]
        for prompt, _ in prompts:
            self._notes.append(f"it asks {printable(prompt, 60)!r}, which hostcfg can't answer")
        return ["" for _ in prompts]


def _with_notes(text: str, notes: Sequence[str]) -> str:
    return "; ".join(dict.fromkeys([text, *notes]))
