"""Which of hostcfg's lines the next boot of Linux follows: its loader replayed with our file in it.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.platforms.linux.accepts import same_value
from hostcfg.platforms.linux.boot import BootLoader, ConfFile, resolve
from hostcfg.platforms.linux.host import read_conf, read_host
from hostcfg.platforms.linux.wording import shown
from hostcfg.platforms.linux.write import PERSIST_PATH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hostcfg.model import BootValue, Facts
    from hostcfg.platforms.linux.boot import Boot


def lost_at_boot(
    facts: Facts, values: Mapping[str, str], contents: Callable[[bytes | None], bytes]
) -> dict[str, str] | None:
    """Key -> why the next boot does not set it to its raw value; None where nobody looked at how it boots.

    ``contents`` makes hostcfg's file as it will be from what it is now.
    """
    texts = [section.text for section in facts.sections if section.kind == "linux-host"]
    if not texts:
        return None
    host = read_host(texts[0])
    files = _with_ours(facts, contents)
    if host.loader is not None:
        boot = resolve(files, host.loader, facts.native.keys())
        winners = _others(boot, values)
        return {key: _why(boot, winner, host.loader.name) for key, winner in winners.items()}
    init = shown(host.init or "not known")
    nobody = (
        f"nothing is seen here that loads sysctl files at boot (process 1 is {init}): "
        f"{PERSIST_PATH} takes effect by `sysctl --system` alone"
    )
    there = _others(resolve(files, BootLoader("procps", host.procps), facts.native.keys()), values)
    return {key: nobody + _and_there(there.get(key)) for key in values}


def _with_ours(facts: Facts, contents: Callable[[bytes | None], bytes]) -> Sequence[ConfFile]:
    confs = [section.text for section in facts.sections if section.kind == "linux-conf"]
    files = {file.path: file for text in confs for file in read_conf(text)}
    now = files[PERSIST_PATH].text if PERSIST_PATH in files else None
    made = contents(None if now is None else now.encode("utf-8", "replace"))
    return [*(files | {PERSIST_PATH: ConfFile(PERSIST_PATH, made.decode("utf-8", "replace"))}).values()]


def _others(boot: Boot, values: Mapping[str, str]) -> dict[str, BootValue | None]:
    """What the keys get that do not get their value: from another file, or from none (None)."""
    found = {key: boot.values.get(key) for key in values}
    return {
        key: value
        for key, value in found.items()
        if value is None or not same_value(key, value.raw, values[key])
    }


def _why(boot: Boot, winner: BootValue | None, loader: str) -> str:
    if winner is not None:
        return f"{winner.path}:{winner.line} wins over {PERSIST_PATH} at boot; change or remove that line"
    why = dict(boot.ignored).get(PERSIST_PATH, f"{loader} takes it from no file: a line excludes it")
    return f"{why} ({PERSIST_PATH})"


def _and_there(winner: BootValue | None) -> str:
    if winner is None:
        return ""
    return f", where {winner.path}:{winner.line} wins over it; change or remove that line"
