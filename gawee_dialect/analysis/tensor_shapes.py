"""The shapes of tensors below graphs: what each `?` of a type is, from how it is computed.

    %n = tensor.dim %x, %c0        (x: tensor<?x5xf32> of ["batch", 5])
    %e = tensor.empty(%n)          -> ["batch", 5]

Where a size that a function leaves open gets a number, types have fewer `?`:

    func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
      %n = tensor.dim %x, %c0
      %e = tensor.empty(%n) : tensor<?x3xf32>
    ->   for argument 0 of 4x3
    func.func @main(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %e = tensor.empty() : tensor<4x3xf32>

What an op makes of narrower operands is known for those of linalg, tensor and scf.for; others get
the types that they had, by `tensor.cast`.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith, linalg, memref, scf, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    TensorType,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from gawee_dialect.analysis.index_bounds import constant_index
from gawee_dialect.diagnostics import verify_module
from gawee_dialect.dialect.entry import EntryArgument, entry_arguments, find_function
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.open_size import OpenSize, UnknownSize, is_open
from gawee_dialect.dialect.operation import set_groups
from gawee_dialect.dialect.types import (
    fits_shape,
    is_shaped,
    is_tensor,
    require_input_shape,
    tensor_shape,
)
from gawee_dialect.hints import isa
from gawee_dialect.upstream.linalg import BroadcastOp
from gawee_dialect.upstream.tensor import kept_axes


class Forms:
    """The forms of values of type index, and of tensors that are computed of them."""

    def __init__(self) -> None:
        self.indices: dict[SSAValue, int | None] = {}

    def read(self, block: Block) -> None:
        """Give the tensors of a block the forms of their sizes, as far as these are known."""
        for op in block.ops:
            for result, shape in zip(op.results, self.shapes(op), strict=False):
                retype_open(result, shape)
            if isinstance(op, scf.ForOp):
                for argument, initial in zip(op.body.block.args[1:], op.iter_args, strict=True):
                    if is_tensor(initial.type):
                        retype_open(argument, tensor_shape(initial))
                self.read(op.body.block)

    def shapes(self, op: Operation) -> Sequence[Sequence[int]]:
        """Return the shapes of an op's results; none where they are not known."""
        match op:
            case LinalgStructuredOperation():
                return [tensor_shape(each) for each in op.outputs if is_tensor(each.type)]
            case scf.ForOp():
                return [tensor_shape(each) if is_tensor(each.type) else () for each in op.iter_args]
            case KernelOp() if op.shape is not None:
                return [op.target_shape]
            case _:
                shape = self._shape(op)
                return [] if shape is None else [shape]

    def _shape(self, op: Operation) -> Sequence[int] | None:
        match op:
            case tensor.EmptyOp():
                return self.filled(tensor_shape(op.tensor), op.dynamic_sizes)
            case tensor.ExtractSliceOp():
                return self._slice(op)
            case tensor.ExpandShapeOp():
                sizes = op.static_output_shape.get_values()
                return self.filled(sizes, op.dynamic_output_shape)
            case tensor.CollapseShapeOp():
                return self._collapsed(op)
            case tensor.PadOp():
                return self._padded(op)
            case tensor.InsertSliceOp() | tensor.InsertOp():
                return tensor_shape(op.dest)
            case BroadcastOp():
                return tensor_shape(op.init)
            case _:
                return None

    def filled(self, sizes: Sequence[int], values: Sequence[SSAValue]) -> Sequence[int]:
        """Put the forms of values in the place of sizes that are no numbers."""
        forms = iter([self.index(value) for value in values])
        return [_known(next(forms, None)) if _is_unnamed(size) else size for size in sizes]

    def _slice(self, op: tensor.ExtractSliceOp) -> Sequence[int]:
        shape, sizes = tensor_shape(op.result), op.static_sizes.get_values()
        kept, known = kept_axes(sizes, shape), self.filled(sizes, op.sizes)
        return [known[axis] for axis in kept] if len(kept) == len(shape) else shape

    def _collapsed(self, op: tensor.CollapseShapeOp) -> Sequence[int]:
        source = tensor_shape(op.src)
        groups = [
            [axis.value.data for axis in g if isa(axis, IntegerAttr)] for g in op.reassociation
        ]
        sizes = [[source[axis] for axis in group] for group in groups]
        return [DYNAMIC_INDEX if any(map(_is_unnamed, each)) else prod(each) for each in sizes]

    def _padded(self, op: tensor.PadOp) -> Sequence[int]:
        low = self.filled(op.static_low.get_values(), op.low)
        high = self.filled(op.static_high.get_values(), op.high)
        parts = zip(tensor_shape(op.source), low, high, strict=True)
        return [DYNAMIC_INDEX if any(map(_is_unnamed, each)) else sum(each) for each in parts]

    def index(self, value: SSAValue) -> int | None:
        """Return the form of an index; None where it is none."""
        if value not in self.indices:
            self.indices[value] = self._computed(value)
        return self.indices[value]

    def _computed(self, value: SSAValue) -> int | None:
        number, op = constant_index(value), value.owner
        if number is not None or isinstance(op, Block):
            return number
        if isinstance(op, tensor.DimOp):
            axis = constant_index(op.index)
            shape = tensor_shape(op.source) if is_tensor(op.source.type) else ()
            if axis is None or not 0 <= axis < len(shape):  # of no axis: nothing is said of it
                return None
            return None if _is_unnamed(shape[axis]) else shape[axis]
        if not isinstance(op, ARITHMETIC):
            return None
        lhs, rhs = self.index(op.operands[0]), self.index(op.operands[1])
        return None if lhs is None or rhs is None else _arithmetic(op, lhs, rhs)


ARITHMETIC = (arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.DivUIOp, arith.DivSIOp, arith.RemUIOp)


def _arithmetic(op: Operation, lhs: int, rhs: int) -> int | None:
    try:
        match op:
            case arith.AddiOp():
                return lhs + rhs
            case arith.SubiOp():
                return lhs - rhs
            case arith.MuliOp():
                return lhs * rhs
            case arith.RemUIOp():
                return lhs % rhs
            case _:
                return lhs // rhs
    except (UnknownSize, ZeroDivisionError):
        return None


def _is_unnamed(size: int) -> bool:
    return not isinstance(size, OpenSize) and size == DYNAMIC_INDEX


def _known(size: int | None) -> int:
    return DYNAMIC_INDEX if size is None else size


def retype_open(value: SSAValue, shape: Sequence[int]) -> None:
    """Give a tensor the forms of its sizes, where one is open."""
    if is_tensor(value.type) and is_open(shape):
        type = TensorType(value.type.element_type, shape)
        Rewriter.replace_value_with_new_type(value, type)


TAKING_ANY = (
    *(LinalgStructuredOperation, BroadcastOp, linalg.ops.YieldOp, ReturnOp),
    *(tensor.DimOp, tensor.ExtractOp, tensor.CastOp, tensor.EmptyOp, tensor.PadOp),
    *(tensor.ExtractSliceOp, tensor.InsertSliceOp, tensor.InsertOp),
    *(tensor.ExpandShapeOp, tensor.CollapseShapeOp),
    *(memref.LoadOp, memref.StoreOp, memref.DimOp),
)
"""Ops that take narrower operands as they are; types of results are theirs, or made narrower."""


def narrow_arguments(function: FuncOp, shapes: Mapping[int, Sequence[int]]) -> None:
    """Give arguments the shapes that are known of them, and what is computed of them its own.

    In place; an argument is named by its number. Sizes that no shape says stay `?`.
    """
    narrowing = _Narrowing()
    for number, shape in shapes.items():
        narrowing.retype(function.args[number], shape)
    for block in function.body.blocks:
        narrowing.run(block)
    function.update_function_type()


def with_shapes(module: ModuleOp, shapes: Mapping[str, Sequence[int]]) -> ModuleOp:
    """Return a module of which inputs have the shapes that are given where their types say `?`.

    That is, of sizes without names. The module itself where there is nothing to say. Raises
    GaweeError for a shape that does not fit its type.
    """
    opened = [each for each in unnamed_inputs(module) if each.name in shapes]
    for each in opened:
        require_input_shape(each.name, _shape(each.type), shapes[each.name])
    if not opened:
        return module
    copy = module.clone()
    function = find_function(copy)
    assert function is not None
    narrow_arguments(function, {each.index: [*shapes[each.name]] for each in opened})
    verify_module(copy)
    return copy


def _shape(type: Attribute) -> Sequence[int]:
    return type.get_shape() if is_shaped(type) else ()


def unnamed_inputs(module: ModuleOp) -> Sequence[EntryArgument]:
    """Return the arguments of `@main` with sizes that are open and have no names."""
    function = find_function(module)
    arguments = () if function is None else entry_arguments(function)
    return [each for each in arguments if each.sizes is None and DYNAMIC_INDEX in _shape(each.type)]


class _Narrowing:
    def __init__(self) -> None:
        self.forms = Forms()
        self.before: dict[SSAValue, Attribute] = {}
        """The types that values had, of those that have narrower ones."""

    def retype(self, value: SSAValue, shape: Sequence[int]) -> None:
        """Give a value a type of a shape, where that says more than the type that it has."""
        old = value.type
        if not is_shaped(old) or not fits_shape(old.get_shape(), shape):
            return
        if tuple(shape) == old.get_shape():
            return
        if is_tensor(old):
            new: Attribute = TensorType(old.element_type, shape, old.encoding)
        else:
            assert isa(old, MemRefType)
            new = MemRefType(old.element_type, shape, old.layout, old.memory_space)
        self.before[Rewriter.replace_value_with_new_type(value, new)] = old

    def retype_all(self, values: Sequence[SSAValue], shapes: Sequence[Sequence[int]]) -> None:
        """Do so for some values, of which some shapes may not be known."""
        for value, shape in zip(values, shapes, strict=False):
            self.retype(value, shape)

    def run(self, block: Block) -> None:
        for op in list(block.ops):
            if isinstance(op, scf.ForOp):
                self.loop(op)
                continue
            if not isinstance(op, TAKING_ANY):
                self.widen(op)
            if not isinstance(op, LinalgStructuredOperation):
                for inner in _blocks(op):
                    self.run(inner)
            shapes = self.forms.shapes(op)
            self.write_sizes(op, shapes)
            self.retype_all(op.results, shapes)

    def loop(self, op: scf.ForOp) -> None:
        """Narrow what a loop carries; what it hands on is cast where less is known of it."""
        self.retype_all(op.body.block.args[1:], self.forms.shapes(op))
        self.run(op.body.block)
        last = op.body.block.last_op
        assert isinstance(last, scf.YieldOp)
        for number, (value, wanted) in enumerate(zip(last.operands, op.iter_args, strict=True)):
            last.operands[number] = _cast(last, value, wanted.type)
        self.retype_all(op.results, self.forms.shapes(op))

    def widen(self, op: Operation) -> None:
        """Give an op's operands the types that they had."""
        if isinstance(op, scf.YieldOp) and isinstance(op.parent_op(), scf.ForOp):
            return
        for number, value in enumerate(op.operands):
            if value in self.before:
                op.operands[number] = _cast(op, value, self.before[value])

    def write_sizes(self, op: Operation, shapes: Sequence[Sequence[int]]) -> None:
        """Write sizes of an op that are known in the place of the operands that say them."""
        match op:
            case tensor.EmptyOp():
                op.operands = _left(tensor_shape(op.tensor), shapes[0], op.dynamic_sizes)
            case tensor.ExpandShapeOp():
                sizes = op.static_output_shape.get_values()
                op.operands = [op.src, *_left(sizes, shapes[0], op.dynamic_output_shape)]
                op.static_output_shape = DenseArrayBase.from_list(i64, shapes[0])
            case tensor.ExtractSliceOp() | tensor.InsertSliceOp():
                sizes = op.static_sizes.get_values()
                known = self.forms.filled(sizes, op.sizes)
                left = _left(sizes, known, op.sizes)
                dest = ([op.dest],) if isinstance(op, tensor.InsertSliceOp) else ()
                set_groups(op, ([op.source], *dest, op.offsets, left, op.strides))
                op.static_sizes = DenseArrayBase.from_list(i64, known)
            case _:
                pass


def _left(sizes: Sequence[int], known: Sequence[int], values: Sequence[SSAValue]) -> list[SSAValue]:
    """Return the values of sizes that stay open."""
    given = iter(values)
    pairs = [(next(given), new) for old, new in zip(sizes, known, strict=True) if old < 0]
    return [value for value, size in pairs if size == DYNAMIC_INDEX]


def _cast(before: Operation, value: SSAValue, type: Attribute) -> SSAValue:
    if value.type == type:
        return value
    builder = Builder(InsertPoint.before(before))
    cast = tensor.CastOp if is_tensor(type) else memref.CastOp
    return builder.insert(cast.create(operands=[value], result_types=[type])).results[0]


def _blocks(op: Operation) -> Iterator[Block]:
    for region in op.regions:
        yield from region.blocks
