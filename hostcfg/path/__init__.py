"""Two hosts and a link: which setting limits each direction, to how many bit/s, and what must change.

Pure: facts in, a report out.  ``analyse_path`` is the way in; ``to_json`` makes the document,
``compare_measured`` and ``live_evidence`` set a test that was run beside the prediction.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hostcfg.path.analysis import analyse_path
    from hostcfg.path.evidence import MeasuredEvidence, compare_measured
    from hostcfg.path.live import LiveEvidence, live_evidence
    from hostcfg.path.one_end import slower_sentence, throughput_sentence
    from hostcfg.path.report import Direction, HostFinding, HostNeed, Limit, PathReport, TestAdvice, to_json

__all__ = [
    "Direction",
    "HostFinding",
    "HostNeed",
    "Limit",
    "LiveEvidence",
    "MeasuredEvidence",
    "PathReport",
    "TestAdvice",
    "analyse_path",
    "compare_measured",
    "live_evidence",
    "slower_sentence",
    "throughput_sentence",
    "to_json",
]

_WHERE = {
    "Direction": "report",
    "HostFinding": "report",
    "HostNeed": "report",
    "Limit": "report",
    "LiveEvidence": "live",
    "MeasuredEvidence": "evidence",
    "PathReport": "report",
    "TestAdvice": "report",
    "analyse_path": "analysis",
    "compare_measured": "evidence",
    "live_evidence": "live",
    "slower_sentence": "one_end",
    "throughput_sentence": "one_end",
    "to_json": "report",
}
"""Where each public name stands; its module is imported when it is asked for (PEP 562)."""


def __getattr__(name: str) -> object:
    """A public name of this package, imported now."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
