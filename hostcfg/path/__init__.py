"""Two hosts and a link: which setting limits each direction, to how many bit/s, and what must change.

Pure: facts in, a report out.  ``analyse_path`` is the way in; ``to_json`` makes the document,
``compare_measured`` and ``live_evidence`` set a test that was run beside the prediction.
"""

from hostcfg.path.analysis import analyse_path
from hostcfg.path.evidence import LiveEvidence, MeasuredEvidence, compare_measured, live_evidence
from hostcfg.path.one_end import throughput_sentence
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
    "throughput_sentence",
    "to_json",
]
