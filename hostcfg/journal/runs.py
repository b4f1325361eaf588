"""A run as the journal keeps it: JSON in one column, since nothing is ever looked for inside it."""

from __future__ import annotations

import json

from hostcfg.changes import Fault, Run, RunState


def dump_run(run: Run) -> str:
    """Everything but the state, which has a column of its own."""
    return json.dumps(
        {
            "batches": [list(batch) for batch in run.batches],
            "reach": {name: dict(reach) for name, reach in run.reach.items()},
            "options": dict(run.options),
            "unchanged": list(run.unchanged),
            "faults": {name: [fault.kind, fault.message] for name, fault in run.faults.items()},
        },
        ensure_ascii=False,
    )


def load_run(text: str, state: RunState) -> Run:
    """The run that :func:`dump_run` wrote."""
    found = json.loads(text)
    return Run(
        batches=tuple(tuple(batch) for batch in found["batches"]),
        reach=found["reach"],
        options=found["options"],
        unchanged=tuple(found["unchanged"]),
        faults={name: Fault(kind, message) for name, (kind, message) in found["faults"].items()},
        state=state,
    )
