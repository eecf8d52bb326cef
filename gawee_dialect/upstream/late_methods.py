"""Methods of data classes that are made at their first use, not where the class is defined.

Before Python 3.13 a `dataclass` compiles the text of each method by itself. Those of xDSL and of
this package are 2,900, a third of the time of all imports; most are never called.
"""

import dataclasses
from collections.abc import Callable
from functools import cached_property
from types import FunctionType, MethodType

PACKAGES = frozenset(("xdsl", "gawee_dialect"))

CONSTRUCTOR = "__init__"
"""Made when a class is asked for it, since its parameters are what the class takes."""

Make = Callable[..., FunctionType]
Names = dict[str, object]


class LateConstructor:
    """What stands in for a constructor until a class or an instance is asked for it."""

    def __init__(self, make: Callable[[], FunctionType]) -> None:
        self._make = make

    def __get__(self, instance: object, owner: type) -> object:
        made = self._made
        for kind in owner.__mro__:
            if kind.__dict__.get(CONSTRUCTOR) is self:
                made.__qualname__ = f"{kind.__qualname__}.{CONSTRUCTOR}"
                setattr(kind, CONSTRUCTOR, made)
        return made if instance is None else MethodType(made, instance)

    @cached_property
    def _made(self) -> FunctionType:
        return self._make()


def _made_late(make: Make) -> Callable[..., FunctionType | LateConstructor]:
    """Return what stands in for `dataclasses._create_fn`."""

    def make_late(
        name: str, *texts: object, globals: Names | None = None, **others: object
    ) -> FunctionType | LateConstructor:
        package = str((globals or {}).get("__name__", "")).partition(".")[0]
        if package not in PACKAGES:
            return make(name, *texts, globals=globals, **others)
        if name == CONSTRUCTOR:
            return LateConstructor(lambda: make(name, *texts, globals=globals, **others))
        made: list[FunctionType] = []

        def method(self: object, *arguments: object) -> object:
            if not made:
                made.append(make(name, *texts, globals=globals, **others))
                made[0].__qualname__ = method.__qualname__
            for kind in type(self).__mro__:
                if kind.__dict__.get(name) is method:
                    setattr(kind, name, made[0])
            return made[0](self, *arguments)

        method.__name__ = name
        return method

    return make_late


def make_methods_late() -> None:
    """Have methods of data classes made at their first use, of those that are defined from now on.

    The standard library does not document what makes them; without it, nothing is changed.
    """
    make: Make | None = getattr(dataclasses, "_create_fn", None)
    if make is not None:
        setattr(dataclasses, "_create_fn", _made_late(make))
