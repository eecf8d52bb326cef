"""Positions of extremes to `linalg.generic`."""

from collections.abc import Mapping, Sequence

from xdsl.builder import Builder
from xdsl.dialects.builtin import AnyFloat, TensorType, i32, i64
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.reduction import (
    ArgMaxOp,
    ArgMinOp,
    ArgOp,
)
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.passes.lower_to_linalg.combining import (
    MAXIMUM,
    MINIMUM,
    Combiner,
    combined,
    in_element_type,
    kept_axes,
    source_map,
)
from gawee_dialect.passes.lower_to_linalg.conversions import opened
from gawee_dialect.passes.lower_to_linalg.positions import reduction_with_positions
from gawee_dialect.passes.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.lower_to_linalg.shape import reshaped
from gawee_dialect.passes.lower_to_linalg.structured import reads
from gawee_dialect.passes.lower_to_linalg.tensors import constant, filled
from gawee_dialect.passes.rewrite_pass import Pattern

EXTREMES: Mapping[type[ArgOp], Combiner] = {ArgMaxOp: MAXIMUM, ArgMinOp: MINIMUM}
"""What each search for a position looks for."""


class LowerArg(Pattern):
    """gawee.arg_max, ... -> linalg.generic for the extreme, another for where it is first

    The second takes the least position of an element that equals the extreme, or that is NaN.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ArgOp, rewriter: PatternRewriter) -> None:
        if type(op) not in EXTREMES:
            return self.missed(op, f"expected a combiner for '{op.name}', got none")
        rewriter.name_hint = op.result.name_hint
        axis = op.searched_axis
        extreme = combined(rewriter, op.input, [axis], EXTREMES[type(op)])
        result = first_position(rewriter, op.input, axis, extreme)
        rewriter.replace(op, (), [reshaped(rewriter, result, tensor_shape(op.result))])


def first_position(builder: Builder, source: SSAValue, axis: int, extreme: SSAValue) -> SSAValue:
    """Find the first element along an axis that is NaN or equals a value for the line."""
    shape = tensor_shape(source)
    rank, kept = len(shape), kept_axes(len(shape), [axis])
    type = TensorType(i32, [shape[each] for each in kept])
    init = filled(builder, constant(builder, shape[axis], i32), type)
    inputs = [
        (source, source_map(rank, [axis])),
        (extreme, reads(rank, *range(len(kept)))),
    ]

    def body(
        scalars: Scalars, values: Sequence[SSAValue], places: Sequence[SSAValue], least: SSAValue
    ) -> SSAValue:
        value, wanted = opened(scalars, values[0]), values[1]
        found = scalars.compare("eq", value, wanted)
        if isinstance(value.type, AnyFloat):
            found = scalars.either(found, scalars.is_nan(value))
        nowhere = scalars.constant(shape[axis], i32)
        return scalars.minimum(least, scalars.select(found, places[0], nowhere))

    loops = {rank - 1: shape[axis]}
    found = reduction_with_positions(builder, init, inputs, loops, body, num_reduced=1)
    return in_element_type(builder, found, i64)
