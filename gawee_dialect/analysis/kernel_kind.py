"""What can be said of a kernel: what it is, combines, pads, and between which numbers it stays."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    UnrealizedConversionCastOp,
)
from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from gawee_dialect.dialect.affine_range import sum_of, used_dims
from gawee_dialect.dialect.kernels.integer_words import PackedProduct
from gawee_dialect.dialect.kernels.kernel import KernelOp, Number, YieldOp, shape_of
from gawee_dialect.dialect.kernels.packed_products import (
    as_stored,
    joined_bytes,
    word_product,
)
from gawee_dialect.dialect.open_size import is_open
from gawee_dialect.dialect.types import shaped_bytes, tensor_type
from gawee_dialect.hints import isa

# Ops that combine an accumulator with a value, and what they leave as it is.


INFINITY = float("inf")

FLOATS: dict[type[Operation], float] = {
    arith.AddfOp: 0,
    arith.MulfOp: 1,
    arith.MaximumfOp: -INFINITY,
    arith.MinimumfOp: INFINITY,
    arith.MaxnumfOp: -INFINITY,
    arith.MinnumfOp: INFINITY,
}

INTEGERS: dict[type[Operation], Callable[[int], int]] = {
    # From the number of bits.
    arith.AddiOp: lambda bits: 0,
    arith.MuliOp: lambda bits: 1,
    arith.MaxSIOp: lambda bits: -(1 << (bits - 1)),
    arith.MinSIOp: lambda bits: (1 << (bits - 1)) - 1,
    arith.AndIOp: lambda bits: -1,
    arith.OrIOp: lambda bits: 0,
    arith.XOrIOp: lambda bits: 0,
}


def neutral(op: Operation, type: Attribute) -> Number | None:
    """Return the number that an op leaves every other number of a type as it is with.

    None where the op does not combine numbers in any order to the same result.
    """
    if isinstance(type, AnyFloat) and op.__class__ in FLOATS:
        return FloatAttr(FLOATS[op.__class__], type)
    if isa(type, IntegerType) and op.__class__ in INTEGERS:
        return IntegerAttr(INTEGERS[op.__class__](type.width.data), type)
    return None


KINDS: Mapping[type[Operation], CombiningKindFlag] = {
    arith.AddfOp: CombiningKindFlag.ADD,
    arith.AddiOp: CombiningKindFlag.ADD,
    arith.MulfOp: CombiningKindFlag.MUL,
    arith.MuliOp: CombiningKindFlag.MUL,
    arith.MaximumfOp: CombiningKindFlag.MAXIMUMF,
    arith.MinimumfOp: CombiningKindFlag.MINIMUMF,
    arith.MaxSIOp: CombiningKindFlag.MAXSI,
    arith.MinSIOp: CombiningKindFlag.MINSI,
    arith.AndIOp: CombiningKindFlag.AND,
    arith.OrIOp: CombiningKindFlag.OR,
    arith.XOrIOp: CombiningKindFlag.XOR,
}
"""How lanes are combined that an op has accumulated."""


DIVISIONS = (arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp, arith.FloorDivSIOp)


def divides_integers(region: Region) -> bool:
    """Whether a region traps where a number is zero."""
    return any(isinstance(op, DIVISIONS) for op in region.walk())


def combiner_of(kernel: KernelOp) -> Operation | None:
    """Return the op that combines a kernel's accumulator with what does not depend on it.

    None where `accumulate` does anything else, or not in any order: then lanes cannot share it.
    Nor can they a division of integers, since lanes without a point would divide by zero.
    """
    if not kernel.accumulate.blocks or divides_integers(kernel.accumulate):
        return None
    accumulator = kernel.accumulate.block.args[-1]
    combine = kernel.yielded(kernel.accumulate).owner
    if not isinstance(combine, Operation) or accumulator not in combine.operands:
        return None
    return combine if type(combine) in KINDS and accumulator.has_one_use() else None


# What a kernel is, by its maps and regions alone.


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
    if op.initial is not None:
        return None
    value = op.yielded(op.finish)
    if not isinstance(value, BlockArgument):
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
    for it, or the words of a packed product: the lowest byte of one that is joined."""
    if isinstance(term.owner, arith.MulfOp | arith.MuliOp):
        return [
            each.owner.input if isinstance(each.owner, arith.ExtFOp) else each
            for each in term.owner.operands
        ]
    packed = word_product(term)
    return () if packed is None else (as_stored(packed.first), packed.second)


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
    read = sum(shaped_bytes(tensor_type(each)) / each.uses.get_length() for each in op.inputs)
    if read >= shaped_bytes(tensor_type(op.result)):
        return False
    return all(isinstance(each, WIDENING) for each in op.finish.block.ops)


def has_windows(op: KernelOp) -> bool:
    """Whether a map mixes a reduction with a parallel dimension in one axis: `h + kh`."""
    return any(_mixes(expr, op.num_parallel) for map in op.maps[:-1] for expr in map.results)


def _mixes(expr: AffineExpr, num_parallel: int) -> bool:
    dims = {inner.position for inner in expr.dfs() if isinstance(inner, AffineDimExpr)}
    return len({dim < num_parallel for dim in dims}) == 2


# Between which numbers an integer lies that a kernel computes.


Range = tuple[int, int]
"""The least and the greatest number, with signs."""

OF_TWO: Mapping[type[Operation], Callable[[Range, Range], Range]] = {
    arith.AddiOp: lambda a, b: (a[0] + b[0], a[1] + b[1]),
    arith.SubiOp: lambda a, b: (a[0] - b[1], a[1] - b[0]),
    arith.MaxSIOp: lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    arith.MinSIOp: lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
}


DEEPEST = 8
"""How many ops, one behind the other, are looked at: sums may share their terms."""


def integer_range(value: SSAValue, depth: int = DEEPEST) -> Range:
    """Return between which numbers a scalar of a kernel, or each element of a tensor, lies.

    Followed are extensions, sums and differences, through kernels that compute elements.
    """
    type = value.type
    if not isa(type, IntegerType):
        return _of_elements(value, depth)
    full = -(1 << (type.width.data - 1)), (1 << (type.width.data - 1)) - 1
    owner = value.owner
    if not depth:
        return full
    match owner:
        case arith.ConstantOp(value=IntegerAttr() as number):
            return number.value.data, number.value.data
        case arith.ExtUIOp():
            assert isa(owner.input.type, IntegerType)
            return 0, (1 << owner.input.type.width.data) - 1
        case arith.ExtSIOp():
            return integer_range(owner.input, depth - 1)
        case UnrealizedConversionCastOp():
            return full
        case Operation() if combine := OF_TWO.get(owner.__class__):
            low, high = combine(*(integer_range(each, depth - 1) for each in owner.operands))
            return (low, high) if full[0] <= low and high <= full[1] else full
        case Block() if isinstance(value, BlockArgument):
            kernel = owner.parent_op()
            if isinstance(kernel, KernelOp) and value.index < len(kernel.inputs):
                low, high = _of_elements(kernel.inputs[value.index], depth - 1)
                return max(low, full[0]), min(high, full[1])
        case _:
            pass
    return full


def _of_elements(tensor: SSAValue, depth: int) -> Range:
    kernel = tensor.owner
    unknown = -(1 << 63), 1 << 63
    if not isinstance(kernel, KernelOp) or kernel.initial is not None:
        return unknown
    low, high = integer_range(kernel.yielded(kernel.finish), depth)
    if kernel.covers_output():
        return low, high
    outside = 0 if kernel.outside is None else kernel.outside.value.data
    return (min(low, int(outside)), max(high, int(outside)))


# Kernels that only pad, and what padding with zeros is as good as.


@dataclass(frozen=True)
class Pad:
    """A kernel that copies a tensor into a larger one with a number around it."""

    op: KernelOp
    source: SSAValue
    low: tuple[int, ...]
    high: tuple[int, ...]

    @property
    def number(self) -> float:
        """What is around the tensor."""
        return number_of(self.op.outside)


def number_of(attribute: Number | None) -> float:
    """Return the value of a number, zero for an absent one."""
    if attribute is None:
        return 0.0
    if isinstance(attribute, FloatAttr):
        return attribute.value.data
    assert isinstance(attribute, IntegerAttr)
    return attribute.value.data


def pad_of(value: SSAValue) -> Pad | None:
    """Return the padding that makes a tensor; None where anything else does."""
    op = value.owner
    if not isinstance(op, KernelOp) or op.result is None:
        return None
    if copied_input(op) is None or len(op.inputs) != 1:
        return None
    sizes, shape = op.sizes, shape_of(op.result)
    source_map, result_map = op.maps
    if source_map != AffineMap.identity(len(sizes)) or shape_of(op.inputs[0]) != sizes:
        return None
    offsets = [_offset(expr, dim) for dim, expr in enumerate(result_map.results)]
    low = tuple(offset for offset in offsets if offset is not None)
    if len(low) != len(sizes):
        return None
    high = tuple(
        total - size - before for total, size, before in zip(shape, sizes, low, strict=True)
    )
    return Pad(op, op.inputs[0], low, high)


def zero_pad_of(value: SSAValue) -> Pad | None:
    """Return the padding with zeros that makes a tensor, its first two axes as they were."""
    pad = pad_of(value)
    if pad is None or pad.number != 0 or len(pad.low) < 2:
        return None
    return None if any((*pad.low[:2], *pad.high[:2])) else pad


def _offset(expr: AffineExpr, dim: int) -> int | None:
    """Return k of the expression d<dim> + k."""
    match expr:
        case AffineDimExpr(position=position) if position == dim:
            return 0
        case AffineBinaryOpExpr(
            kind=AffineBinaryOpKind.Add,
            lhs=AffineDimExpr(position=position),
            rhs=AffineConstantExpr(value=value),
        ) if position == dim:
            return value
        case _:
            return None


def never_negative(value: SSAValue) -> bool:
    """Whether a kernel's last step is to take the maximum with a number that is not negative."""
    op = value.owner
    if not isinstance(op, KernelOp) or number_of(op.outside) < 0:
        return False
    last = op.yielded(op.finish).owner
    if not isinstance(last, arith.MaximumfOp | arith.MaxSIOp):
        return False
    bounds = (side.owner for side in last.operands)
    return any(
        isinstance(bound, arith.ConstantOp)
        and isinstance(bound.value, FloatAttr | IntegerAttr)
        and number_of(bound.value) >= 0
        for bound in bounds
    )


# Kernels that read four bytes side by side as a word: memory is the same before and after.


BYTES = PackedProduct.BYTES


def bytes_of_words(op: KernelOp) -> Sequence[int] | None:
    """Return which inputs are the bytes of the words that a kernel computes, the lowest first.

    None where it computes anything else.
    """
    if op.initial is not None or is_open(op.sizes):
        return None
    found = joined_bytes(op.yielded(op.finish)) or ()
    indices = [byte.index for byte in found if isinstance(byte, BlockArgument)]
    return indices if len(indices) == BYTES.value else None


def is_word_copy(op: KernelOp) -> bool:
    """Whether what a kernel on buffers writes is, byte by byte, what it reads of one buffer."""
    indices = bytes_of_words(op)
    if indices is None or len({op.inputs[index] for index in indices}) != 1:
        return False
    written = _position(op.target, op.maps[-1])
    read = [_position(op.inputs[index], op.maps[index]) for index in indices]
    if written is None:
        return False
    return all(
        position is not None and _is_number(position - written * len(read), op.sizes, part)
        for part, position in enumerate(read)
    )


def _position(buffer: SSAValue, map: AffineMap) -> AffineExpr | None:
    """Return at which element of a buffer's memory a map reads or writes."""
    type = buffer.type
    strides = type.get_strides() if isa(type, MemRefType[Attribute]) else None
    if strides is None or None in strides:
        return None
    position = AffineExpr.constant(0)
    for expr, stride in zip(map.results, strides, strict=True):
        position += expr * (stride or 0)
    return position


def _is_number(expr: AffineExpr, sizes: Sequence[int], number: int) -> bool:
    """Whether an expression is a number at all points of an iteration space.

    It is a sum of functions of one dimension each: all of them have to be constant.
    """
    form = sum_of(expr, sizes)
    total, of_dims = form.constant, dict[int, AffineExpr]()
    for atom, factor in form.terms.items():
        used = used_dims(AffineMap(len(sizes), 0, (atom,)))
        if len(used) != 1:
            return False
        (dim,) = used
        of_dims[dim] = of_dims.get(dim, AffineExpr.constant(0)) + atom * factor
    for dim, part in of_dims.items():
        points = ([0] * dim + [at] + [0] * (len(sizes) - dim - 1) for at in range(sizes[dim]))
        values = {part.eval(point, ()) for point in points}
        if len(values) != 1:
            return False
        total += values.pop()
    return total == number
