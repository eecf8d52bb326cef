"""What a kernel is, by its maps and regions alone."""

from collections.abc import Sequence
from enum import StrEnum

from xdsl.dialects import arith
from xdsl.ir import BlockArgument, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from gawee_dialect.dialect.kernels.kernel import KernelOp, YieldOp
from gawee_dialect.dialect.kernels.packed_products import word_product
from gawee_dialect.dialect.types import shaped_bytes, tensor_type


class KernelKind(StrEnum):
    """Kinds of kernels, by what they compute: names in reports and databases."""

    CONV = "conv"
    MATMUL = "matmul"
    POOL = "pool"
    REDUCE = "reduce"
    COPY = "copy"
    ELEMENTWISE = "elementwise"


def kernel_kind(op: KernelOp) -> KernelKind:
    """Return what a kernel is.

    A sum of products of two inputs is a convolution where an input is read by windows, otherwise
    a matrix product; other reductions are pools where they have windows. Without reductions, a
    kernel that yields an input's element, or a constant, copies.
    """
    if op.initial is None:
        only = op.yielded(op.finish).owner
        fills = isinstance(only, arith.ConstantOp)
        return KernelKind.COPY if fills or copied_input(op) is not None else KernelKind.ELEMENTWISE
    if multiplied_inputs(op) is None:
        return KernelKind.POOL if has_windows(op) else KernelKind.REDUCE
    return KernelKind.CONV if has_windows(op) else KernelKind.MATMUL


def copied_input(op: KernelOp) -> int | None:
    """Return the input whose elements a kernel moves about unchanged."""
    value = op.yielded(op.finish)
    if op.initial is not None or not isinstance(value, BlockArgument):
        return None
    return value.index if value.block is op.finish.block else None


def multiplied_inputs(op: KernelOp) -> tuple[int, int] | None:
    """Return the two inputs whose products a kernel sums.

    yield add(accumulator, mul(input, input)), operands in any order, or of a packed product
    """
    if op.initial is None:
        return None
    block = op.accumulate.block
    accumulator = block.args[-1]
    add = op.yielded(op.accumulate).owner
    if not isinstance(add, arith.AddfOp | arith.AddiOp):
        return None
    terms = [value for value in add.operands if value is not accumulator]
    if len(terms) != 1:
        return None
    factors = [value for value in factors_of(terms[0]) if isinstance(value, BlockArgument)]
    if len(factors) != 2 or any(value is accumulator for value in factors):
        return None
    return factors[0].index, factors[1].index


def factors_of(term: SSAValue) -> Sequence[SSAValue]:
    """Return the numbers that a term is the product of, as they are stored where they are widened
    for it, or the words of a packed product."""
    if isinstance(term.owner, arith.MulfOp | arith.MuliOp):
        return [
            each.owner.input if isinstance(each.owner, arith.ExtFOp) else each
            for each in term.owner.operands
        ]
    packed = word_product(term)
    return () if packed is None else (packed.first, packed.second)


WIDENING = (
    *(arith.ExtFOp, arith.SIToFPOp, arith.ExtSIOp, arith.ConstantOp, YieldOp),
    *(arith.MulfOp, arith.SubfOp, arith.AddfOp, arith.AndIOp, arith.XOrIOp),
)
"""What numbers are widened by: a few vector instructions in all."""


def sums_products(op: KernelOp) -> bool:
    """Whether a kernel sums products, each of an element or of what is computed of some."""
    if op.initial is None:
        return False
    add, accumulator = op.yielded(op.accumulate).owner, op.accumulate.block.args[-1]
    if not isinstance(add, arith.AddfOp) or accumulator not in add.operands:
        return False
    return any(isinstance(each.owner, arith.MulfOp) for each in add.operands)


def widens(op: KernelOp) -> bool:
    """Whether a kernel makes more bytes than it reads, by little arithmetic: floats of blocks of
    small integers with a scale, for one. What others read too counts as a share of it: each makes
    floats of some bits of a word."""
    if op.initial is not None or op.result is None:
        return False
    if not all(isinstance(each, WIDENING) for each in op.finish.block.ops):
        return False
    read = sum(shaped_bytes(tensor_type(each)) / each.uses.get_length() for each in op.inputs)
    return read < shaped_bytes(tensor_type(op.result))


def has_windows(op: KernelOp) -> bool:
    """Whether a map mixes a reduction with a parallel dimension in one axis: `h + kh`."""
    return any(_mixes(expr, op.num_parallel) for map in op.maps[:-1] for expr in map.results)


def _mixes(expr: AffineExpr, num_parallel: int) -> bool:
    dims = {inner.position for inner in expr.dfs() if isinstance(inner, AffineDimExpr)}
    return len({dim < num_parallel for dim in dims}) == 2
