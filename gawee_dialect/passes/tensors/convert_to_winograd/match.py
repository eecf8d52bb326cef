"""Convolutions that Winograd's algorithm is for, found by what a kernel's maps say."""

from dataclasses import dataclass

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from gawee_dialect.analysis.kernel_kind import multiplied_inputs, number_of
from gawee_dialect.dialect.kernels.kernel import KernelOp, element_of, shape_of
from gawee_dialect.dialect.kernels.winograd import KERNEL
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
    types = [*(element_of(op.inputs[index]) for index in factors), op.accumulator_type]
    others = [type for type in (*types, element_of(op.target)) if type != f32]
    if others:
        return f"expected elements f32, got {others[0]}"
    if number_of(op.initial) != 0 or op.schedule is not None:
        return "expected a sum from zero without a schedule"
    expected = (sizes[0], sizes[4], sizes[2] + KERNEL - 1, sizes[3] + KERNEL - 1)
    if shape_of(op.inputs[input]) != expected:
        return f"expected an input of shape {expected}, got {shape_of(op.inputs[input])}"
    wrong = _other_inputs_problem(op, (input, weights))
    return wrong or Match(op, input, weights, Convolution(*sizes[:5]))


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
