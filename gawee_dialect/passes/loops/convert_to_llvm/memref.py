"""Buffers: a memref is the bare pointer to its first element, its layout constant arithmetic.

The pointer of a memref already includes the offset of its layout, so that a subview is a pointer
further on and a load adds only index times stride.
"""

from collections.abc import Sequence
from functools import cache, partial
from math import prod

from xdsl.dialects import arith, llvm, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    MemRefType,
    TensorType,
    VectorType,
    i1,
    i8,
    i64,
)
from xdsl.dialects.llvm import LLVMArrayType, LLVMPointerType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from gawee_dialect.analysis.index_bounds import Index, constant_index, mixed, size_of
from gawee_dialect.dialect.linear_form import LinearForm
from gawee_dialect.dialect.types import element_bytes
from gawee_dialect.hints import isa
from gawee_dialect.passes.loops.convert_to_llvm.conversion import (
    Combine,
    Declined,
    FunctionConversion,
    ScalarType,
    ValueType,
    converted_type,
    in_lanes,
    lane_type,
    rule,
)
from gawee_dialect.passes.loops.convert_to_llvm.instructions import (
    NSW,
    add,
    address_at,
    element_address,
    load,
    multiply,
    store,
)
from gawee_dialect.upstream import llvm as ours
from gawee_dialect.upstream.memref import PrefetchOp
from gawee_dialect.upstream.tensor import kept_axes

FAR = 1 << 31
"""Elements from which on a place is not gone to in steps: constant indices have 32 bits."""

ALIGNMENT = 64
"""Bytes to which stack buffers and globals are aligned: a cache line, and the widest vector."""


def any_buffer_type(value: SSAValue) -> MemRefType[Attribute]:
    """Return the type of a memref: what is accessed by strides alone may be of any size."""
    assert isa(value.type, MemRefType[Attribute])
    return value.type


def buffer_type(value: SSAValue) -> MemRefType[Attribute]:
    """Return the type of a memref; raises Declined unless its shape is static."""
    return _static(any_buffer_type(value))


def _static(type: MemRefType[Attribute]) -> MemRefType[Attribute]:
    if DYNAMIC_INDEX in type.get_shape():
        raise Declined(f"expected a static shape, got '{type}'")
    return type


def strides_of(type: MemRefType[Attribute]) -> list[int]:
    """Return the distance in elements of each dimension; raises Declined if one is dynamic."""
    known = _known_strides(type)
    if known is None:
        raise Declined(f"expected static strides, got '{type}'")
    return known


def _known_strides(type: MemRefType[Attribute]) -> list[int] | None:
    strides = type.get_strides()
    known = [] if strides is None else [stride for stride in strides if stride is not None]
    return known if strides is not None and len(known) == len(strides) else None


def strides_of_buffer(to: FunctionConversion, buffer: SSAValue) -> Sequence[Index]:
    """Return the distance in elements of each dimension: numbers, and values of the llvm dialect.

    Raises Declined where nothing in the function says one.
    """
    type, made = any_buffer_type(buffer), buffer.owner
    known = _known_strides(type)
    if known is not None:
        return known
    match made:
        case memref.ReinterpretCastOp():
            return _converted(to, mixed(made.static_strides.get_values(), made.strides))
        case memref.CastOp():
            return strides_of_buffer(to, made.source)
        case memref.SubviewOp():
            static = made.static_sizes.get_values()
            steps = _converted(to, mixed(made.static_strides.get_values(), made.strides))
            pairs = zip(strides_of_buffer(to, made.source), steps, strict=True)
            strides = [_product(to, stride, step) for stride, step in pairs]
            return [strides[axis] for axis in kept_axes(static, type.get_shape())]
        case memref.ViewOp():
            strides, stride = list[Index](), _one()
            sizes = _converted(to, mixed(type.get_shape(), made.sizes))
            for size in reversed(sizes):
                strides.insert(0, stride)
                if len(strides) < len(sizes):
                    stride = _product(to, stride, size)
            return strides
        case _:
            raise Declined(f"expected static strides, got '{type}'")


def _one() -> Index:
    return 1


def _converted(to: FunctionConversion, indices: Sequence[Index]) -> Sequence[Index]:
    return [index if isinstance(index, int) else to.value(index) for index in indices]


def _product(to: FunctionConversion, lhs: Index, rhs: Index) -> Index:
    if isinstance(lhs, int) and isinstance(rhs, int):
        return lhs * rhs
    return _scaled(to, lhs, rhs)


def _scaled(to: FunctionConversion, value: Index, factor: Index) -> SSAValue:
    """Return the product of two of which one at least is no number."""
    if isinstance(value, int):
        assert isinstance(factor, SSAValue)
        value, factor = factor, value
    if factor == 1:
        return value
    return to.once(multiply, value, to.integer(factor) if isinstance(factor, int) else factor)


@cache
def stored_type(element: Attribute) -> ValueType:
    """Return the llvm type that an element has in memory: i1 is a byte, as in NumPy."""
    type = converted_type(element)
    if isinstance(type, LLVMPointerType | ours.X86AMXType):
        raise Declined(f"unsupported element type '{element}'")
    return in_lanes(i8, type) if lane_type(type) == i1 else type


@cache
def stored_bytes(element: Attribute) -> int:
    """Return the bytes of an element in memory.

    Raises Declined for a vector that LLVM would pad.
    """
    stored = stored_type(element)
    if not isa(stored, VectorType[Attribute]):
        return element_bytes(stored)
    size = stored.get_shape()[0] * element_bytes(stored.element_type)
    if size & (size - 1):
        raise Declined(f"expected vectors of 2^n bytes in memory, got '{element}' ({size} bytes)")
    return size


def alignment_of(buffer: SSAValue) -> int | None:
    """Return the alignment of a buffer's accesses; None for that of the accessed type.

    A vector on the stack is aligned as a whole, one that comes from elsewhere as its lanes are.
    """
    element = any_buffer_type(buffer).element_type
    if not isa(element, VectorType[Attribute]):
        return None
    if isinstance(buffer.owner, memref.AllocaOp) and buffer.owner.alignment is None:
        return min(stored_bytes(element), ALIGNMENT)
    return stored_bytes(element.element_type)


def buffer_bytes(type: MemRefType[Attribute]) -> int:
    """Return the bytes from the first element of a buffer to the end of its last.

    Raises Declined unless its shape is static.
    """
    shape = _static(type).get_shape()
    if 0 in shape:
        return 0
    distances = zip(shape, strides_of(type), strict=True)
    span = sum((size - 1) * stride for size, stride in distances) + 1
    return span * stored_bytes(type.element_type)


def _element_offset(
    to: FunctionConversion, indices: Sequence[Index], strides: Sequence[Index]
) -> Index:
    """Return the sum of index times stride, constant parts folded.

    No product or sum wraps: the result addresses memory, and no object spans half of it.
    """
    total: SSAValue | None = None
    constant = 0
    for index, stride in zip(indices, strides, strict=True):
        known = index if isinstance(index, int) else constant_index(index)
        if known == 0:
            continue
        if known is not None and isinstance(stride, int):
            constant += known * stride
            continue
        if known is not None:
            term = _scaled(to, stride, known)
        else:
            assert isinstance(index, SSAValue)
            term = _scaled(to, to.value(index), stride)
        total = term if total is None else to.once(add, total, term)
    if total is None:
        return constant
    return to.once(add, total, to.integer(constant)) if constant else total


def _steps(
    to: FunctionConversion, indices: Sequence[Index], strides: Sequence[Index]
) -> LinearForm[SSAValue] | None:
    """Return the distance of an element as a sum; None where a part of it may be negative.

    Without such a part, each place on the way to an element inside of a buffer is inside too.
    """
    constant, terms = 0, dict[SSAValue, int]()
    for index, stride in zip(indices, strides, strict=True):
        if not isinstance(stride, int):
            return None
        if isinstance(index, int):
            constant += index * stride
            continue
        form = to.index(index)
        constant += form.constant * stride
        for term, coefficient in form.terms.items():
            terms[term] = terms.get(term, 0) + coefficient * stride
    constant += _join_divided(to, terms)
    sizes = terms.values()
    if not 0 <= constant < FAR or any(size <= 0 or size >= FAR for size in sizes):
        return None
    return LinearForm(constant, terms) if all(map(to.is_not_negative, terms)) else None


def _join_divided(to: FunctionConversion, terms: dict[SSAValue, int]) -> int:
    """Put n * s for each (n / c) * (c * s) + (n % c) * s; return what n * s has of a constant.

    Rows that lie one behind the other need no division, such as rows of 14 elements that are read
    at n / 14 and n % 14. LLVM sees it only where it knows how large n may be.
    """
    constant = 0
    quotients = {
        (term.owner.lhs, constant_index(term.owner.rhs)): term
        for term in terms
        if isinstance(term.owner, arith.DivUIOp)
    }
    for rest in [term for term in terms if quotients and isinstance(term.owner, arith.RemUIOp)]:
        assert isinstance(rest.owner, arith.RemUIOp)
        number, divisor = rest.owner.lhs, constant_index(rest.owner.rhs)
        quotient, size, form = quotients.get((number, divisor)), terms[rest], to.index(number)
        if divisor is None or quotient is None or terms.get(quotient) != divisor * size:
            continue
        if form.constant < 0 or any(coefficient < 0 for coefficient in form.terms.values()):
            continue  # on the way to n * s would be places in front of the buffer
        del terms[rest], terms[quotient]
        constant += form.constant * size
        for term, coefficient in form.terms.items():
            terms[term] = terms.get(term, 0) + coefficient * size
    return constant


def _stepwise(
    to: FunctionConversion,
    buffer: SSAValue,
    steps: LinearForm[SSAValue],
    element: Attribute,
    *,
    inbounds: bool,
) -> SSAValue:
    """Go to an element by a step for each loop, outermost first: what loops share is made once."""
    pointer, depth = to.value(buffer), to.depth(buffer)
    for index in sorted(steps.terms, key=to.depth):
        depth = max(depth, to.depth(index))
        step = _step(steps.terms[index], element, inbounds)
        pointer = to.once(step, pointer, to.value(index), depth=depth)
    if steps.constant == 0:
        return pointer
    return to.once(_offset(steps.constant, element, inbounds), pointer)


@cache
def _step(size: int, element: Attribute, inbounds: bool) -> Combine:
    """Return what makes the pointer so many times `size` elements further on as an index says."""
    row = element if size == 1 else LLVMArrayType(size, element)
    return partial(element_address, element=row, inbounds=inbounds)


@cache
def _offset(size: int, element: Attribute, inbounds: bool) -> Combine:
    """Return what makes the pointer `size` elements further on."""
    return partial(address_at, indices=[size], element=element, inbounds=inbounds)


def _advance(
    to: FunctionConversion,
    pointer: SSAValue,
    offset: SSAValue | int,
    element: Attribute,
    *,
    inbounds: bool = True,
) -> SSAValue:
    if offset == 0:
        return pointer
    if isinstance(offset, int) and not -(1 << 31) < offset < 1 << 31:
        offset = to.integer(offset)  # constant indices of the op have 32 bits
    if isinstance(offset, int) and inbounds:
        return to.compute(address_at(pointer, [offset], stored_type(element)))
    if isinstance(offset, int):
        return to.compute(llvm.GEPOp(pointer, [offset], stored_type(element)))
    return to.compute(element_address(pointer, offset, stored_type(element), inbounds=inbounds))


def element_pointer(
    to: FunctionConversion,
    buffer: SSAValue,
    indices: Sequence[SSAValue | int],
    *,
    inbounds: bool = True,
) -> SSAValue:
    """Return the pointer to an element of a buffer; `inbounds` says that it is inside of it."""
    type = any_buffer_type(buffer)
    strides = strides_of_buffer(to, buffer)
    steps = _steps(to, indices, strides)
    if steps is not None:
        return _stepwise(to, buffer, steps, stored_type(type.element_type), inbounds=inbounds)
    offset = _element_offset(to, indices, strides)
    return _advance(to, to.value(buffer), offset, type.element_type, inbounds=inbounds)


def as_read(to: FunctionConversion, stored: SSAValue, element: Attribute) -> SSAValue:
    """Return a value of memory as one of an element type: a byte is an i1."""
    if lane_type(element) != i1:
        return stored
    zero = to.integer(0, stored.type)
    return to.compute(llvm.ICmpOp(stored, zero, IntegerAttr(1, i64)))


def as_stored(to: FunctionConversion, value: SSAValue) -> SSAValue:
    """Return a value as memory has it: an i1 is a byte."""
    if lane_type(value.type) != i1:
        return value
    return to.compute(llvm.ZExtOp(value, in_lanes(i8, value.type)))


def convert_load(op: memref.LoadOp, to: FunctionConversion) -> None:
    """memref.load %m[%i, %j]  ->  llvm.load of the pointer + %i * stride + %j"""
    pointer = element_pointer(to, op.memref, op.indices)
    element = any_buffer_type(op.memref).element_type
    loaded = to.compute(load(pointer, stored_type(element), alignment_of(op.memref)))
    to.define(op.res, as_read(to, loaded, element))


def convert_store(op: memref.StoreOp, to: FunctionConversion) -> None:
    """memref.store %x, %m[%i, %j]  ->  llvm.store to the pointer + %i * stride + %j"""
    pointer = element_pointer(to, op.memref, op.indices)
    value = as_stored(to, to.value(op.value))
    to.append(store(value, pointer, alignment_of(op.memref)))
    to.mark_written(op.memref)


def convert_prefetch(op: PrefetchOp, to: FunctionConversion) -> None:
    """memref.prefetch %m[%i, %j]  ->  llvm.intr.prefetch of a pointer, which may be outside"""
    pointer = element_pointer(to, op.memref, op.indices, inbounds=False)
    rw, cache = int(op.for_writing), int(op.for_data)
    to.append(ours.PrefetchOp(pointer, rw=rw, hint=op.locality, cache=cache))


def convert_subview(op: memref.SubviewOp, to: FunctionConversion) -> None:
    """memref.subview %m[offsets]  ->  the pointer + offset * stride"""
    if _known_strides(any_buffer_type(op.source)) is not None:
        strides_of(any_buffer_type(op.result))
    offsets = mixed(op.static_offsets.get_values(), op.offsets)
    to.define_view(op.result, op.source, element_pointer(to, op.source, offsets))


def convert_view(op: memref.ViewOp, to: FunctionConversion) -> None:
    """memref.view %bytes[%offset]  ->  the pointer + offset bytes"""
    known = constant_index(op.byte_shift)
    offset = to.value(op.byte_shift) if known is None else known
    to.define_view(op.result, op.source, _advance(to, to.value(op.source), offset, i8))


def convert_reshape(
    op: memref.CollapseShapeOp | memref.ExpandShapeOp, to: FunctionConversion
) -> None:
    """memref.collapse_shape, memref.expand_shape  ->  the same pointer"""
    strides_of(any_buffer_type(op.result))
    to.define_view(op.result, op.src, to.value(op.src))


def convert_cast(op: memref.CastOp, to: FunctionConversion) -> None:
    """memref.cast between static layouts  ->  the same pointer"""
    if not isa(op.source.type, MemRefType[Attribute]) or not isa(
        op.dest.type, MemRefType[Attribute]
    ):
        raise Declined("expected ranked memrefs")
    strides_of(any_buffer_type(op.dest))
    to.define_view(op.dest, op.source, to.value(op.source))


def convert_reinterpret_cast(op: memref.ReinterpretCastOp, to: FunctionConversion) -> None:
    """memref.reinterpret_cast of the same first element  ->  the same pointer"""
    if tuple(op.static_offsets.get_values()) != (0,):
        raise Declined("expected offset 0")
    to.define_view(op.result, op.source, to.value(op.source))


def convert_dim(op: memref.DimOp, to: FunctionConversion) -> None:
    """memref.dim  ->  a constant, or the size that a subview was given"""
    axis = constant_index(op.index)
    if axis is None:
        raise Declined("expected a constant dimension")
    rank = any_buffer_type(op.source).get_num_dims()
    if not 0 <= axis < rank:
        raise Declined(f"expected one of {rank} dimensions, got {axis}")
    size = size_of(op.source, axis)
    if size is None:
        raise Declined(f"expected a static shape, got '{op.source.type}'")
    to.define(op.result, to.integer(size) if isinstance(size, int) else to.value(size))


def convert_alloca(op: memref.AllocaOp, to: FunctionConversion) -> None:
    """memref.alloca  ->  llvm.alloca in the entry block, so that a loop does not grow the stack"""
    type = buffer_type(op.memref)
    alignment = ALIGNMENT if op.alignment is None else op.alignment.value.data
    array = LLVMArrayType(prod(type.get_shape()), stored_type(type.element_type))
    pointer = to.in_prologue(llvm.AllocaOp(to.integer(1), array, alignment))
    to.define(op.memref, pointer)


def convert_get_global(op: memref.GetGlobalOp, to: FunctionConversion) -> None:
    """memref.get_global  ->  llvm.mlir.addressof"""
    buffer_type(op.memref)
    to.define(op.memref, to.compute(llvm.AddressOfOp(op.name_, LLVMPointerType())))


def convert_copy(op: memref.CopyOp, to: FunctionConversion) -> None:
    """memref.copy  ->  llvm.intr.memcpy of what is contiguous, inside loops over what is not"""
    source, target = buffer_type(op.source), buffer_type(op.destination)
    if source.get_shape() != target.get_shape() or source.element_type != target.element_type:
        raise Declined(f"expected equal shapes and element types, got '{source}' and '{target}'")
    to.mark_written(op.destination)
    shape = source.get_shape()
    if 0 in shape:
        return
    strides = (strides_of(source), strides_of(target))
    outer = len(shape)
    run = 1  # elements that are contiguous in both
    while outer and (shape[outer - 1] == 1 or all(run == each[outer - 1] for each in strides)):
        outer -= 1
        run *= shape[outer]
    _copy_runs(op, to, outer, run)


def _copy_runs(op: memref.CopyOp, to: FunctionConversion, outer: int, run: int) -> None:
    source, target = buffer_type(op.source), buffer_type(op.destination)
    element = source.element_type
    loops = [_open_loop(to, size) for size in source.get_shape()[:outer]]
    pointers: list[SSAValue] = []
    for buffer, type in ((op.source, source), (op.destination, target)):
        pointer = to.value(buffer)
        for (header, _), stride in zip(loops, strides_of(type)[:outer], strict=True):
            scaled = llvm.MulOp(header.args[0], to.integer(stride), overflow=NSW)
            pointer = _advance(to, pointer, to.compute(scaled), element)
        pointers.append(pointer)
    if run == 1:
        value = to.compute(llvm.LoadOp(pointers[0], stored_type(element)))
        to.append(llvm.StoreOp(value, pointers[1]))
    else:
        size = to.integer(run * stored_bytes(element))
        to.append(ours.MemcpyOp(pointers[1], pointers[0], size))
    for header, done in reversed(loops):
        following = llvm.AddOp(header.args[0], to.integer(1), overflow=NSW)
        to.append(llvm.BrOp(header, to.compute(following)))
        to.start(done)


def _open_loop(to: FunctionConversion, size: int) -> tuple[Block, Block]:
    header, body, done = Block(arg_types=[i64]), Block(), Block()
    header.args[0].name_hint = "i"
    to.append(llvm.BrOp(header, to.integer(0)))
    to.start(header)
    less = llvm.ICmpOp(header.args[0], to.integer(size), IntegerAttr(2, i64))
    to.append(llvm.CondBrOp(to.compute(less), body, [], done, []))
    to.start(body)
    return header, done


def converted_global(op: memref.GlobalOp) -> Operation:
    """memref.global  ->  llvm.mlir.global of a flat array; i1 elements are bytes

    Raises Declined for an element type that is not stored.
    """
    element = stored_type(op.type.element_type)
    if not isinstance(element, ScalarType):
        raise Declined(f"expected elements that are scalars, got '{op.type}'")
    size = prod(op.type.get_shape())
    value = op.initial_value
    data = BytesAttr(bytes(stored_bytes(op.type.element_type)))  # one element stands for all
    if isa(value, DenseIntOrFPElementsAttr):
        bits = bytes(byte & 1 for byte in value.data.data)
        data = BytesAttr(bits) if op.type.element_type == i1 else value.data
    initial = DenseIntOrFPElementsAttr(TensorType(element, [size]), data)
    return llvm.GlobalOp(
        LLVMArrayType(size, element),
        op.sym_name,
        "private" if op.sym_visibility.data == "private" else "external",
        constant=op.constant is not None,
        value=initial,
        alignment=ALIGNMENT if op.alignment is None else op.alignment.value.data,
    )


RULES = (
    rule(memref.LoadOp, convert_load),
    rule(memref.StoreOp, convert_store),
    rule(PrefetchOp, convert_prefetch),
    rule(memref.SubviewOp, convert_subview),
    rule(memref.ViewOp, convert_view),
    rule(memref.CollapseShapeOp, convert_reshape),
    rule(memref.ExpandShapeOp, convert_reshape),
    rule(memref.CastOp, convert_cast),
    rule(memref.ReinterpretCastOp, convert_reinterpret_cast),
    rule(memref.DimOp, convert_dim),
    rule(memref.AllocaOp, convert_alloca),
    rule(memref.GetGlobalOp, convert_get_global),
    rule(memref.CopyOp, convert_copy),
)
