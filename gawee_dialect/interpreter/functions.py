"""The base of our sets of op implementations, and those that users add."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from weakref import WeakKeyDictionary

from xdsl.interpreter import InterpreterFunctions
from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.diagnostics import GaweeError


class OpFunctions(InterpreterFunctions):
    """Implementations of a family of ops, which also says which ops they are."""

    @classmethod
    def op_types(cls) -> frozenset[type[Operation]]:
        """Return the op classes that this set implements."""
        if cls not in _op_types:
            _op_types[cls] = frozenset(op_type for op_type, _ in cls._impls())
        return _op_types[cls]


_op_types: WeakKeyDictionary[type[OpFunctions], frozenset[type[Operation]]] = WeakKeyDictionary()
"""Read for every module that runs: a set never changes."""

_added: ContextVar[Sequence[type[OpFunctions]]] = ContextVar("added", default=())


def added_functions() -> Sequence[type[OpFunctions]]:
    """Return the sets of implementations that were added to ours."""
    return _added.get()


@contextmanager
def implemented_by(*functions: type[OpFunctions]) -> Generator[None]:
    """Add sets of implementations to those of every interpreter made inside a with block."""
    token = _added.set((*_added.get(), *functions))
    try:
        yield
    finally:
        _added.reset(token)


# What a program that cannot be run raises.


class RunError(GaweeError, InterpretationError):
    """An op that cannot be run on the values it was given; located as every GaweeError is."""
