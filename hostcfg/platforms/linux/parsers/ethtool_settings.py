"""The lines of plain ``ethtool DEVICE``: speed, duplex, and everything else as text.

Sample::

    Settings for eth0:
            Supported link modes:   10baseT/Half 10baseT/Full
                                    1000baseT/Full
            Speed: 1000Mb/s
            Duplex: Full
            Link detected: yes
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hostcfg.lean import regex

if TYPE_CHECKING:
    from hostcfg.model import Json

_LINE = regex(r"(?P<name>[A-Z][\w /()-]{1,60}):[ \t]*(?P<value>.*)")
_SPEED = regex(r"(?P<mbps>[1-9][0-9]{0,7})Mb/s")
# SPEED_UNKNOWN (-1) as unsigned 16 and 32 bit numbers, as old releases print it.
_NO_SPEED = frozenset({"65535Mb/s", "4294967295Mb/s"})
_MODES = regex(r"(?:\w{1,40}/(?:Half|Full) *)+")
# What goes on over several lines, and how such a line looks.
_GOES_ON = {
    "supported_link_modes": _MODES,
    "advertised_link_modes": _MODES,
    "link_partner_advertised_link_modes": _MODES,
    "current_message_level": regex(r"[a-z_]{1,20}(?: [a-z_]{1,20}){0,20}"),
}


def settings_line(values: dict[str, Json], last: str, stripped: str) -> tuple[dict[str, Json] | None, str]:
    """What one line sets, and the name that lines after it may go on with; None: it is not understood.

    ``last`` is the name that the line before set: link modes go on over several lines, and are joined
    in ``values``.  ``speed_bps`` is in bit/s; it and ``duplex`` are None while the link is down or virtual.
    """
    found = _LINE.fullmatch(stripped)
    if found is None:
        earlier = values.get(last)
        form = _GOES_ON.get(last)
        if form is None or not isinstance(earlier, str) or not form.fullmatch(stripped):
            return None, ""
        values[last] = f"{earlier} {stripped}"
        return {}, last
    name = re.sub(r"[^a-z0-9]+", "_", found["name"].lower()).strip("_")
    value = found["value"].strip()
    if name == "speed":
        return _speed(value), ""
    return {name: None if value.startswith("Unknown!") else value}, name


def _speed(value: str) -> dict[str, Json] | None:
    found = _SPEED.fullmatch(value)
    if value.startswith("Unknown") or value in _NO_SPEED:
        return {"speed_bps": None}
    return None if found is None else {"speed_bps": int(found["mbps"]) * 1_000_000}
