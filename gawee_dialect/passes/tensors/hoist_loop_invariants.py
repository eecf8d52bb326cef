"""Move what every step computes alike out of the loop of the steps."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult
from xdsl.passes import ModulePass
from xdsl.traits import ConstantLike

from gawee_dialect.analysis.values_read import is_inside, values_read
from gawee_dialect.dialect.graph.scan import is_step_loop
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.tensors.hoist_parameter_computation import computes
from gawee_dialect.passes.tensors.parameter_analysis import is_pure


@dataclass(frozen=True)
class HoistLoopInvariants(ModulePass):
    """Move what every step of a scan computes alike before the loop of the steps.

    1. Find the ops of the body that read nothing that a step makes, neither themselves nor through
       others.
    2. Those of them move that compute, with what they read. Ops that rename (views) or repeat
       (broadcasts, fills) stay: to make their result again costs no more than to read it.

    Weights that a kernel reads in another order are so packed once, and if they are parameters,
    in `@prepare`. Loops that are not those of a scan stay as they are: their
    author chose so.

    rewrite:
        scf.for %t iter_args(%h = %x) { %v = mul %w, %w; %n = matmul %h, %v } {gawee.scan}
        ->
        %v = mul %w, %w
        scf.for %t iter_args(%h = %x) { %n = matmul %h, %v } {gawee.scan}
    """

    name = "hoist-loop-invariants"
    numerics: ClassVar[Numerics] = EXACT
    special_values: ClassVar[bool] = True
    takes_open_sizes: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        # From the inside out: what leaves a loop may leave the next one too.
        for loop in reversed([inner for inner in op.walk() if is_step_loop(inner)]):
            _hoist(loop)


def _hoist(loop: scf.ForOp) -> None:
    block = loop.parent
    assert block is not None
    for op in _moved(loop):
        op.detach()
        block.insert_op_before(op, loop)


def _moved(loop: scf.ForOp) -> list[Operation]:
    """Return the ops that leave a loop, in their order."""
    invariant: set[Operation] = set()
    for op in loop.body.block.ops:
        if op.results and is_pure(op) and not set(_made_inside(op, loop)) - invariant:
            invariant.add(op)
    wanted = [op for op in loop.body.block.ops if op in invariant and _is_worth_it(op)]
    moved = set[Operation]()
    while wanted:
        op = wanted.pop()
        moved.add(op)
        wanted += [
            maker for maker in _made_inside(op, loop) if maker not in moved and maker is not None
        ]
    return [op for op in loop.body.block.ops if op in moved]


def _made_inside(op: Operation, loop: scf.ForOp) -> Iterator[Operation | None]:
    """Yield what makes the values of a step that an op reads; None for the step's arguments."""
    for value in values_read(op):
        if is_inside(value, loop):
            yield value.op if isinstance(value, OpResult) else None


def _is_worth_it(op: Operation) -> bool:
    return computes(op) and not isinstance(op, tensor.EmptyOp) and not op.has_trait(ConstantLike)
