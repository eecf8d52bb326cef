"""Convolutions that Winograd's algorithm is for, found by what a kernel's maps say."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import f32, i32
from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from gawee_dialect.analysis.kernel_kind import integer_range, multiplied_inputs, number_of
from gawee_dialect.dialect.kernels.kernel import KernelOp, element_of, shape_of
from gawee_dialect.dialect.kernels.winograd import KERNEL, PAIRS, TRANSFORMS, Matrix
from gawee_dialect.passes.tensors.convert_to_winograd.choose import Convolution

N, F, OH, OW, C, KH, KW = (AffineExpr.dimension(dim) for dim in range(7))
INPUT = (N, C, OH + KH, OW + KW)
INPUT_REVERSED = (N, C, KH + OH, KW + OW)
WEIGHTS = (F, C, KH, KW)
OUTPUT = (N, F, OH, OW)


@dataclass(frozen=True)
class Match:
    """A kernel that is a 3x3 convolution of stride 1."""

    op: KernelOp
    input: int
    weights: int
    convolution: Convolution

    @property
    def source(self) -> SSAValue:
        """The padded input."""
        return self.op.inputs[self.input]


def match(op: KernelOp) -> Match | str:
    """Return the convolution that a kernel is, or why it is not one for this algorithm."""
    factors = multiplied_inputs(op)
    sizes = op.sizes
    if factors is None or len(sizes) != 7 or op.num_parallel != 4:
        return f"expected a sum of products over (n, f, h, w | c, kh, kw), got {list(sizes)}"
    if sizes[5:] != (KERNEL, KERNEL):
        return f"expected a {KERNEL}x{KERNEL} filter, got {sizes[5]}x{sizes[6]}"
    for input, weights in (factors, factors[::-1]):
        if op.maps[weights].results == WEIGHTS:
            break
    else:
        return f"expected weights read as (f, c, kh, kw), got '{op.maps[factors[1]]}'"
    if op.maps[input].results not in (INPUT, INPUT_REVERSED):
        return f"expected stride and dilation 1, got '{op.maps[input]}'"
    if not _is_shifted(op.maps[-1], OUTPUT) or number_of(op.outside) != 0:
        return f"expected an output (n, f, h, w) with zeros around it, got '{op.maps[-1]}'"
    of_integers = op.accumulator_type == i32
    wrong = _integers_problem(op, input, weights) if of_integers else _floats_problem(op, factors)
    if wrong is not None:
        return wrong
    if number_of(op.initial) != 0 or op.schedule is not None:
        return "expected a sum from zero without a schedule"
    expected = (sizes[0], sizes[4], sizes[2] + KERNEL - 1, sizes[3] + KERNEL - 1)
    if shape_of(op.inputs[input]) != expected:
        return f"expected an input of shape {expected}, got {shape_of(op.inputs[input])}"
    wrong = _other_inputs_problem(op, (input, weights))
    return wrong or Match(op, input, weights, Convolution(*sizes[:5], of_integers))


def _floats_problem(op: KernelOp, factors: Sequence[int]) -> str | None:
    types = [*(element_of(op.inputs[index]) for index in factors), op.accumulator_type]
    others = [type for type in (*types, element_of(op.target)) if type != f32]
    return f"expected elements f32, got {others[0]}" if others else None


def _integers_problem(op: KernelOp, input: int, weights: int) -> str | None:
    """Say why what is computed of integers may not fit in their types, or they are not at hand."""
    size, channels = min(TRANSFORMS), op.sizes[4]
    maker = op.inputs[input].owner
    if not isinstance(maker, KernelOp) or maker.initial is not None or not maker.has_zeros_outside:
        return "expected an input that a kernel computes each element of, with zeros around them"
    if maker.schedule is not None or channels % PAIRS.value:
        return f"expected an even number of channels, got {channels}"
    transforms = TRANSFORMS[size].whole
    matrices = transforms.input, transforms.weight
    values = (op.inputs[index] for index in (input, weights))
    limit = 1 << (PAIRS.bits - 1)
    largest = [max(map(abs, integer_range(value))) for value in values]
    grown = [_growth(each) ** 2 * number for each, number in zip(matrices, largest, strict=True)]
    if max(grown) >= limit:
        return f"expected transforms below {limit}, got up to {max(grown)}"
    total = prod(largest) * KERNEL**2 * channels * transforms.scale
    return None if total < 1 << 31 else f"expected sums that i32 holds, got up to {total}"


def _growth(matrix: Matrix) -> int:
    """Return how many times as large as its input a row's result may be."""
    return int(max(sum(map(abs, row)) for row in matrix))


def _is_shifted(map: AffineMap, origin: tuple[AffineExpr, ...]) -> bool:
    """Whether a map is another but for constant offsets."""
    return tuple(_unshifted(expr) for expr in map.results) == origin


def _unshifted(expr: AffineExpr) -> AffineExpr:
    match expr:
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add, rhs=AffineConstantExpr()):
            return expr.lhs
        case _:
            return expr


def _other_inputs_problem(op: KernelOp, factors: tuple[int, int]) -> str | None:
    for index, argument in enumerate(op.finish.block.args[: len(op.inputs)]):
        if index in factors and argument.uses:
            return f"expected 'finish' to use no factor, got input #{index}"
    return None


def without_filter(map: AffineMap) -> AffineMap:
    """Return a map over (n, f, h, w, c, kh, kw) that uses no kh and kw as one over the rest."""
    dims: list[AffineExpr] = [AffineDimExpr(dim) for dim in range(5)]
    dims += [AffineExpr.constant(0)] * 2
    results = (expr.replace_dims_and_symbols(dims, []) for expr in map.results)
    return AffineMap(5, 0, tuple(results))
