"""What a module makes when it is imported, at a price that the start of a program can pay.

A call of hostcfg imports some seventy value classes, a pasted text brings three hundred patterns, and most of
them are not used.  ``dataclasses.dataclass`` writes and compiles the source of eight methods for each class,
0.6 ms where ``import click`` takes 40; ``re.compile`` takes 0.2 ms.  So:

- :func:`dataclass` makes classes that ``fields``, ``replace`` and ``asdict`` take, and type checkers see the
  standard library's own.  Their methods are functions of this module: 0.06 ms a class, and 0.5 us more for
  each instance, until there are so many that an ``__init__`` of their own pays.
- :func:`regex` is ``re.compile`` at the first use.

msgspec.Struct makes classes as fast, but takes 10 ms to import and is no dataclass.
"""

from __future__ import annotations

import dataclasses
import re
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable
    from inspect import Signature

__all__ = ["dataclass", "regex"]

_OFTEN = 200
"""Instances of a class after which a compiled ``__init__`` pays: a fleet's readings, not options."""


def lean_dataclass(*, slots: bool, frozen: bool = False) -> Callable[[type[Any]], type[Any]]:
    """``dataclasses.dataclass`` with slots; one with an unusual field or a base class gets the original."""

    def decorate(cls: type[Any]) -> type[Any]:
        odd = any(
            isinstance(value, dataclasses.Field) and not _is_usual(value) for value in vars(cls).values()
        )
        if odd or not slots or hasattr(cls, "__post_init__") or dataclasses.is_dataclass(cls):
            original: type[Any] = dataclasses.dataclass(slots=slots, frozen=frozen)(cls)
            return original
        cls.__doc__ = cls.__doc__ or cls.__name__  # where it has none, dataclasses asks inspect for 5 ms
        made: type[Any] = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
        values = _values_of(made)
        methods: dict[str, object] = {
            "__init__": _init_of(made),
            "__repr__": _repr,
            "__eq__": lambda self, other: (
                values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented
            ),
            "__hash__": None,
            "__signature__": _SIGNATURE,
        }
        if frozen:
            methods |= {
                "__hash__": lambda self: hash(values(self)),
                "__setattr__": _refuse_set,
                "__delattr__": _refuse_delete,
                "__reduce__": lambda self: (type(self), values(self)),
            }
        made.__dataclass_params__.frozen = frozen  # what a class that inherits from this one asks for
        for name, method in methods.items():
            if name not in vars(cls):
                setattr(made, name, method)
        return made

    return decorate


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = lean_dataclass


def _is_usual(field: dataclasses.Field[Any]) -> bool:
    return field.init and field.repr and field.compare and field.hash is None and field.kw_only is not True


def _values_of(cls: type) -> Callable[[Any], tuple[Any, ...]]:
    """What gives all values of an instance as a tuple."""
    names = [field.name for field in dataclasses.fields(cls)]
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _init_of(cls: type) -> Callable[..., None]:
    """``__init__`` of a class with slots; a slot's own descriptor sets it, frozen or not."""
    fields = dataclasses.fields(cls)
    missing = dataclasses.MISSING
    setters = tuple(getattr(cls, field.name).__set__ for field in fields)
    parts = tuple(
        (field.name, setter, field.default, field.default_factory)
        for field, setter in zip(fields, setters, strict=True)
    )

    made = 0

    def __init__(self: object, *args: object, **given: object) -> None:  # noqa: N807  # it is one
        nonlocal made
        made += 1
        if made == _OFTEN:
            cls.__init__ = _compiled_init(cls)  # type: ignore[misc]  # the same, faster
        for setter, value in zip(setters, args, strict=False):
            setter(self, value)
        for name, setter, default, factory in parts[len(args) :]:
            if name in given:
                setter(self, given.pop(name))
            elif default is not missing:
                setter(self, default)
            elif factory is not missing:
                setter(self, factory())
            else:
                raise TypeError(f"{cls.__qualname__} needs {name!r}")
        if given or len(args) > len(parts):
            names = ", ".join(part[0] for part in parts)
            raise TypeError(f"{cls.__qualname__} takes {names}, each of them once")

    return __init__


def _compiled_init(cls: type) -> Callable[..., None]:
    """The same ``__init__`` from source, as dataclass makes it: a third of the time, for 0.1 ms a class."""
    names: dict[str, object] = {"_missing": dataclasses.MISSING}
    parameters, lines = [], []
    for number, field in enumerate(dataclasses.fields(cls)):
        names[f"_set{number}"] = getattr(cls, field.name).__set__
        value = field.name
        if field.default is not dataclasses.MISSING:
            names[f"_default{number}"] = field.default
            parameters.append(f"{field.name}=_default{number}")
        elif field.default_factory is not dataclasses.MISSING:
            names[f"_factory{number}"] = field.default_factory
            parameters.append(f"{field.name}=_missing")
            value = f"_factory{number}() if {field.name} is _missing else {field.name}"
        else:
            parameters.append(field.name)
        lines.append(f" _set{number}(self, {value})")
    source = f"def __init__(self, {', '.join(parameters)}):\n" + "\n".join(lines)
    exec(source, names)  # noqa: S102  # names of our own fields and nothing else
    return cast("Callable[..., None]", names["__init__"])


def _repr(self: Any) -> str:
    shown = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self))
    return f"{type(self).__qualname__}({shown})"


def _refuse_set(self: object, name: str, value: object) -> None:
    del value
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r} of {type(self).__name__}")


def _refuse_delete(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r} of {type(self).__name__}")


class _LateSignature:
    """A class's parameters, for ``help`` and the like, made when someone asks for them."""

    def __get__(self, instance: object, owner: type) -> Signature:
        from inspect import Parameter, Signature

        parameters = []
        for field in dataclasses.fields(owner):
            default = Parameter.empty if field.default is dataclasses.MISSING else field.default
            if field.default_factory is not dataclasses.MISSING:
                default = field.default_factory()
            kind = Parameter.POSITIONAL_OR_KEYWORD
            parameters.append(Parameter(field.name, kind, default=default, annotation=field.type))
        return Signature(parameters)


_SIGNATURE = _LateSignature()


def regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """``re.compile``, done when the pattern is first used; hand it to no function of ``re``."""
    return cast("re.Pattern[str]", _LatePattern(pattern, flags))


class _LatePattern:
    """Stands for a pattern until one of its attributes is asked for, and then holds its methods itself."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        found: object = getattr(re.compile(self._pattern, self._flags), name)
        setattr(self, name, found)
        return found
