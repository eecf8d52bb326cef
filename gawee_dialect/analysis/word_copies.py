"""Kernels that read four bytes side by side as a word: memory is the same before and after."""

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    IntegerAttr,
    IntegerType,
    MemRefType,
    UnrealizedConversionCastOp,
    i32,
)
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from gawee_dialect.dialect.affine_range import sum_of, used_dims
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.kernels.packed_products import PackedProduct
from gawee_dialect.dialect.open_size import is_open
from gawee_dialect.dialect.types import is_byte
from gawee_dialect.hints import isa

BYTES = PackedProduct.BYTES


def bytes_of_words(op: KernelOp) -> Sequence[int] | None:
    """Return which inputs are the bytes of the words that a kernel computes, the lowest first.

    None where it computes anything else.
    """
    if op.initial is not None or is_open(op.sizes):
        return None
    found = _bytes_of(op.yielded(op.finish))
    return list(found.values()) if list(found) == list(range(BYTES.value)) else None


def _bytes_of(word: SSAValue) -> dict[int, int]:
    """Return the inputs that a word is joined of by their places in it; none of other values."""
    if isinstance(word.owner, arith.OrIOp):
        return _bytes_of(word.owner.lhs) | _bytes_of(word.owner.rhs)
    place = 0
    if isinstance(word.owner, arith.ShLIOp):
        by = word.owner.rhs.owner
        if not isinstance(by, arith.ConstantOp) or not isa(by.value, IntegerAttr[IntegerType]):
            return {}
        place, word = by.value.value.data, word.owner.lhs
    if not isinstance(word.owner, arith.ExtUIOp) or word.type != i32 or place % BYTES.bits:
        return {}
    byte = word.owner.input
    if isinstance(byte.owner, UnrealizedConversionCastOp):
        byte = byte.owner.inputs[0]
    if not is_byte(byte.type) or not isinstance(byte, BlockArgument):
        return {}
    return {place // BYTES.bits: byte.index}


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
