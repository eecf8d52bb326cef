"""Take sums in a wider type: those of f16 in f32, long ones of f32 in f64."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, ModuleOp, TensorType, f64
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from gawee_dialect.analysis.long_sums import total_type
from gawee_dialect.analysis.open_sizes import open_names_of
from gawee_dialect.dialect.open_size import greatest, without_names
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.passes.graph.lower_to_linalg.combining import first_term, mapped, spread
from gawee_dialect.passes.graph.lower_to_linalg.tensors import constant, filled
from gawee_dialect.passes.numerics import REASSOCIATES, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass
from gawee_dialect.passes.tensors.form_kernels.constants import number_everywhere
from gawee_dialect.passes.tensors.form_kernels.from_linalg import combiner_of, reduced, trip_counts
from gawee_dialect.passes.tensors.tensor_forms import with_forms

SEVERAL = 2
"""The fewest terms that are a sum."""


class WidenSum(Pattern):
    """linalg.matmul, ... that adds up f16, or much f32 -> linalg.generic { extf; addf }, truncf"""

    def __init__(self, *, to_f64: bool = True) -> None:
        self._to_f64 = to_f64

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LinalgStructuredOperation, rewriter: PatternRewriter) -> None:
        if len(op.res) != 1:
            self.missed(op, f"expected one result on tensors, got {len(op.res)}")
            return
        combiner = combiner_of(op) if any(reduced(op)) else None
        type = None if combiner is None else self._total_type(op, combiner)
        if combiner is None or type is None:
            self.missed(op, "expected a sum of f16, or a long one of f32")
            return
        init = op.outputs[0].owner
        rewriter.name_hint = op.res[0].name_hint
        total = widened(rewriter, op, combiner, type)
        rewriter.replace(op, (), [mapped(rewriter, total, element_type(op.res[0]), first_term)])
        if isinstance(init, linalg.FillOp) and not init.res[0].uses:
            rewriter.erase(init)

    def _total_type(self, op: LinalgStructuredOperation, combiner: Operation) -> AnyFloat | None:
        element, terms = element_type(op.res[0]), terms_of(op)
        found = total_type(combiner, element, terms)
        if not self._to_f64:
            return None if found == f64 else found
        return total_type(combiner, found, terms) or found


def terms_of(op: LinalgStructuredOperation) -> int:
    """Return how many terms each element of the result is combined of.

    A loop over a tile of any size counts as several: how many, the loops around it say. One over an
    open size counts as many as its names may be: all of the function's where its form is not known.
    """
    counts = zip(trip_counts(op), reduced(op), strict=True)
    known = [greatest(count) for count, is_reduced in counts if is_reduced and count is not None]
    unknown = _most_of_open(op) if any(count < 0 for count in known) else SEVERAL
    return prod(unknown if count < 0 else count for count in known)


def _most_of_open(op: Operation) -> int:
    function = op.parent_op()
    while function is not None and not isinstance(function, FuncOp):
        function = function.parent_op()
    names = open_names_of(function) if function is not None and function.arg_attrs else ()
    return max(SEVERAL, prod(each.last for each in names))


def widened(
    builder: Builder, op: LinalgStructuredOperation, combiner: Operation, element: AnyFloat
) -> SSAValue:
    """Insert the same op with an accumulator of a wider type; returns its result."""
    type = TensorType(element, without_names(tensor_shape(op.res[0])))
    number = number_everywhere(op.outputs[0])
    if number is None:
        init = spread(builder, op.outputs[0], (), type, first_term)
    else:
        start = constant(builder, number.value.data, element)
        init = filled(builder, start, type, like=op.outputs[0])
    new = linalg.GenericOp(
        op.inputs,
        [init],
        Region(_body(op.body.block, combiner, element)),
        op.get_indexing_maps(),
        op.get_iterator_types(),
        [type],
    )
    new.attributes.update(op.attributes)
    return builder.insert(new).res[0]


def _body(old: Block, combiner: Operation, element: AnyFloat) -> Block:
    """Make the body that extends each term, or the factors of one, and adds it to the total."""
    *inputs, accumulator = old.args
    block = Block(arg_types=[*(argument.type for argument in inputs), element])
    builder = Builder(InsertPoint.at_end(block))
    values: dict[SSAValue, SSAValue] = dict(zip(inputs, block.args, strict=False))
    (term,) = (operand for operand in combiner.operands if operand is not accumulator)
    product = _product(term)
    for op in old.ops:
        if op not in (combiner, product, old.last_op):
            builder.insert(op.clone(values))

    def wide(value: SSAValue) -> SSAValue:
        return builder.insert(arith.ExtFOp(values.get(value, value), element)).result

    if product is None:
        wide_term = wide(term)
    else:
        wide_term = builder.insert(arith.MulfOp(wide(product.lhs), wide(product.rhs))).result
    total = builder.insert(arith.AddfOp(block.args[-1], wide_term)).result
    builder.insert(linalg.YieldOp(total))
    return block


def _product(term: SSAValue) -> arith.MulfOp | None:
    """Return the product that a term is, of two elements of inputs."""
    op = term.owner
    if not isinstance(op, arith.MulfOp) or not term.has_one_use():
        return None
    return op if all(isinstance(factor, BlockArgument) for factor in op.operands) else None


@dataclass(frozen=True)
class WidenSums(RewritePass):
    """Take sums in a wider type: those of f16 in f32, those of more than 8192 f32 in f64.

    Products of two elements are taken in the wide type, other terms in their own; the total is
    rounded once. Sums of kernels in f32 stay: `lower-kernels-to-loops` adds up their blocks in f64.

    Requires: structured ops on tensors (`bufferize` comes after).

    rewrite:
        %y = linalg.matmul ins(%a, %b) outs(%zeros : tensor<4x5xf32>)
        ->
        %0 = linalg.generic ins(%a, %b) outs(%zeros : tensor<4x5xf64>) { + extf %a * extf %b }
        %y = linalg.generic ins(%0) { truncf }
    """

    name = "widen-sums"
    numerics: ClassVar[Numerics] = REASSOCIATES
    takes_open_sizes: ClassVar[bool] = True
    patterns = (WidenSum,)
    revisits = False

    to_f64: bool = True
    """Whether long sums of f32 are taken in f64."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        with with_forms(op):  # of which size is what is added up
            super().apply(ctx, op)

    def make_patterns(self) -> Sequence[RewritePattern]:
        return [WidenSum(to_f64=self.to_f64)]
