"""What all SSH connections of a run share: configuration, known hosts, keys, agent, prompts."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from hostcfg.files import home_expanded
from hostcfg.transports.base import DEFAULT_LIMIT_BYTES, DEFAULT_TIMEOUT_S, Tell, tell_nobody
from hostcfg.transports.host_keys import HostKeyStore
from hostcfg.transports.keys import KeyRing
from hostcfg.transports.prompts import Prompts
from hostcfg.transports.ssh_config import SshConfig
from hostcfg.transports.ssh_connect import JumpPool
from hostcfg.transports.ssh_options import HostOptions, host_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.transports.destination import Destination

logging.getLogger("paramiko").addHandler(logging.NullHandler())  # else its tracebacks go to stderr

CONFIG_FILES = (Path("~/.ssh/config"), Path("/etc/ssh/ssh_config"))


class SshContext:
    """One per run, for hundreds of hosts in as many threads; each file is read once.

    ``timeout_s`` bounds each of connect, login and command of a host.  ``accept_new`` takes unknown
    host keys and writes them to known_hosts; a changed key is refused all the same.
    ``config_files`` are ssh_config(5) files, the one that wins first.  ``limit_bytes`` is the most
    that a command may print, ``tell`` is told what is done.  InputError if a configuration file is wrong.
    """

    def __init__(
        self,
        *,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        accept_new: bool = False,
        config_files: Sequence[Path] = CONFIG_FILES,
        prompts: Prompts | None = None,
        limit_bytes: int = DEFAULT_LIMIT_BYTES,
        tell: Tell = tell_nobody,
    ) -> None:
        logging.getLogger("paramiko").addHandler(
            logging.NullHandler()
        )  # its tracebacks are no user's business
        self.timeout_s = timeout_s
        self.accept_new = accept_new
        self.tell = tell
        self.limit_bytes = limit_bytes
        self.prompts = prompts if prompts is not None else Prompts()
        self.config = SshConfig([home_expanded(str(path)) for path in config_files])
        self.host_keys = HostKeyStore()
        self.keys = KeyRing(self.prompts, timeout_s)
        self.jumps = JumpPool()
        self._options: dict[Destination, HostOptions] = {}

    def options(self, destination: Destination) -> HostOptions:
        """What the configuration says of ``destination``; InputError with file and line."""
        found = self._options.get(destination)
        if found is None:
            found = self._options[destination] = host_options(self.config, destination)
        return found
