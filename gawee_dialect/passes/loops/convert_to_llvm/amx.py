"""Tiles as the instructions of AMX: each says how many rows and bytes its tiles have.

LLVM writes the configuration of tiles before the first of a function, and releases them at its end.
Tiles stay in registers across blocks, as arguments of them.
"""

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import StringAttr, i16
from xdsl.ir import SSAValue

from gawee_dialect.dialect.types import element_bytes
from gawee_dialect.passes.loops.convert_to_llvm.conversion import (
    Declined,
    FunctionConversion,
    converted_type,
    rule,
)
from gawee_dialect.passes.loops.convert_to_llvm.instructions import multiply
from gawee_dialect.passes.loops.convert_to_llvm.memref import (
    any_buffer_type,
    element_pointer,
    strides_of_buffer,
)
from gawee_dialect.upstream.amx import (
    TileLoadOp,
    TileMulFOp,
    TileMulIOp,
    TileStoreOp,
    TileType,
    TileZeroOp,
    tile_of,
)


def _sizes(to: FunctionConversion, *numbers: int) -> Sequence[SSAValue]:
    return [to.integer(number, i16) for number in numbers]


def _shape(to: FunctionConversion, type: TileType) -> Sequence[SSAValue]:
    return _sizes(to, type.shape[0], type.row_bytes)


def _made(to: FunctionConversion, name: str, type: TileType, *operands: SSAValue) -> SSAValue:
    """Insert an instruction that makes a tile."""
    intrinsic = StringAttr(f"llvm.x86.{name}.internal")
    return to.compute(llvm.CallIntrinsicOp(intrinsic, operands, [converted_type(type)]))


def convert_zero(op: TileZeroOp, to: FunctionConversion) -> None:
    """amx.tile_zero  ->  tilezero"""
    type = tile_of(op.res)
    to.define(op.res, _made(to, "tilezero", type, *_shape(to, type)))


def _place(
    to: FunctionConversion, base: SSAValue, indices: Sequence[SSAValue], stride: SSAValue | None
) -> Sequence[SSAValue]:
    """Return the pointer to the first row, and the bytes from one to the next."""
    size = element_bytes(any_buffer_type(base).element_type)
    pointer = element_pointer(to, base, indices)
    if stride is not None:
        return pointer, to.once(multiply, to.value(stride), to.integer(size))
    strides = strides_of_buffer(to, base)
    if len(strides) < 2:
        return pointer, to.integer(size)
    apart = strides[-2]
    if not isinstance(apart, int):
        return pointer, to.once(multiply, apart, to.integer(size))
    return pointer, to.integer(apart * size)


def convert_load(op: TileLoadOp, to: FunctionConversion) -> None:
    """amx.tile_load %m[%i, %j]  ->  tileloadd of a pointer and the bytes between rows"""
    type = tile_of(op.res)
    place = _place(to, op.base, op.indices, op.stride)
    to.define(op.res, _made(to, "tileloadd64", type, *_shape(to, type), *place))


def convert_store(op: TileStoreOp, to: FunctionConversion) -> None:
    """amx.tile_store %m[%i, %j], %t  ->  tilestored of a pointer and the bytes between rows"""
    place = _place(to, op.base, op.indices, op.stride)
    operands = [*_shape(to, tile_of(op.val)), *place, to.value(op.val)]
    name = StringAttr("llvm.x86.tilestored64.internal")
    to.append(llvm.CallIntrinsicOp(name, operands, []))
    to.mark_written(op.base)


def _multiplied(op: TileMulIOp | TileMulFOp, to: FunctionConversion, name: str) -> None:
    lhs, rhs, acc = map(tile_of, (op.lhs, op.rhs, op.acc))
    sizes = _sizes(to, lhs.shape[0], rhs.row_bytes, lhs.row_bytes)
    tiles = (to.value(each) for each in (op.acc, op.lhs, op.rhs))
    to.define(op.res, _made(to, name, acc, *sizes, *tiles))


def convert_muli(op: TileMulIOp, to: FunctionConversion) -> None:
    """amx.tile_muli  ->  tdpbusd, tdpbsud, tdpbuud or tdpbssd"""
    signs = "".join("s" if each is None else "u" for each in (op.isZextLhs, op.isZextRhs))
    _need(to, to.processor is not None and to.processor.byte_tiles)
    _multiplied(op, to, f"tdpb{signs}d")


def convert_mulf(op: TileMulFOp, to: FunctionConversion) -> None:
    """amx.tile_mulf  ->  tdpbf16ps"""
    _need(to, to.processor is not None and to.processor.bf16_tiles)
    _multiplied(op, to, "tdpbf16ps")


def _need(to: FunctionConversion, has_them: bool) -> None:
    if not has_them:
        name = "none" if to.processor is None else f"'{to.processor.cpu}'"
        raise Declined(f"expected a target that multiplies such tiles, got {name}")


RULES = (
    rule(TileZeroOp, convert_zero),
    rule(TileLoadOp, convert_load),
    rule(TileStoreOp, convert_store),
    rule(TileMulIOp, convert_muli),
    rule(TileMulFOp, convert_mulf),
)
