"""Write functions on tensors out where they are called."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import SymbolTable

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import is_public
from gawee_dialect.dialect.types import is_tensor
from gawee_dialect.passes.numerics import EXACT, Numerics


@dataclass
class Inliner:
    """Inlines the calls of one module, those of a callee before those of it."""

    module: ModuleOp
    finished: set[FuncOp] = field(default_factory=set[FuncOp])
    inlined: set[FuncOp] = field(default_factory=set[FuncOp])

    def visit(self, function: FuncOp, callers: tuple[FuncOp, ...] = ()) -> None:
        """Inline the calls in a function; raises GaweeError where it calls itself."""
        if function in self.finished:
            return
        for call in [op for op in function.walk() if isinstance(op, CallOp)]:
            callee = self._callee(call)
            if callee is None:
                continue
            if callee in (*callers, function):
                name = callee.sym_name.data
                reason = f"expected '@{name}' not to call itself, at any distance"
                raise GaweeError(Diagnostic.at(call, f"cannot be inlined: {reason}"))
            self.visit(callee, (*callers, function))
            replace_by_body(call, callee)
            self.inlined.add(callee)
        self.finished.add(function)

    def _callee(self, call: CallOp) -> FuncOp | None:
        """Return the function that is to be written out; None where the call stays."""
        callee = SymbolTable.lookup_symbol(self.module, call.callee)
        if not isinstance(callee, FuncOp) or len(callee.body.blocks) != 1:
            return None
        tensors = any(is_tensor(value.type) for value in (*call.operands, *call.results))
        return callee if tensors else None

    def erase_inlined(self) -> None:
        """Erase the private functions without callers."""
        for callee in self.inlined:
            if not is_public(callee):
                callee.detach()
                callee.erase()


def replace_by_body(call: CallOp, callee: FuncOp) -> None:
    """Put the ops of a function in the place of a call of it."""
    block = call.parent
    assert block is not None
    ops, returned = cloned_body(callee, call.arguments)
    block.insert_ops_before(ops, call)
    for old, new in zip(call.results, returned, strict=True):
        if new.name_hint is None:
            new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    _erase(call)


def cloned_body(
    function: FuncOp, arguments: Sequence[SSAValue]
) -> tuple[Sequence[Operation], Sequence[SSAValue]]:
    """Return copies of the ops of a function of one block, on arguments, and what it returns."""
    block = function.body.block
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, arguments, strict=True))
    ops = [op.clone(values) for op in block.ops if not isinstance(op, ReturnOp)]
    last = block.last_op
    returned = last.arguments if isinstance(last, ReturnOp) else ()
    return ops, [values.get(value, value) for value in returned]


def _erase(op: Operation) -> None:
    op.detach()
    op.erase()


@dataclass(frozen=True)
class Inline(ModulePass):
    """Write functions on tensors out where they are called.

    What is inlined keeps its place in the text of the function. Functions without a body, and those
    on scalars or buffers, are called. A private function that was inlined is erased.

    Requires: no function on tensors calls itself.

    rewrite:
        %y = func.call @double(%x); func.func private @double(%a) { linalg.add ins(%a, %a) }
        ->
        %y = linalg.add ins(%x, %x)
    """

    name = "inline"
    numerics: ClassVar[Numerics] = EXACT
    takes_open_sizes: ClassVar[bool] = True
    special_values: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        inliner = Inliner(op)
        for function in [inner for inner in op.ops if isinstance(inner, FuncOp)]:
            inliner.visit(function)
        inliner.erase_inlined()
