"""hostcfg.lean's value classes behave as the standard library's do; its patterns as compiled ones."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
import pickle
import pkgutil
import re
from dataclasses import FrozenInstanceError, field
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

import hostcfg
from hostcfg.lean import dataclass, lean_dataclass, regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def make(decorate: Callable[[type[Any]], type[Any]]) -> type[Any]:
    """The same class by one of the two decorators, so that only the decorator can differ."""

    class Value:
        """A value."""

        a: int
        b: str = "two"
        c: list[int] = field(default_factory=list)
        KIND: ClassVar[str] = "none of the fields"

        @property
        def double(self) -> int:
            return 2 * self.a

    Value.__qualname__ = "Value"
    return decorate(Value)


@pytest.fixture(params=["lean", "standard"])
def frozen(request: pytest.FixtureRequest) -> type[Any]:
    decorator = lean_dataclass if request.param == "lean" else dataclasses.dataclass
    return make(decorator(frozen=True, slots=True))


@pytest.fixture(params=["lean", "standard"])
def mutable(request: pytest.FixtureRequest) -> type[Any]:
    decorator = lean_dataclass if request.param == "lean" else dataclasses.dataclass
    return make(decorator(slots=True))


def test_arguments_by_place_and_by_name(frozen: type[Any]) -> None:
    assert frozen(1) == frozen(a=1, b="two", c=[])
    assert frozen(1, "x", [3]) == frozen(1, c=[3], b="x")
    assert repr(frozen(1, "x", [3])) == "Value(a=1, b='x', c=[3])"
    assert frozen(4).double == 8
    assert frozen.KIND == "none of the fields"
    assert frozen.__doc__ == "A value."


def test_each_instance_has_its_own_default(mutable: type[Any]) -> None:
    one, other = mutable(1), mutable(1)
    one.c.append(5)
    assert other.c == []
    assert one != other


@pytest.mark.parametrize(
    ("args", "given"),
    [((), {}), ((1, "x", [], 4), {}), ((1,), {"a": 2}), ((1,), {"d": 2}), ((), {"b": "x"})],
    ids=["none", "too many", "twice", "unknown", "missing"],
)
def test_wrong_arguments_are_a_type_error(
    frozen: type[Any], args: tuple[object, ...], given: dict[str, object]
) -> None:
    with pytest.raises(TypeError):
        frozen(*args, **given)


def test_equality_is_by_class_and_value(frozen: type[Any]) -> None:
    twin = make(lean_dataclass(frozen=True, slots=True))
    assert frozen(1) != twin(1)
    assert frozen(1) != (1, "two", [])
    assert frozen(1, c=()) == frozen(1, c=())
    assert len({frozen(1, c=()), frozen(1, c=()), frozen(2, c=())}) == 2


def test_frozen_refuses_every_change(frozen: type[Any]) -> None:
    value = frozen(1)
    with pytest.raises(FrozenInstanceError):
        value.a = 2
    with pytest.raises(FrozenInstanceError):
        del value.a
    with pytest.raises((FrozenInstanceError, TypeError, AttributeError)):
        value.unknown = 2
    assert value.a == 1
    assert not hasattr(value, "__dict__")


def test_mutable_takes_changes_and_has_no_hash(mutable: type[Any]) -> None:
    value = mutable(1)
    value.a = 2
    assert value == mutable(2)
    with pytest.raises(AttributeError):
        value.unknown = 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(value)


def test_the_tools_of_dataclasses_take_it(frozen: type[Any]) -> None:
    value = frozen(1, "x", [3])
    assert [f.name for f in dataclasses.fields(value)] == ["a", "b", "c"]
    assert dataclasses.replace(value, b="y") == frozen(1, "y", [3])
    assert dataclasses.asdict(value) == {"a": 1, "b": "x", "c": [3]}
    assert dataclasses.astuple(value) == (1, "x", [3])
    assert frozen.__match_args__ == ("a", "b", "c")
    assert list(inspect.signature(frozen).parameters) == ["a", "b", "c"]


@dataclass(frozen=True, slots=True)
class Pair:
    """One that pickle finds by its name."""

    left: Any
    right: Any = None


@dataclass(frozen=True, slots=True)
class Nothing:
    """No field at all."""


def test_copies() -> None:
    pair = Pair([1], Pair("x"))
    assert copy.copy(pair) == pair
    deep = copy.deepcopy(pair)
    assert deep == pair
    assert deep.left is not pair.left
    assert pickle.loads(pickle.dumps(pair)) == pair
    assert Nothing() == Nothing()
    assert hash(Nothing()) == hash(Nothing())


def test_a_secret_field_and_a_base_class_get_the_original() -> None:
    @dataclass(frozen=True, slots=True)
    class Key:
        name: str
        private: str = field(default="", repr=False)

    assert repr(Key("a", "secret")).endswith("Key(name='a')")

    @dataclass(frozen=True, slots=True)
    class Named(Pair):
        name: str = ""

    assert Named(1, 2, "x") == Named(left=1, right=2, name="x")
    assert dataclasses.replace(Named(1), name="y").name == "y"


def test_a_method_of_the_class_stays() -> None:
    @dataclass(frozen=True, slots=True)
    class Shown:
        text: str

        def __repr__(self) -> str:
            return self.text

    assert repr(Shown("as it is")) == "as it is"


def test_a_pattern_works_as_a_compiled_one() -> None:
    late, compiled = (
        regex(r"(?P<word>[a-z]+)", re.IGNORECASE),
        re.compile(r"(?P<word>[a-z]+)", re.IGNORECASE),
    )
    found = late.search("12 Ab")
    assert found is not None
    assert found["word"] == "Ab"
    assert late.sub("x", "12 Ab c") == compiled.sub("x", "12 Ab c") == "12 x x"
    assert late.pattern == compiled.pattern
    assert late.groupindex == compiled.groupindex
    assert list(map(late.fullmatch, ["1"])) == [None]


def test_a_faulty_pattern_is_an_error_at_its_first_use() -> None:
    late = regex("(")
    with pytest.raises(re.error):
        late.search("x")


def late_patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Every late pattern that a module of hostcfg has under a name."""
    for module in pkgutil.walk_packages(hostcfg.__path__, "hostcfg."):
        if module.name.endswith("__main__"):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if type(value) is type(regex("")):
                yield f"{module.name}.{name}", value


def test_every_late_pattern_of_the_package_compiles() -> None:
    for name, late in late_patterns():
        assert late.groups >= 0, name


def test_the_thousandth_instance_is_made_as_the_first(frozen: type[Any]) -> None:
    for number in range(1000):
        one = frozen(number, c=[number])
        assert (one.a, one.b, one.c) == (number, "two", [number])
    assert frozen(1).c is not frozen(1).c
    with pytest.raises(TypeError):
        frozen()
    with pytest.raises(TypeError):
        frozen(1, d=2)
    with pytest.raises(FrozenInstanceError):
        one.a = 5
    assert dataclasses.replace(one, b="x").b == "x"
