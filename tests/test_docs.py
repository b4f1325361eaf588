"""Every example of the README prints what the README says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.docs import README, Example, examples, normal, run

EXAMPLES = examples(README.read_text())


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 5


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.commands[0][:60])
def test_example(example: Example) -> None:
    if example.kind == "root" and os.geteuid() != 0:
        pytest.skip("needs root: a network namespace")
    printed = run(example)
    assert len(printed) == len(example.said)
    for command, now, said in zip(example.commands, printed, example.said, strict=True):
        assert normal(now) == normal(said), command


def test_the_library_example_runs(tmp_path: Path) -> None:
    import re

    (code,) = re.findall(r"^```python\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    place = Path.cwd()
    os.chdir(Path(__file__).parent / "fixtures" / "docs")
    try:
        exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
    finally:
        os.chdir(place)


def test_the_profile_of_the_readme_has_no_fault(tmp_path: Path) -> None:
    import re

    from hostcfg.profiles.check import check_profile

    (text,) = re.findall(r"^```yaml\n(name: .*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "own.yaml").write_text(text)
    assert check_profile(str(tmp_path / "own.yaml")) == []


def test_every_setting_is_in_the_table() -> None:
    from hostcfg.settings import SETTINGS

    text = README.read_text()
    assert [name for name in SETTINGS if f"| `{name}` |" not in text] == []
