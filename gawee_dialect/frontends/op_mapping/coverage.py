"""What the report of coverage needs of a registry: which ops its functions make."""

import dis
import inspect
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from types import CodeType, FunctionType

from xdsl.ir import Block, Operation

from gawee_dialect.frontends.coverage import OpSupport
from gawee_dialect.frontends.op_mapping.emitter import Emitter, numbers_of_sizes
from gawee_dialect.frontends.op_mapping.registry import Registry


def op_support(registry: Registry) -> Sequence[OpSupport]:
    """Return a registry as coverage shows it; what a mapping makes is found in its code."""
    return [
        OpSupport(each.name, ", ".join(ops_in(each.function)), each.limits) for each in registry
    ]


def ops_in(function: Callable[..., object]) -> Sequence[str]:
    """Return the names of the ops that a function of a registry, or what it calls, constructs."""
    # Where a size is open, any number may be one: that says nothing of an op.
    return list(dict.fromkeys(_ops_in(function, {numbers_of_sizes})))


def _ops_in(function: Callable[..., object], seen: set[object]) -> Iterator[str]:
    seen.add(function)
    for value in _used(function) if isinstance(function, FunctionType) else ():
        if inspect.isclass(value) and issubclass(value, Operation) and value is not Operation:
            if hasattr(value, "name"):  # a base class is no op
                yield value.name
        elif inspect.isfunction(value) and value not in seen and _is_frontend(value):
            yield from _ops_in(value, seen)


def _used(function: FunctionType) -> Iterator[object]:
    """Yield what a function names: of the functions around it, its module, and the emitter."""
    yield from inspect.getclosurevars(function).nonlocals.values()
    emitter = "self" if vars(Emitter).get(function.__name__) is function else "emit"
    for code in _codes(function.__code__):
        for before, each in pairwise(dis.get_instructions(code)):
            if each.opname == "LOAD_GLOBAL":
                yield function.__globals__.get(each.argval)
            elif before.argval == emitter and each.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                yield vars(Emitter).get(each.argval)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a function's code and that of the functions inside of it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _is_frontend(function: Callable[..., object]) -> bool:
    return function.__module__.startswith("gawee_dialect.frontends.")


def made_since(block: Block, before: Operation | None) -> Sequence[str]:
    """Return the names of the ops at the end of a block, after one of it, each once."""
    names: list[str] = []
    last = block.last_op
    while last is not None and last is not before:
        names.append(last.name)
        last = last.prev_op
    return list(dict.fromkeys(reversed(names)))
