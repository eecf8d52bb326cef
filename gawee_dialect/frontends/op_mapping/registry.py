"""The op mappings of one vocabulary: which function turns a node into ops of the dialect.

    ATEN = Registry("gawee_dialect.frontends.npu_ir.aten", ("pointwise", ...))

    @ATEN.register("aten.mul.Tensor", "aten.mul.Scalar")
    def mul(emit: Emitter, self: Operand, other: Operand) -> SSAValue:
        return emit(MulOp(*promoted(emit, self, other)))

The function's parameters after the first are the op's schema: names, order, kinds and defaults.
`schema.py` fills them from a node. What it returns are the node's outputs.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TypeAlias, TypeVar

from xdsl.ir import SSAValue

from gawee_dialect.frontends.op_mapping.schema import Parameter, parameters_of

Result: TypeAlias = SSAValue | Sequence[SSAValue | None] | None
"""The outputs of a node: one, several (None for one that nothing reads), or none at all."""

Function = TypeVar("Function", bound=Callable[..., Result])


@dataclass(frozen=True)
class OpMapping:
    """How the nodes of one op become ops of the dialect."""

    name: str
    function: Callable[..., Result]
    limits: Sequence[str] = ()

    @cached_property
    def parameters(self) -> Sequence[Parameter]:
        """The op's schema, as the function declares it."""
        return parameters_of(self.function)


_undone: ContextVar[list[Callable[[], None]] | None] = ContextVar("undone", default=None)


@contextmanager
def registrations_undone() -> Generator[None]:
    """Forget what is registered inside a with block, apart from our own families, at its end."""
    undone: list[Callable[[], None]] = []
    token = _undone.set(undone)
    try:
        yield
    finally:
        _undone.reset(token)
        for undo in reversed(undone):
            undo()


class Registry:
    """Mappings by name; `families` are the files of `package` that register them."""

    def __init__(self, package: str, families: Sequence[str]) -> None:
        self.package = package
        self.families = families
        self._mappings: dict[str, OpMapping] = {}
        self._is_loaded = False

    def register(self, *names: str, limits: Sequence[str] = ()) -> Callable[[Function], Function]:
        """Register a function for ops by name; a later registration takes an earlier one's place.

        `limits` say what of an op is not supported, for the report of coverage.
        """

        def register(function: Function) -> Function:
            if function.__module__.startswith(f"{self.package}."):
                self._add(names, function, limits)
                return function
            self.load_families()  # theirs come first, so that a user's takes their place
            before = {name: self._mappings.get(name) for name in names}
            self._add(names, function, limits)
            undone = _undone.get()
            if undone is not None:
                undone.append(lambda: self._restore(before))
            return function

        return register

    def _add(
        self, names: Sequence[str], function: Callable[..., Result], limits: Sequence[str]
    ) -> None:
        for name in names:
            self._mappings[name] = OpMapping(name, function, limits)

    def _restore(self, mappings: Mapping[str, OpMapping | None]) -> None:
        for name, mapping in mappings.items():
            if mapping is None:
                del self._mappings[name]
            else:
                self._mappings[name] = mapping

    def find(self, *names: str) -> OpMapping | None:
        """Return what is registered for the first of some names that anything is registered for."""
        self.load_families()
        return next((self._mappings[name] for name in names if name in self._mappings), None)

    def __iter__(self) -> Iterator[OpMapping]:
        """Yield every mapping, in the order of names."""
        self.load_families()
        yield from (self._mappings[name] for name in sorted(self._mappings))

    def load_families(self) -> None:
        """Import the files that register ops, once."""
        if self._is_loaded:
            return
        for family in self.families:
            import_module(f"{self.package}.{family}")
        self._is_loaded = True  # not before: another thread would find only some
