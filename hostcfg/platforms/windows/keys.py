"""How netsh's parameters carry the neutral settings, by what this host is.

Native keys are netsh's own words: ``global.autotuninglevel``, ``supplemental.internet.icw``,
``heuristics.wsh``.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hostcfg.lean import dataclass
from hostcfg.platforms.base import Key
from hostcfg.platforms.windows.domains import PACING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostcfg.model import Value

LEVEL_WINDOW_BYTES = {
    "disabled": 65535,
    "highlyrestricted": 262_144,
    "restricted": 1_048_576,
    "normal": 16_777_216,
    "experimental": 1_073_741_824,
}
"""Largest receive window of each autotuning level: 64 KiB shifted by the level's scale factor.

Scale factors none, 2, 4, 8 and 14 (Microsoft, "Performance tuning network adapters"); RFC 7323 2.3.
"""

LEVEL_KEY = "global.autotuninglevel"
BUILD_8 = 9200  # Windows 8, Server 2012: templates (supplemental) begin
BUILD_CUBIC = 16299  # Windows 10 1709: CUBIC becomes the default provider
BUILD_BBR2 = 22621  # Windows 11 22H2
_FIRST_BUILD = {
    "slow_start_after_idle": BUILD_8,
    "initial_window": BUILD_8,
    "initial_rto": BUILD_8,
    "fast_open": 14393,
    "pacing": 15063,
}
"""First build that has a setting at all; the others are there from Vista on."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What decides which key carries a setting.

    ``build`` may be the first build of the era that a complete table's rows show.
    """

    build: int | None = None
    server: bool | None = None
    template: str = "internet"
    global_provider: bool = False  # before templates: the provider is a global parameter


def provider_key(situation: Situation) -> str:
    """The key that carries the congestion control of new connections."""
    if situation.global_provider:
        return "global.congestionprovider"
    return f"supplemental.{situation.template}.congestionprovider"


def settings_keys(situation: Situation) -> Mapping[str, Key]:
    """Neutral setting -> key; what is missing here Windows does not have."""
    template = f"supplemental.{situation.template}"
    keys = {
        "recv_buffer_max": Key(LEVEL_KEY, window_of_level, level_for_window),
        "recv_autotuning": Key(LEVEL_KEY, _level_is_on, _level_switched),
        "window_scaling": Key(LEVEL_KEY, _level_is_on, _level_switched),
        "timestamps": Key("global.timestamps", _timestamps, _switched),
        "ecn": Key("global.ecncapability", _ecn, _ecn_word),
        "congestion_control": Key(
            provider_key(situation), partial(algorithm, situation=situation), provider_word
        ),
        "slow_start_after_idle": Key(f"{template}.enablecwndrestart", _switch, _switched),
        "initial_window": Key(f"{template}.icw", _number, _text),
        "initial_rto": Key("global.initialrto", _number, _text),
        "pacing": Key("global.pacingprofile", _pacing, _text),
        "window_scaling_heuristics": Key("heuristics.wsh", _switch, _switched),
        "fast_open": Key("global.fastopen", _fast_open, _fast_open_word),
    }
    build = situation.build
    return {n: k for n, k in keys.items() if build is None or build >= _FIRST_BUILD.get(n, 0)}


def window_of_level(raw: str) -> int:
    """Largest window in bytes of an autotuning level; ValueError for a word that is none."""
    return LEVEL_WINDOW_BYTES[_known(raw, LEVEL_WINDOW_BYTES)]


def level_for_window(current: str, wanted: Value) -> str:
    """The smallest level whose window carries ``wanted`` bytes; the largest where none does."""
    del current
    for level, window_bytes in LEVEL_WINDOW_BYTES.items():
        if window_bytes >= _as_int(wanted):
            return level
    return "experimental"


def _level_is_on(raw: str) -> bool:
    return _known(raw, LEVEL_WINDOW_BYTES) != "disabled"


def _level_switched(current: str, wanted: Value) -> str:
    if not wanted:
        return "disabled"
    level = current.strip().lower()
    return level if level in LEVEL_WINDOW_BYTES and level != "disabled" else "normal"


def algorithm(raw: str, *, situation: Situation) -> str:
    """The algorithm that a provider's word stands for on this host; ValueError if nobody can know.

    ``none`` is standard New Reno; ``default`` is CUBIC from Windows 10 1709 on (New Reno in the
    compat template), before that Compound TCP on servers and New Reno on clients.
    """
    word = raw.strip().lower()
    if word == "none":
        return "newreno"
    if word != "default":
        return _known(word, ("newreno", "ctcp", "dctcp", "ledbat", "cubic", "bbr2"))
    if situation.template == "compat":
        return "newreno"
    if situation.build is not None and situation.build >= BUILD_CUBIC:
        return "cubic"
    if situation.build is None or situation.server is None:
        raise ValueError("what the default provider is depends on the release and edition")
    return "ctcp" if situation.server else "newreno"


def provider_word(current: str, wanted: Value) -> str:
    """netsh's word for an algorithm."""
    del current
    word = _text("", wanted).lower()
    return "none" if word in {"newreno", "reno"} else word


def available_algorithms(situation: Situation) -> tuple[str, ...] | None:
    """Algorithms that netsh takes on this build, best known first; None if the build is not known."""
    if situation.build is None:
        return None
    if situation.build < BUILD_8:
        return ("ctcp", "newreno")
    newer = ("cubic",) if situation.build >= BUILD_CUBIC else ()
    newest = ("bbr2",) if situation.build >= BUILD_BBR2 else ()
    return (*newer, "ctcp", "dctcp", "newreno", *newest)


def _known(raw: str, known: Mapping[str, object] | tuple[str, ...]) -> str:
    word = raw.strip().lower()
    if word not in known:
        raise ValueError(f"{raw!r} is not one of {', '.join(known)}")
    return word


def _switch(raw: str) -> bool:
    return _known(raw, ("enabled", "disabled")) == "enabled"


def _switched(current: str, wanted: Value) -> str:
    del current
    return "enabled" if wanted else "disabled"


def _timestamps(raw: str) -> bool:
    """``allowed`` counts as on: the option is in use whenever the other end asks for it."""
    return _known(raw, ("enabled", "disabled", "allowed")) != "disabled"


def _ecn(raw: str) -> str:
    return "on" if _switch(raw) else "off"


def _ecn_word(current: str, wanted: Value) -> str:
    """Windows can only ask and accept or do neither; ``accept`` keeps what is there."""
    if wanted == "accept":
        return current.strip()
    return "enabled" if wanted == "on" else "disabled"


def _fast_open(raw: str) -> str:
    return "on" if _switch(raw) else "off"


def _fast_open_word(current: str, wanted: Value) -> str:
    del current
    return "disabled" if wanted == "off" else "enabled"


def _pacing(raw: str) -> str:
    return _known(raw, PACING)


def _number(raw: str) -> int:
    if not raw.strip().isascii() or not raw.strip().isdigit():
        raise ValueError(f"{raw!r} is no number")
    return int(raw)


def _text(current: str, wanted: Value) -> str:
    del current
    if isinstance(wanted, tuple):
        raise ValueError("a netsh parameter takes one word")
    return str(wanted)


def _as_int(wanted: Value) -> float:
    if isinstance(wanted, bool) or not isinstance(wanted, (int, float)):
        raise ValueError(f"{wanted!r} is no number of bytes")
    return wanted
