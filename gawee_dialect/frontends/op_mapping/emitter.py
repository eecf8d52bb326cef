"""What mapping functions make ops with, and the entry function that a graph becomes."""

from collections.abc import Callable, Sequence
from enum import IntEnum
from math import prod

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    LocationAttr,
    ModuleOp,
    TensorType,
    UnknownLoc,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from gawee_dialect.analysis.open_sizes import mark_sizes
from gawee_dialect.dialect.dense import dense_of
from gawee_dialect.dialect.entry import (
    MAIN,
    ArgumentKind,
    EntryArgument,
    append_argument,
    output_attributes,
)
from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.constant import ConstantOp, IotaOp
from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp, SubOp
from gawee_dialect.dialect.graph.logic import CompareOp, WhereOp
from gawee_dialect.dialect.graph.movement import BroadcastToOp, CatOp, ReshapeOp, TransposeOp
from gawee_dialect.dialect.graph.slicing import SliceOp
from gawee_dialect.dialect.open_size import OpenSize, greater, is_open, least, lesser
from gawee_dialect.dialect.types import (
    ELEMENT_TYPES,
    AnyTensor,
    element_type,
    is_float,
    is_tensor,
    shape_text,
    tensor_shape,
    tensor_type,
    ui8,
    ui16,
)
from gawee_dialect.frontends.op_mapping.registry import Ints, Number, Operand, Refusal
from gawee_dialect.identifiers import name_hint

MAX_OPS = 1 << 16
"""Of a graph: more, as loops that are written out may make, would take minutes to read."""


MAX_ELEMENTS = 1 << 48
"""Of a tensor: no memory has room for more, and products of sizes stay within 64 bits."""


def check_elements(type: Attribute) -> None:
    """Raise Refusal for a tensor of more elements than any memory has room for."""
    if is_tensor(type) and least(prod(type.get_shape())) > MAX_ELEMENTS:
        got = shape_text(type.get_shape())
        raise Refusal(f"expected a tensor of at most {MAX_ELEMENTS} elements, got {got}")


def _always(_output: int) -> bool:
    return True


class Emitter:
    """Appends ops to a block; `emit(AddOp(x, y))` returns the sum.

    `output_types` are what the node declares that it makes; `is_used` says which of its outputs
    anything reads, so that what only training needs is not computed; `outputs` is how many it has.
    """

    def __init__(self, block: Block) -> None:
        self.block = block
        self.location: LocationAttr = UnknownLoc()
        self.output_types: Sequence[AnyTensor] = ()
        self.is_used: Callable[[int], bool] = _always
        self.outputs = 1
        self.held: dict[SSAValue, str] = {}
        """Tensors that stand for elements of a dtype that the dialect has no element type of."""
        self.count = 0
        """Of ops that were appended."""

    def __call__(self, op: Operation) -> SSAValue:
        """Append an op; return its first result."""
        return self.all(op)[0]

    def all(self, op: Operation) -> Sequence[SSAValue]:
        """Append an op; return all its results.

        Raises Refusal for more than `MAX_OPS`, and for a tensor of more than `MAX_ELEMENTS`.
        """
        for result in op.results:
            check_elements(result.type)
        self.count += 1
        if self.count > MAX_OPS:
            raise Refusal(f"expected a graph of at most {MAX_OPS} ops, got more")
        op.location = self.location
        self.block.add_op(op)
        return op.results

    def array(self, values: NDArray[np.generic], element: Attribute) -> SSAValue:
        """Return a constant with the values of an array, in an element type."""
        return self(ConstantOp(dense_of(values, TensorType(element, values.shape))))

    def number(self, value: Number, element: Attribute) -> SSAValue:
        """Return a constant of rank 0."""
        return self.array(np.asarray(value), element)

    def full(self, shape: Sequence[int], value: Number, element: Attribute) -> SSAValue:
        """Return a tensor with one value everywhere."""
        return self.broadcast(self.number(value, element), shape)

    def cast(self, value: SSAValue, element: Attribute) -> SSAValue:
        """Return a tensor in another element type; itself where it has that type."""
        same = tensor_type(value).element_type == element
        return value if same else self(CastOp(value, element))

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """Return a tensor under another shape; itself where it has that shape."""
        same = tensor_shape(value) == tuple(shape)
        return value if same else self(ReshapeOp(value, shape=shape))

    def broadcast(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """Return a tensor repeated to a shape, by NumPy's rule; itself where it has that shape."""
        same = tensor_shape(value) == tuple(shape)
        return value if same else self(BroadcastToOp(value, shape=shape))


def dtype_element(dtype: str) -> Attribute:
    """Return the element type of a dtype, spelled as PyTorch does or without `torch.`.

    Raises Refusal for a dtype that this dialect has no element type of.
    """
    element = ELEMENT_TYPES.get(dtype.removeprefix("torch."))
    if element is None:
        raise Refusal(f"unsupported dtype '{dtype}'; supported: {', '.join(ELEMENT_TYPES)}")
    return element


def widened(emit: Emitter, value: SSAValue) -> SSAValue:
    """Return a tensor in f32 where it is in f16, which squares may be beyond; else itself."""
    return emit.cast(value, f32) if tensor_type(value).element_type == f16 else value


def axis_of(value: SSAValue, dim: int, *, new: bool = False) -> int:
    """Return an axis counted from the start; raises Refusal where the tensor has none such.

    A scalar counts as having one axis, as in PyTorch. With `new` the axis is one to be made.
    """
    rank = len(tensor_shape(value)) + 1 if new else max(len(tensor_shape(value)), 1)
    if not -rank <= dim < rank:
        raise Refusal(f"expected dim from {-rank} to {rank - 1}, got {dim}")
    return dim % rank


def axes_of(value: SSAValue, dims: Sequence[int] | None) -> list[int]:
    """Return axes counted from the start, sorted; all of them for None and for no dims."""
    if not tensor_shape(value):
        return []
    if not dims:
        return list(range(len(tensor_shape(value))))
    return sorted({axis_of(value, dim) for dim in dims})


# Shapes, parts and orders of axes, as mappings of every vocabulary need them.


def completed(shape: Ints, elements: int) -> list[int]:
    """Return a shape whose one -1, if any, is what the number of elements leaves for it."""
    known = prod(size for size in shape if size != -1)
    if -1 not in shape:
        return list(shape)
    if shape.count(-1) > 1 or known == 0 or elements % known != 0:
        raise Refusal(f"expected shape {list(shape)} to hold {elements} elements")
    return [elements // known if size == -1 else size for size in shape]


def part(
    emit: Emitter, value: SSAValue, axis: int, start: int, size: int, step: int = 1
) -> SSAValue:
    """Return a part of one axis; the tensor itself where that is all of it."""
    shape = tensor_shape(value)
    if (start, size, step) == (0, shape[axis], 1):
        return value
    offsets, sizes, strides = [0] * len(shape), list(shape), [1] * len(shape)
    offsets[axis], sizes[axis], strides[axis] = start, size, step
    return emit(SliceOp(value, offsets=offsets, sizes=sizes, strides=strides))


def bounds(size: int, start: int | None, end: int | None, step: int) -> tuple[int, int]:
    """Return the first position that a slice takes of an axis, and how many: Python's rule.

    The step is at least 1. Raises UnknownSize where open sizes do not tell.
    """
    ends = (0 if start is None else start, size if end is None else end)
    first, last = (
        each if each == size else lesser(greater(each if each >= 0 else each + size, 0), size)
        for each in ends
    )
    count = greater(-((first - last) // step), 0)
    return (first if isinstance(count, OpenSize) or count else 0), count


def counted(emit: Emitter, start: Number, count: int, step: Number, element: Attribute) -> SSAValue:
    """Return so many numbers: start, start + step, ...; start and count may be open sizes."""
    if isinstance(start, OpenSize) and (step != 1 or least(start) < 0):
        value = counted(emit, 0, count, step, element)
        return emit(AddOp(value, as_element(emit, start, element)))
    if isinstance(start, OpenSize):
        return part(emit, counted(emit, 0, start + count, 1, element), 0, start, count)
    value = emit(IotaOp(TensorType(element, [count]), axis=0))
    if step != 1:
        value = emit(MulOp(value, emit.number(step, element)))
    return value if start == 0 else emit(AddOp(value, emit.number(start, element)))


def numbers_of_sizes(emit: Emitter, sizes: Sequence[int], shape: Sequence[int]) -> SSAValue:
    """Return sizes, open ones too, as a tensor of i64: each is the last of so many numbers."""
    numbers = [_number_of_size(emit, size) for size in sizes]
    row = emit(CatOp(numbers, dim=0)) if len(numbers) > 1 else numbers[0]
    return emit.reshape(row, shape)


def _number_of_size(emit: Emitter, size: int) -> SSAValue:
    """Return a size, which may be less than 0, as a tensor of one element."""
    if not isinstance(size, OpenSize) or least(size) >= 0:
        return counted(emit, size, 1, 1, i64)
    above, below = size.split()
    return emit(SubOp(_number_of_size(emit, above), _number_of_size(emit, below)))


def permuted(emit: Emitter, value: SSAValue, permutation: Sequence[int]) -> SSAValue:
    """Return a tensor with its axes in another order; itself where it is the same order."""
    in_order = list(permutation) == sorted(permutation)
    return value if in_order else emit(TransposeOp(value, permutation=permutation))


def stacked(emit: Emitter, values: Sequence[SSAValue], axis: int) -> SSAValue:
    """Return tensors of one type along a new axis, counted from the start.

    They are put together along the axis that is there, which is split then: what follows on images
    sees channels. Behind the last axis there is none.
    """
    shape = tensor_shape(values[0])
    if axis < len(shape) and all(tensor_shape(each) == shape for each in values):
        joined = emit(CatOp(values, dim=axis)) if len(values) > 1 else values[0]
        return emit.reshape(joined, (*shape[:axis], len(values), *shape[axis:]))
    rows = [_with_axis(emit, each, axis) for each in values]
    return emit(CatOp(rows, dim=axis)) if len(rows) > 1 else rows[0]


def _with_axis(emit: Emitter, value: SSAValue, axis: int) -> SSAValue:
    shape = tensor_shape(value)
    return emit.reshape(value, (*shape[:axis], 1, *shape[axis:]))


# PyTorch's type promotion: the element type in which an op on mixed operands computes.
#
# Tensors with axes decide; a tensor of rank 0 counts only where its kind (bool, integer, float) is
# higher than theirs, a Python number only where its kind is higher than that of all tensors.


WIDENING: Sequence[Attribute] = (i1, ui8, i8, i16, i32, i64, f16, f32, f64)
"""Element types in the order in which they take one another in; ui8 and i8 make i16."""


class NumberKind(IntEnum):
    """What promotion compares first."""

    NONE = 0
    BOOL = 1
    INTEGER = 2
    FLOAT = 3


def kind_of(element: Attribute) -> NumberKind:
    """Return the kind of an element type."""
    if is_float(element):
        return NumberKind.FLOAT
    return NumberKind.BOOL if element == i1 else NumberKind.INTEGER


def number_element(value: Number) -> Attribute:
    """Return the element type that a Python number has on its own."""
    if isinstance(value, bool):
        return i1
    return i64 if isinstance(value, int) else f32


def wider(lhs: Attribute, rhs: Attribute) -> Attribute:
    """Return the element type that holds both; raises Refusal where PyTorch promotes to none."""
    if lhs == rhs:
        return lhs
    if {lhs, rhs} == {i8, ui8}:
        return i16
    if ui16 in (lhs, rhs):
        raise Refusal("unsupported promotion of uint16; supported: uint16 with uint16")
    return max(lhs, rhs, key=WIDENING.index)


def _joined(elements: Sequence[Attribute]) -> Attribute | None:
    result: Attribute | None = None
    for element in elements:
        result = element if result is None else wider(result, element)
    return result


def common_element(*operands: Operand) -> Attribute:
    """Return the element type that operands promote to."""
    tensors = [each for each in operands if isinstance(each, SSAValue)]
    groups = (
        [element_type(each) for each in tensors if tensor_shape(each)],
        [element_type(each) for each in tensors if not tensor_shape(each)],
        [number_element(each) for each in operands if not isinstance(each, SSAValue)],
    )
    result: Attribute | None = None
    for group in groups:
        joined = _joined(group)
        if joined is not None and (result is None or kind_of(joined) > kind_of(result)):
            result = joined
    assert result is not None, "an op has operands"
    return result


def as_element(emit: Emitter, operand: Operand, element: Attribute) -> SSAValue:
    """Return an operand as a tensor of an element type."""
    if isinstance(operand, SSAValue):
        return emit.cast(operand, element)
    if isinstance(operand, OpenSize):
        return emit.cast(numbers_of_sizes(emit, [operand], ()), element)
    return emit.number(operand, element)


def promoted(emit: Emitter, lhs: Operand, rhs: Operand) -> tuple[SSAValue, SSAValue]:
    """Return two operands as tensors of the element type that they promote to."""
    element = common_element(lhs, rhs)
    return as_element(emit, lhs, element), as_element(emit, rhs, element)


def all_promoted(emit: Emitter, operands: Sequence[Operand]) -> list[SSAValue]:
    """Return operands as tensors of the element type that they promote to."""
    element = common_element(*operands)
    return [as_element(emit, each, element) for each in operands]


def promoted_to_float(emit: Emitter, lhs: Operand, rhs: Operand) -> tuple[SSAValue, SSAValue]:
    """Return two operands as tensors of one float type: float32 where none of them is a float."""
    element = float_element(common_element(lhs, rhs))
    return as_element(emit, lhs, element), as_element(emit, rhs, element)


def float_element(element: Attribute) -> Attribute:
    """Return the element type of a function of floats; that of integers is float32."""
    return element if is_float(element) else f32


def to_float(emit: Emitter, value: SSAValue) -> SSAValue:
    """Return a tensor of floats; integers become float32."""
    return emit.cast(value, float_element(element_type(value)))


def to_bool(emit: Emitter, value: SSAValue) -> SSAValue:
    """Return whether each element is not zero."""
    return emit.cast(value, i1)


def summed(emit: Emitter, value: SSAValue) -> SSAValue:
    """Return a tensor in the element type of its sum: integers and booleans become int64."""
    return value if is_float(element_type(value)) else emit.cast(value, i64)


# Comparisons and choices, with PyTorch's promotion of mixed element types.


def compared(emit: Emitter, lhs: Operand, rhs: Operand, predicate: str) -> SSAValue:
    """Return whether each pair of elements compares as the predicate says."""
    return emit(CompareOp(*promoted(emit, lhs, rhs), predicate=predicate))


def where(emit: Emitter, condition: SSAValue, self: Operand, other: Operand) -> SSAValue:
    """Choose by a condition."""
    return emit(WhereOp(to_bool(emit, condition), *promoted(emit, self, other)))


INLINE_ELEMENTS = 4096
"""Constants of up to so many elements are written in the IR; larger ones are arguments."""


class EntryFunction:
    """A function under construction; `emit` appends ops to it."""

    def __init__(self) -> None:
        self.block = Block()
        self.emit = Emitter(self.block)
        self.arguments: list[EntryArgument] = []

    def add_argument(
        self, kind: ArgumentKind, name: str, type: AnyTensor, path: str | None = None
    ) -> SSAValue:
        """Append an argument; return its value."""
        index = len(self.arguments)
        self.arguments.append(EntryArgument(index, kind, name, type, path))
        value = append_argument(self.block, type)
        value.name_hint = name_hint(name)
        return value

    def module(self, outputs: Sequence[SSAValue], names: Sequence[str]) -> ModuleOp:
        """Finish the function; return the module that holds it, not verified yet.

        Ops that nothing reads are left out; an output whose name is taken gets a number.
        """
        function = self.finished(outputs, unique_names(names)[: len(outputs)])
        self._erase_unused()
        if any(is_open(tensor_shape(each)) for each in function.args):
            mark_sizes(function)
        return ModuleOp([function])

    def located_module(
        self, outputs: Sequence[SSAValue], names: Sequence[str], location: LocationAttr
    ) -> ModuleOp:
        """Finish the function as it is; return the module that holds it, at a location."""
        function = self.finished(outputs, names)
        module = ModuleOp([function])
        for op in (self.block.last_op, function, module):
            assert op is not None  # the block ends in a return
            op.location = location
        return module

    def finished(self, outputs: Sequence[SSAValue], names: Sequence[str]) -> FuncOp:
        """Return the function, which returns some values."""
        self.block.add_op(ReturnOp(*outputs))
        inputs = [argument.type for argument in self.arguments]
        return FuncOp(
            MAIN,
            FunctionType.from_lists(inputs, [value.type for value in outputs]),
            Region(self.block),
            arg_attrs=ArrayAttr(argument.attributes() for argument in self.arguments),
            res_attrs=output_attributes(names),
        )

    def _erase_unused(self) -> None:
        # Transposed weights, for example, which linear layers use as they are stored.
        for op in reversed(list(self.block.ops)):
            if op.results and not any(result.uses for result in op.results):
                op.detach()
                op.erase()


def unique_names(names: Sequence[str]) -> list[str]:
    """Return names made different: the second `y` becomes `y_2`, or what is free after it."""
    taken, used, counts = set(names), set[str](), dict[str, int]()
    unique: list[str] = []
    for name in names:
        candidate = name
        if name in used:
            count = counts.get(name, 1) + 1
            while (candidate := f"{name}_{count}") in used or candidate in taken:
                count += 1
            counts[name] = count
        used.add(candidate)
        unique.append(candidate)
    return unique
