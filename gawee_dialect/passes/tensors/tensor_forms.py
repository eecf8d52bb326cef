"""The forms of sizes below graphs: what each `?` of a tensor's type is, from how it is computed.

    %n = tensor.dim %x, %c0        (x: tensor<?x5xf32> of ["batch", 5])
    %e = tensor.empty(%n)          -> ["batch", 5]

Types of functions below graphs have `?`. A pass that compares sizes has the forms in their place
while it works (`with_forms`), as a graph has them, so one arithmetic serves both.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from math import prod

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from gawee_dialect.analysis.index_bounds import constant_index
from gawee_dialect.analysis.open_sizes import argument_shapes, has_forms, open_functions
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.open_size import OpenSize, SizeName, UnknownSize, is_open
from gawee_dialect.dialect.types import is_tensor, tensor_shape
from gawee_dialect.hints import isa
from gawee_dialect.passes.graph.lower_to_linalg.open_sizes import erase_forms, read_name
from gawee_dialect.upstream.linalg import BroadcastOp


@contextmanager
def with_forms(module: ModuleOp) -> Generator[None]:
    """Have forms in the types of tensors for a with block, behind which types have `?` again.

    Graphs have them all the time, and stay as they are. Kernels that the block leaves have an
    operand for each name in their sizes.
    """
    functions = [each for each in open_functions(module) if not has_forms(each)]
    for function in functions:
        for argument, shape in zip(function.args, argument_shapes(function), strict=True):
            _retype(argument, shape)
        _Forms().read(function.body.block)
    try:
        yield
    finally:
        for function in functions:
            _count_kernels(function)
            erase_forms(function)


class _Forms:
    """The forms of values of type index, and of tensors that are computed of them."""

    def __init__(self) -> None:
        self.indices: dict[SSAValue, int | None] = {}

    def read(self, block: Block) -> None:
        """Give the tensors of a block the forms of their sizes, as far as these are known."""
        for op in block.ops:
            for result, shape in zip(op.results, self.shapes(op), strict=False):
                _retype(result, shape)
            if isinstance(op, scf.ForOp):
                for argument, initial in zip(op.body.block.args[1:], op.iter_args, strict=True):
                    if is_tensor(initial.type):
                        _retype(argument, tensor_shape(initial))
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
                return self._filled(tensor_shape(op.tensor), op.dynamic_sizes)
            case tensor.ExtractSliceOp():
                return self._slice(op)
            case tensor.ExpandShapeOp():
                sizes = op.static_output_shape.get_values()
                return self._filled(sizes, op.dynamic_output_shape)
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

    def _filled(self, sizes: Sequence[int], values: Sequence[SSAValue]) -> Sequence[int]:
        """Put the forms of values in the place of sizes that are no numbers."""
        forms = iter([self.index(value) for value in values])
        return [_known(next(forms, None)) if _is_unnamed(size) else size for size in sizes]

    def _slice(self, op: tensor.ExtractSliceOp) -> Sequence[int]:
        shape, found = tensor_shape(op.result), list[int]()
        for size in self._filled(op.static_sizes.get_values(), op.sizes):
            if len(found) < len(shape):  # axes of one may be left out
                wanted = shape[len(found)]
                is_open_size = isinstance(size, OpenSize) or _is_unnamed(size)
                if is_open_size if _is_unnamed(wanted) else size == wanted:
                    found.append(size)
        return found if len(found) == len(shape) else shape

    def _collapsed(self, op: tensor.CollapseShapeOp) -> Sequence[int]:
        source = tensor_shape(op.src)
        groups = [
            [axis.value.data for axis in g if isa(axis, IntegerAttr)] for g in op.reassociation
        ]
        sizes = [[source[axis] for axis in group] for group in groups]
        return [DYNAMIC_INDEX if any(map(_is_unnamed, each)) else prod(each) for each in sizes]

    def _padded(self, op: tensor.PadOp) -> Sequence[int]:
        low = self._filled(op.static_low.get_values(), op.low)
        high = self._filled(op.static_high.get_values(), op.high)
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


ARITHMETIC = (arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.DivUIOp, arith.DivSIOp)


def _arithmetic(op: Operation, lhs: int, rhs: int) -> int | None:
    try:
        match op:
            case arith.AddiOp():
                return lhs + rhs
            case arith.SubiOp():
                return lhs - rhs
            case arith.MuliOp():
                return lhs * rhs
            case _:
                return lhs // rhs
    except (UnknownSize, ZeroDivisionError):
        return None


def _is_unnamed(size: int) -> bool:
    return not isinstance(size, OpenSize) and size == DYNAMIC_INDEX


def _known(size: int | None) -> int:
    return DYNAMIC_INDEX if size is None else size


def _retype(value: SSAValue, shape: Sequence[int]) -> None:
    if is_tensor(value.type) and is_open(shape):
        type = TensorType(value.type.element_type, shape)
        Rewriter.replace_value_with_new_type(value, type)


# The operands of kernels.


def _count_kernels(function: FuncOp) -> None:
    """Give each kernel an operand for each name in its sizes, read where the function begins."""
    values = _names_read(function)
    for op in list(function.walk()):
        if isinstance(op, KernelOp) and len(op.counts) != len(op.names):
            for name in op.names:
                if name not in values:
                    values[name] = read_name(function, name)
            op.set_counts([values[name] for name in op.names])


def _names_read(function: FuncOp) -> dict[SizeName, SSAValue]:
    """Return the names that are read where the function begins."""
    forms, values = _Forms(), dict[SizeName, SSAValue]()
    for op in function.body.block.ops:
        if not isinstance(op, (tensor.DimOp, arith.ConstantOp, *ARITHMETIC)):
            break
        form = forms.index(op.results[0])
        for name in form.names if isinstance(form, OpenSize) else ():
            if form == OpenSize.named(name):
                values.setdefault(name, op.results[0])
    return values
