"""What a user gives a profile: inputs, and a link or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hostcfg.errors import UnitError, UsageError

from .own import row, targets

if TYPE_CHECKING:
    from pathlib import Path


INPUTS = f"""
inputs:
  streams: {{type: count, default: 2, min: 1, max: 8, meaning: m}}
  guard: {{type: choice, default: send, choices: [send, both], meaning: m}}
  wan_rtt: {{type: time, min: 1ms, meaning: m}}
  spare: {{type: size, default: 64KiB, meaning: m}}
  slack: {{type: ratio, default: 10%, meaning: m}}
  floor: {{type: rate, default: 1mbit, meaning: m}}
settings:
  recv_buffer_max:
{row("at_least", "ceil(bdp / streams * (1 + slack)) + spare")}
notes:
  - text: at {{wan_rtt|time}} that is {{bdp / streams * 8 / wan_rtt|rate}}, {{slack|ratio}} of {{floor|rate}}
  - text: both ends
    when: guard == 'both'
  - text: no wan_rtt
    when: default(wan_rtt, 0) == 0
"""


def test_inputs_have_defaults_and_notes_speak_of_what_is_given(tmp_path: Path) -> None:
    found = targets(tmp_path, INPUTS)
    assert found.targets[0].value == 550_000 + 65_536
    assert found.notes == ("no wan_rtt",)
    given = {"streams": "4", "guard": "both", "wan_rtt": "40ms", "spare": "1K"}
    found = targets(tmp_path, INPUTS, inputs=given)
    assert found.targets[0].value == 275_000 + 1024
    assert found.notes == ("at 40 ms that is 50 Mbit/s, 10% of 1 Mbit/s", "both ends")


@pytest.mark.parametrize(
    ("inputs", "error", "says"),
    [
        ({"stream": "2"}, UsageError, "profile own has no input 'stream'; did you mean 'streams'?"),
        ({"streams": "0"}, UnitError, "streams: '0' is below 1, the least"),
        ({"streams": "9"}, UnitError, "streams: '9' is above 8, the most"),
        ({"streams": "many"}, UnitError, "streams: 'many' is no count"),
        ({"guard": "recv"}, UnitError, "guard: 'recv' is none of send, both"),
        ({"wan_rtt": "40"}, UnitError, "wan_rtt: '40' has no unit"),
        ({"wan_rtt": "100us"}, UnitError, "wan_rtt: '100us' is below 1 ms, the least"),
        ({"slack": "0.1"}, UnitError, "slack: '0.1' could be a percentage"),
    ],
)
def test_a_wrong_input_is_one_line(
    tmp_path: Path, inputs: dict[str, str], error: type[Exception], says: str
) -> None:
    with pytest.raises(error) as caught:
        targets(tmp_path, INPUTS, inputs=inputs)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_profile_that_needs_a_link_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        targets(tmp_path, f"settings:\n  recv_buffer_max:\n{row('at_least', '2 * bdp')}", link=None)
    assert str(caught.value) == (
        "profile own needs a rate and an RTT; add for instance --rate 100mbit --rtt 80ms"
    )


def test_a_profile_that_can_do_without_a_link_does(tmp_path: Path) -> None:
    text = f"""
settings:
  recv_buffer_max:
{row("at_most", "default(bdp, 64KiB)")}
notes:
  - text: only with a link, {{rtt_s|time}}
  - text: always
"""
    assert targets(tmp_path, text).notes == ("only with a link, 80 ms", "always")
    without = targets(tmp_path, text, link=None)
    assert without.targets[0].value == 65_536
    assert without.notes == ("always",)
