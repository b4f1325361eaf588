"""The words behind a socket in ``ss -i``: ``cubic wscale:7,7 rtt:0.329/0.315 send 352.1Mbps app_limited``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.platforms.linux.parsers.text import number

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostcfg.model import Json

_FLAGS = frozenset({"ts", "sack", "ecn", "ecnseen", "fastopen", "app_limited", "cork"})
_RATES = frozenset({"send", "pacing_rate", "delivery_rate", "max_pacing_rate"})
_RATE = regex(r"(?P<number>[0-9]{1,20})(?:\.(?P<part>[0-9]{1,9}))?(?P<prefix>[KMGT]?)bps")
_SCALE = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_WORD = regex(r"[a-z][\w-]{1,30}")
_FIELD = regex(r"(?P<name>[a-z][\w-]{0,30}):(?P<value>[^\s:()]{1,64}(?:\([0-9.]{1,8}%\))?)")
_SKMEM = regex(r"skmem:\((?P<list>[a-z0-9,]{1,200})\)")
_LIMITED = regex(r"(?P<ms>[0-9]{1,15})ms(?:\((?P<percent>[0-9]{1,3}(?:\.[0-9]{1,3})?)%\))?")
_TIMES = regex(r"(?P<first>[0-9]{1,12}(?:\.[0-9]{1,9})?)/(?P<second>[0-9]{1,12}(?:\.[0-9]{1,9})?)")
_DECIMAL = regex(r"[0-9]{1,15}(?:\.[0-9]{1,9})?")
_NUMBERS = (
    "mss pmtu rcvmss advmss cwnd ssthresh bytes_sent bytes_retrans bytes_acked bytes_received segs_out "
    "segs_in data_segs_out data_segs_in delivered delivered_ce unacked lost sacked "
    "fackets reordering reord_seen dsack_dups rcv_space rcv_ssthresh notsent snd_wnd rcv_wnd backoff "
    "rcv_ooopack ino rehash"
)
_COUNTS = frozenset(_NUMBERS.split())


def info_of(details: str) -> tuple[dict[str, Json], dict[str, str]]:
    """Typed values of the words that are known, and the text of every ``name:value``.

    Rates are in bit/s (``_bps``), times in ms (``_ms``), windows and buffers in bytes.
    """
    info: dict[str, Json] = {}
    texts: dict[str, str] = {}
    words = details.split()
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if word in _FLAGS:
            info[word] = True
        elif word in _RATES:
            rate = _rate(words[index]) if index < len(words) else None
            if rate is not None:
                info[f"{word}_bps" if word == "send" else word.replace("_rate", "_bps")] = rate
                index += 1
        elif word.startswith("skmem:("):
            info |= _skmem(word)
        elif (found := _FIELD.fullmatch(word)) is not None:
            _field(found["name"], found["value"], info, texts)
        elif _WORD.fullmatch(word) and "congestion_control" not in info and _is_algorithm(words[index:]):
            info["congestion_control"] = word
    return info, texts


def _is_algorithm(following: list[str]) -> bool:
    """The algorithm is the bare word in front of the window scale, or of the first timer without one."""
    return bool(following) and following[0].startswith(("wscale:", "rto:", "backoff:", "rtt:"))


def _field(name: str, value: str, info: dict[str, Json], texts: dict[str, str]) -> None:
    typed: Json = None
    key, reader = _READERS.get(name, (name, number if name in _COUNTS else None))
    if reader is not None:
        typed = reader(value)
        if typed is not None and name not in texts:
            info[key] = typed
            texts[name] = value


def _pair(value: str) -> Json:
    parts = [number(part) for part in value.split(",")]
    return [part for part in parts if part is not None] if len(parts) == 2 and None not in parts else None


def _times(value: str) -> Json:
    found = _TIMES.fullmatch(value)
    return [float(found["first"]), float(found["second"])] if found is not None else None


def _decimal(value: str) -> Json:
    return float(value) if _DECIMAL.fullmatch(value) else None


def _limited(value: str) -> Json:
    found = _LIMITED.fullmatch(value)
    return int(found["ms"]) if found is not None else None


def _retrans(value: str) -> Json:
    parts = [number(part) for part in value.split("/")]
    return [part for part in parts if part is not None] if None not in parts and len(parts) == 2 else None


def _text(value: str) -> Json:
    return value


_READERS: dict[str, tuple[str, Callable[[str], Json]]] = {
    "wscale": ("wscale", _pair),
    "rtt": ("rtt_ms", _times),
    "minrtt": ("minrtt_ms", _decimal),
    "rcv_rtt": ("rcv_rtt_ms", _decimal),
    "lastsnd": ("lastsnd_ms", number),
    "lastrcv": ("lastrcv_ms", number),
    "lastack": ("lastack_ms", number),
    "rto": ("rto_ms", _decimal),
    "ato": ("ato_ms", _decimal),
    "busy": ("busy_ms", _limited),
    "rwnd_limited": ("rwnd_limited_ms", _limited),
    "sndbuf_limited": ("sndbuf_limited_ms", _limited),
    "retrans": ("retrans", _retrans),
    "sk": ("sk", _text),
}


def _rate(text: str) -> int | None:
    """``352.1Mbps`` -> 352100000, in exact arithmetic."""
    found = _RATE.fullmatch(text)
    if found is None:
        return None
    part = found["part"] or ""
    scaled: int = int(found["number"] + part) * _SCALE[found["prefix"]]
    return scaled // int(f"1{'0' * len(part)}")


def _skmem(word: str) -> dict[str, Json]:
    """``skmem:(r0,rb367360,t0,tb87040,...)``: ``rb`` and ``tb`` are the receive and send buffer in bytes."""
    found = _SKMEM.fullmatch(word)
    if found is None:
        return {}
    memory: dict[str, Json] = {}
    for item in found["list"].split(","):
        name = item.rstrip("0123456789")
        value = number(item[len(name) :])
        if name and value is not None:
            memory[name] = value
    return {"skmem": memory}
