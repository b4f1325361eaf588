"""Bars: one row of a stacked bar chart each, drawn by pygal as static SVG."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pygal
from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH, HEIGHT = 200, 14
"""Pixels; the style sheet may stretch them."""


def bar_svg(parts: Sequence[float]) -> Markup:
    """A bar of ``parts`` from the left, whose lengths are as their values to each other."""
    total = sum(parts)
    return _drawn(tuple(round(part / total, 4) if total else 0.0 for part in parts))


@lru_cache(maxsize=10_000)
def _drawn(shares: tuple[float, ...]) -> Markup:
    """Drawn once for all rows that look the same: pygal takes milliseconds for each."""
    chart = pygal.HorizontalStackedBar(
        width=WIDTH,
        height=HEIGHT,
        explicit_size=True,
        margin=0,
        spacing=0,
        range=(0, 1),
        show_legend=False,
        show_x_labels=False,
        show_y_labels=False,
        show_x_guides=False,
        show_y_guides=False,
        include_x_axis=False,
        no_prefix=True,
        css=[],
        js=[],
        disable_xml_declaration=True,
    )
    for number, share in enumerate(shares):
        chart.add(str(number), [share])
    chart.add_xml_filter(_only_bars)
    return Markup(chart.render(is_unicode=True))  # noqa: S704  # of numbers alone


def _only_bars(svg: ET.Element) -> ET.Element:
    """The rectangles, each of class ``part`` and its number; pygal's scripts, tool tips and styles go."""
    drawn = ET.Element("svg", {"viewBox": svg.attrib["viewBox"], "class": "chart", "aria-hidden": "true"})
    for series in svg.iterfind("./g/g[@class='plot']/g"):
        number = series.attrib["class"].rpartition("-")[2]
        for bar in series.iter("rect"):
            if "width" in bar.attrib:  # nothing has none
                numbers = {name: f"{float(bar.attrib[name]):.2f}" for name in ("x", "y", "width", "height")}
                drawn.append(ET.Element("rect", {"class": f"part part-{number}", **numbers}))
    return drawn
