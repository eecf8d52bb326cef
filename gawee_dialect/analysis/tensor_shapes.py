"""The shapes of tensors below graphs: what each `?` of a type is, from how it is computed.

%n = tensor.dim %x, %c0        (x: tensor<?x5xf32> of ["batch", 5])
%e = tensor.empty(%n)          -> ["batch", 5]
"""

from collections.abc import Sequence
from math import prod

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, TensorType
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from gawee_dialect.analysis.index_bounds import constant_index
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.open_size import OpenSize, UnknownSize, is_open
from gawee_dialect.dialect.types import is_tensor, tensor_shape
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


def retype_open(value: SSAValue, shape: Sequence[int]) -> None:
    """Give a tensor the forms of its sizes, where one is open."""
    if is_tensor(value.type) and is_open(shape):
        type = TensorType(value.type.element_type, shape)
        Rewriter.replace_value_with_new_type(value, type)
