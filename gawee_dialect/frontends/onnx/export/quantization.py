"""Ops that quantize and dequantize: found by what the importer makes of such nodes, and written."""

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import f32, i8, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from gawee_dialect.dialect.graph.activation import ClipOp
from gawee_dialect.dialect.graph.arithmetic import RoundOp
from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, SubOp
from gawee_dialect.dialect.graph.movement import ReshapeOp
from gawee_dialect.dialect.types import element_type, tensor_shape, ui8
from gawee_dialect.frontends.onnx.export.registry import Attribute as NodeAttribute
from gawee_dialect.frontends.onnx.export.registry import Given, Nodes

BOUNDS: Mapping[Attribute, tuple[int, int]] = {i8: (-128, 127), ui8: (0, 255)}
"""What is quantized is clipped to these."""


@dataclass(frozen=True)
class Quantization:
    """The last op of a QuantizeLinear or a DequantizeLinear, what it reads, and its other ops."""

    op_type: str
    input: SSAValue
    scale: SSAValue
    zero_point: SSAValue | None
    axis: int | None
    inner: tuple[Operation, ...]

    def write(self, nodes: Nodes, op: Operation) -> None:
        """Append the node."""
        inputs: list[Given] = [self.input, self.scale, self.zero_point]
        attributes: dict[str, NodeAttribute] = {} if self.axis is None else {"axis": self.axis}
        nodes(self.op_type, inputs, op.results, **attributes)


def quantizations(function: FuncOp) -> Mapping[Operation, Quantization]:
    """Return the ops of a function that end such a node."""
    found = {op: made for op in function.body.block.ops if (made := _quantization(op)) is not None}
    return {op: made for op, made in found.items() if _is_closed(op, made)}


def inner_ops(found: Mapping[Operation, Quantization]) -> set[Operation]:
    """Return the ops that such nodes stand for, where nothing else reads them."""
    inner = {op for each in found.values() for op in each.inner}
    return {op for op in inner if _users(op) <= inner | found.keys()}


def _users(op: Operation) -> set[Operation]:
    return {use.operation for result in op.results for use in result.uses}


def _is_closed(op: Operation, found: Quantization) -> bool:
    """Whether nothing else reads the tensors between the first op and the last."""
    return all(_users(each) <= {op, *found.inner} for each in found.inner if not _is_point(each))


def _is_point(op: Operation) -> bool:
    """Whether an op makes no tensor, but a scale or a zero point of one."""
    return isinstance(op, ReshapeOp) or (isinstance(op, CastOp) and not tensor_shape(op.input))


def _quantization(op: Operation) -> Quantization | None:
    if isinstance(op, CastOp) and element_type(op.result) in BOUNDS:
        return _quantize(op)
    if isinstance(op, MulOp) and element_type(op.result) == f32:
        return _dequantize(op)
    return None


def _quantize(op: CastOp) -> Quantization | None:
    """cast(clip(round(x / scale) + cast(zero point)))"""
    clip, element = op.input.owner, element_type(op.result)
    if not isinstance(clip, ClipOp) or clip.min is None or clip.max is None:
        return None
    bounds = clip.min.value.data, clip.max.value.data
    if element_type(clip.input) != f32 or bounds != BOUNDS[element]:
        return None
    whole = clip.input
    inner: list[Operation] = [clip]
    zero_point: SSAValue | None = None
    if isinstance(whole.owner, AddOp):
        point = whole.owner.rhs.owner
        if not isinstance(point, CastOp) or element_type(point.input) != element:
            return None
        inner += [whole.owner, point]
        whole, zero_point = whole.owner.lhs, point.input
    if not isinstance(whole.owner, RoundOp) or not isinstance(whole.owner.input.owner, DivOp):
        return None
    division = whole.owner.input.owner
    inner += [whole.owner, division]
    return _of(op, "QuantizeLinear", division, division.lhs, zero_point, inner)


def _dequantize(op: MulOp) -> Quantization | None:
    """cast(cast(x) - cast(zero point)) * scale"""
    cast = op.lhs.owner
    if not isinstance(cast, CastOp) or element_type(cast.input) != i32:
        return None
    value = cast.input
    inner: list[Operation] = [cast]
    zero_point: SSAValue | None = None
    if isinstance(value.owner, SubOp):
        point = value.owner.rhs.owner
        if not isinstance(point, CastOp):
            return None
        inner += [value.owner, point]
        value, zero_point = value.owner.lhs, point.input
    if isinstance(value.owner, CastOp) and element_type(value.owner.input) in BOUNDS:
        inner.append(value.owner)
        value = value.owner.input
    elif zero_point is not None:
        return None
    if zero_point is not None and element_type(zero_point) != element_type(value):
        return None
    return _of(op, "DequantizeLinear", op, value, zero_point, inner)


def _of(
    op: MulOp | CastOp,
    op_type: str,
    scaling: DivOp | MulOp,
    value: SSAValue,
    zero_point: SSAValue | None,
    inner: list[Operation],
) -> Quantization | None:
    """Return the node, where its scale is one number or one for each index of an axis."""
    shape = tensor_shape(op.result)
    if element_type(scaling.rhs) != f32 or tensor_shape(value) != shape:
        return None
    rank = len(tensor_shape(scaling.rhs))
    axis = len(shape) - rank if rank else None
    given = [scaling.rhs] if zero_point is None else [scaling.rhs, zero_point]
    found: list[SSAValue] = []
    for each in given:
        wanted = () if axis is None else (shape[axis], *[1] * (rank - 1))
        if tensor_shape(each) != wanted:
            return None
        if rank > 1:
            if not isinstance(each.owner, ReshapeOp) or len(tensor_shape(each.owner.input)) != 1:
                return None
            inner.append(each.owner)
            each = each.owner.input
        if not isinstance(each.owner, ConstantOp | Block):  # arithmetic that happens to look so
            return None
        found.append(each)
    return Quantization(op_type, value, found[0], (*found, None)[1], axis, tuple(inner))
