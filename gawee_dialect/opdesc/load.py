"""Descriptions as dialects: an op class for each operator of a file.

The operators of LightNet, described by ourselves in `lightnet/*.op`, are the dialect `lightnet`.
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from xdsl.ir import Dialect
from xdsl.universe import Universe

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.opdesc.described_op import DescribedOp, op_class
from gawee_dialect.opdesc.description import DEFAULT_DIALECT
from gawee_dialect.opdesc.read import DescriptionFile, parse_descriptions, read_descriptions
from gawee_dialect.universe import all_dialects, extended


@cache
def lightnet_dialect() -> Dialect:
    """Return the shipped ops; raises GaweeError where the parser of C is not installed."""
    ops: list[type[DescribedOp]] = []
    for path in sorted(Path(__file__).with_name("lightnet").glob("*.op")):
        ops += [op_class(DEFAULT_DIALECT, each) for each in read_descriptions(path).operators]
    return Dialect(DEFAULT_DIALECT, list(ops))


def is_shipped(op: DescribedOp) -> bool:
    """Whether an op is one of these, not one of a user's under the same name."""
    return type(op) in lightnet_dialect().operations


_loaded: ContextVar[Sequence[Dialect]] = ContextVar("loaded", default=())


def described_ops(described: DescriptionFile) -> list[type[DescribedOp]]:
    """Make the op class of every operator that is not left out by `autogen`."""
    return [
        op_class(described.dialect, compiled)
        for compiled in described.operators
        if compiled.operator.autogen
    ]


def load_operator_descriptions(path: str | Path) -> Dialect:
    """Read a file of descriptions; returns the dialect of their ops.

    Raises OSError, and GaweeError that lists every problem of the file.
    """
    described = read_descriptions(path)
    return Dialect(described.dialect, [*described_ops(described)])


def parse_operator_descriptions(
    text: str, name: str, module: str
) -> Mapping[str, type[DescribedOp]]:
    """Read the descriptions of a text; returns the class of each op, by its operator.

    `name` is what messages call the text, `module` the module that the classes belong to. Raises
    GaweeError that lists every problem of the text.
    """
    ops = described_ops(parse_descriptions(text, name))
    for op in ops:
        op.__module__ = module
    return {op.description().operator.optype: op for op in ops}


@contextmanager
def loaded_operators(paths: Sequence[str]) -> Generator[None]:
    """Register the ops of files with every tool for the time of a with block.

    Ops join the dialect that their file names, in the place of a shipped one of the same name.
    Raises OSError and GaweeError, also where files describe an op twice, or the ops of a dialect
    that is not described.
    """
    with registered([load_operator_descriptions(path) for path in paths]):
        yield


@contextmanager
def registered(described: Sequence[Dialect]) -> Generator[None]:
    """Register dialects of described ops with every tool, as `loaded_operators` does."""
    added: dict[str, list[type[DescribedOp]]] = {}
    for dialect in described:
        existing = added.setdefault(dialect.name, [])
        for op in dialect.operations:
            assert issubclass(op, DescribedOp)
            if any(op.name == other.name for other in existing):
                message = f"expected operators to differ, got '{op.name}' twice"
                raise GaweeError(Diagnostic(message, str(op.description().operator.place)))
            existing.append(op)
    dialects = {name: _joined(name, ops) for name, ops in added.items()}
    universe = Universe(
        all_dialects={name: lambda found=found: found for name, found in dialects.items()}
    )
    token = _loaded.set((*_loaded.get(), *dialects.values()))
    try:
        with extended(universe):
            yield
    finally:
        _loaded.reset(token)


def registered_operators() -> dict[str, type[DescribedOp]]:
    """Return the op of every operator that a graph may invoke: the shipped ones and loaded ones."""

    return {
        op.name.partition(".")[2]: op
        for dialect in (lightnet_dialect(), *_loaded.get())
        for op in dialect.operations
        if issubclass(op, DescribedOp)
    }


def _joined(name: str, ops: Sequence[type[DescribedOp]]) -> Dialect:
    existing = all_dialects().get(name)
    if existing is None:
        return Dialect(name, list(ops))
    old = list(existing().operations)
    if not all(issubclass(op, DescribedOp) for op in old):
        raise GaweeError(f"cannot load operators: there is a dialect '{name}' already")
    names = {op.name for op in ops}
    return Dialect(name, [*(op for op in old if op.name not in names), *ops])
