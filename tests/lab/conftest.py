"""The lab's tests: alone on the machine, on User-Mode Linux where it boots, else in namespaces."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from tests.lab.lab import Backend, Lab, LabError, missing
from tests.lab.measuring import Bench
from tests.lab.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_BACKENDS: tuple[Backend, Backend] = ("uml", "netns")
_LONG = "long form: sh tests/run.sh -m lab --long"
_no_such: dict[Backend, str] = {}
"""Why a backend does not come up on this machine, found out once."""
_FIRST = Shape.of("200mbit", "80ms")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    asked = "lab" in str(config.getoption("-m"))
    shared = os.environ.get("PYTEST_XDIST_WORKER") is not None
    reason = "" if asked and not shared else "measures time, so it runs alone: sh tests/run.sh -m lab"
    for item in items:
        if item.get_closest_marker("lab") is None:
            continue
        is_long = isinstance(item, pytest.Function) and getattr(item.module, "LONG", False)
        too_long = _LONG if is_long and not config.getoption("--long") else ""
        if why := reason or too_long or missing():
            item.add_marker(pytest.mark.skip(reason=why))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Long form: everything on both backends; short form: on one, the best that this machine has."""
    if "bench" in metafunc.fixturenames:
        backends = _BACKENDS if metafunc.config.getoption("--long") else ("best",)
        metafunc.parametrize("running", backends, indirect=True, scope="module")


@pytest.fixture(scope="module")
def running(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Lab, Backend]]:
    """A lab that is up, and of which kind it is."""
    state: Path = tmp_path_factory.mktemp("lab")
    state.parent.chmod(0o755)
    wanted = _BACKENDS if request.param == "best" else (request.param,)
    for backend in wanted:
        if backend in _no_such:
            continue
        with Lab(state / backend, ends_with_us=True) as lab:
            try:
                lab.up(_FIRST, backend)
            except LabError as error:
                _no_such[backend] = str(error)
                print(f"lab: no {backend} here: {error}", file=sys.stderr)
                continue
            yield lab, backend
            return
    pytest.skip("; ".join(f"{backend}: {_no_such[backend]}" for backend in wanted))


@pytest.fixture
def bench(running: tuple[Lab, Backend], request: pytest.FixtureRequest) -> Bench:
    """Both hosts and what can be measured between them."""
    lab, backend = running
    return Bench(lab, backend, long=bool(request.config.getoption("--long")))
