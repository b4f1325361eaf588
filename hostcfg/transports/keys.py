"""All keys of one run: files and the agent, each read once, and which of them to try for a host."""

from __future__ import annotations

import copy
import threading
import time
from typing import TYPE_CHECKING

import paramiko

from hostcfg.lean import dataclass
from hostcfg.transports.agent import LIST_S, AgentKey, ask_agent
from hostcfg.transports.identities import Certificate, Identity, read_certificate, read_identity, unlock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hostcfg.transports.prompts import Prompts
    from hostcfg.transports.ssh_options import HostOptions


@dataclass(frozen=True, slots=True)
class Candidate:
    """A key to offer; ``label`` names it in messages."""

    label: str
    key: paramiko.PKey


class KeyRing:
    """Files and agents of one run, shared by all hosts and threads."""

    def __init__(self, prompts: Prompts, timeout_s: float = LIST_S) -> None:
        """``timeout_s``: how long an agent may take to list its keys, if that is less than LIST_S."""
        self._prompts = prompts
        self._list_s = min(LIST_S, timeout_s)
        self._identities: dict[str, Identity | None] = {}
        self._certificates: dict[str, Certificate | None] = {}
        self._agents: dict[str, tuple[AgentKey, ...]] = {}
        self._lock = threading.Lock()

    def candidates(self, options: HostOptions, notes: list[str]) -> Iterator[Candidate]:
        """Keys for a host, the likeliest first; ``notes`` collects why others were left out.

        The order: agent keys that a named file stands for, named files, other agent keys, files in
        the usual places, and last those that need a passphrase (ssh asks the server first; this
        asks the user only when nothing else worked).  Certificates go before their plain key.
        """
        identities = self._identities_of(options, notes)
        agent = self._agent_keys(options, notes)
        certificates = self._certificates_of(options, notes)
        wanted = {identity.public for identity in identities if identity.public is not None}
        ready = [i for i in identities if i.key is not None]
        named, usual = (ready, []) if options.identity_files_named else ([], ready)
        others = [] if options.identities_only else [key for key in agent if key.blob not in wanted]
        offered: set[bytes] = set()
        for key in agent:
            if key.blob in wanted:
                offered.add(key.blob)
                yield from _from_agent(key, certificates)
        yield from self._from_files(named, certificates, offered)
        for key in others:
            yield from _from_agent(key, certificates)
        yield from self._from_files(usual, certificates, offered)
        yield from self._from_locked(options, identities, certificates, offered, notes)

    def _from_files(
        self, identities: Sequence[Identity], certificates: Sequence[Certificate], offered: set[bytes]
    ) -> Iterator[Candidate]:
        for identity in identities:
            if identity.key is not None and identity.public not in offered:
                for certificate in certificates:
                    if certificate.public == identity.public:
                        certified = copy.copy(identity.key)
                        certified.load_certificate(paramiko.Message(certificate.blob))
                        yield Candidate(certificate.path, certified)
                yield Candidate(identity.path, identity.key)

    def _from_locked(
        self,
        options: HostOptions,
        identities: Sequence[Identity],
        certificates: Sequence[Certificate],
        offered: set[bytes],
        notes: list[str],
    ) -> Iterator[Candidate]:
        for identity in identities:
            if not identity.encrypted or identity.public in offered:
                continue
            if identity.private is None or identity.key is not None:
                continue
            if not options.ask or not self._prompts.passphrase.available:
                notes.append(
                    f"{identity.path} is encrypted: put it into ssh-agent, or let hostcfg ask for it"
                )
            elif unlock(identity, self._prompts) is None:
                notes.append(f"{identity.path} {identity.problem}")
            else:
                yield from self._from_files([identity], certificates, offered)

    def _identities_of(self, options: HostOptions, notes: list[str]) -> list[Identity]:
        found: list[Identity] = []
        for path in options.identity_files:
            with self._lock:
                if path not in self._identities:
                    self._identities[path] = read_identity(path)
                identity = self._identities[path]
            if identity is not None:
                found.append(identity)
                if identity.problem and options.identity_files_named:
                    notes.append(f"{path} {identity.problem}")
            elif options.identity_files_named:
                notes.append(f"{path} does not exist")
        return found

    def _certificates_of(self, options: HostOptions, notes: list[str]) -> list[Certificate]:
        found: list[Certificate] = []
        for path in (*options.certificate_files, *(f"{name}-cert.pub" for name in options.identity_files)):
            with self._lock:
                if path not in self._certificates:
                    self._certificates[path] = read_certificate(path)
                certificate = self._certificates[path]
            if certificate is not None:
                found.append(certificate)
                if problem := certificate.problem(time.time()):  # of which the host says nothing
                    notes.append(f"{path} {problem}")
        return found

    def _agent_keys(self, options: HostOptions, notes: list[str]) -> tuple[AgentKey, ...]:
        if options.agent is None:
            return ()
        with self._lock:
            if options.agent not in self._agents:
                self._agents[options.agent] = ()
                try:
                    self._agents[options.agent] = ask_agent(options.agent, self._list_s)
                except (OSError, paramiko.SSHException) as error:
                    notes.append(f"ssh-agent {options.agent}: {error}")
            return self._agents[options.agent]


def _from_agent(key: AgentKey, certificates: Sequence[Certificate]) -> Iterator[Candidate]:
    label = f"agent key {key.comment or key.name}"
    for certificate in certificates:
        if certificate.public == key.blob:
            yield Candidate(f"{label} with {certificate.path}", key.certified(certificate.blob))
    yield Candidate(label, key)
