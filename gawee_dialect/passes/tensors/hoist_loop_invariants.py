"""Move what every step computes alike out of the loop of the steps."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, OpResult
from xdsl.passes import ModulePass
from xdsl.traits import ConstantLike

from gawee_dialect.analysis.effects import is_inside, values_read
from gawee_dialect.dialect.graph.scan import is_branching, is_step_loop
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.tensors.hoist_parameter_computation import computes
from gawee_dialect.passes.tensors.parameter_analysis import ParameterAnalysis, is_pure
from gawee_dialect.upstream.walk import all_ops


@dataclass(frozen=True)
class HoistLoopInvariants(ModulePass):
    """Move what each step of a scan computes alike, or a branch of weights alone, before them.

    1. Find the ops of the body that read nothing that a step makes, neither themselves nor through
       others.
    2. Those of them move that compute, with what they read. Ops that rename (views) or repeat
       (broadcasts, fills) stay: to make their result again costs no more than to read it.
    3. From a branch (`scf.if`, `scf.while`) move those alone that weights and constants decide:
       what reads an input may not be needed.

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
        analysis = ParameterAnalysis()
        # From the inside out: what leaves a loop may leave the next one too.
        for around in reversed([each for each in all_ops(op) if each.regions]):
            if is_step_loop(around):
                _hoist(around, around.body.block, lambda _: True)
            elif is_branching(around):
                for region in around.regions:
                    for block in region.blocks:
                        _hoist(around, block, lambda each: _is_early(each, analysis))


def _is_early(op: Operation, analysis: ParameterAnalysis) -> bool:
    return all(map(analysis.is_known_early, op.results))


def _hoist(around: Operation, block: Block, may_move: Callable[[Operation], bool]) -> None:
    outside = around.parent
    assert outside is not None
    for op in _moved(around, block, may_move):
        op.detach()
        outside.insert_op_before(op, around)


def _moved(
    around: Operation, block: Block, may_move: Callable[[Operation], bool]
) -> list[Operation]:
    """Return the ops that leave a block, in their order."""
    invariant: set[Operation] = set()
    for op in block.ops:
        inside = set(_made_inside(op, around))
        if op.results and is_pure(op) and not inside - invariant and may_move(op):
            invariant.add(op)
    wanted = [op for op in block.ops if op in invariant and _is_worth_it(op)]
    moved = set[Operation]()
    while wanted:
        op = wanted.pop()
        moved.add(op)
        wanted += [
            maker for maker in _made_inside(op, around) if maker not in moved and maker is not None
        ]
    return [op for op in block.ops if op in moved]


def _made_inside(op: Operation, around: Operation) -> Iterator[Operation | None]:
    """Yield what makes the values of a step that an op reads; None for the step's arguments."""
    for value in values_read(op):
        if is_inside(value, around):
            yield value.op if isinstance(value, OpResult) else None


def _is_worth_it(op: Operation) -> bool:
    return computes(op) and not isinstance(op, tensor.EmptyOp) and not op.has_trait(ConstantLike)
