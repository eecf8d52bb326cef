"""Python functions that say what described ops compute, by the names of the ops.

    @register_meaning("mine.nms")
    def nms(boxes: Array, scores: Array, *, threshold: float) -> Array: ...

A function takes an array an input, in the order of the description, and parameters by their names;
it returns an array, or one for each output. The interpreter calls it, and nothing compiles it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from gawee_dialect.diagnostics import GaweeError

if TYPE_CHECKING:
    from gawee_dialect.dialect.dense import Array

    Meaning: TypeAlias = Callable[..., "Array | Sequence[Array]"]

Function = TypeVar("Function", bound="Meaning")

_meanings: dict[str, Meaning] = {}


def register_meaning(name: str) -> Callable[[Function], Function]:
    """Register a function as the meaning of an op, `dialect.optype`; the last one counts.

    Raises GaweeError for a name that is none of an op.
    """
    if not all(part.isidentifier() for part in name.split(".")) or name.count(".") != 1:
        raise GaweeError(f"expected a meaning to be that of an op 'dialect.optype', got '{name}'")

    def register(function: Function) -> Function:
        _meanings[name] = function
        return function

    return register


def registered_meanings() -> Mapping[str, Meaning]:
    """Return the function of every op that has one, by the op's name."""
    return _meanings


@contextmanager
def meanings_undone() -> Generator[None]:
    """Forget what is registered inside a with block at its end."""
    before = dict(_meanings)
    try:
        yield
    finally:
        _meanings.clear()
        _meanings.update(before)
