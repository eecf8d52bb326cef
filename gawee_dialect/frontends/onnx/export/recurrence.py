"""Scans that are LSTM, GRU or RNN: found by what the importers make of such layers, and written."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from xdsl.dialects.builtin import TensorType, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, OpResult, SSAValue

from gawee_dialect.dialect.evaluated import is_filled_with
from gawee_dialect.dialect.graph.arithmetic import TanhOp
from gawee_dialect.dialect.graph.constant import IotaOp
from gawee_dialect.dialect.graph.elementwise import ReluOp
from gawee_dialect.dialect.graph.logic import CompareOp, WhereOp
from gawee_dialect.dialect.graph.matmul import MatMulOp
from gawee_dialect.dialect.graph.movement import BroadcastToOp, ReshapeOp
from gawee_dialect.dialect.graph.scan import ScanOp
from gawee_dialect.dialect.graph.slicing import SliceOp
from gawee_dialect.dialect.types import (
    AnyTensor,
    dtype_name,
    element_type,
    tensor_shape,
    tensor_type,
)
from gawee_dialect.frontends.npu_ir.aten.recurrent import Weights, gru_cell, lstm_cell, rnn_cell
from gawee_dialect.frontends.onnx.export.ops.contraction import sizes
from gawee_dialect.frontends.onnx.export.registry import Attribute, ExportedValue, Given, Nodes
from gawee_dialect.frontends.onnx.ops.recurrent import (
    Direction,
    State,
    gru_step,
    lstm_step,
    rnn_step,
)
from gawee_dialect.frontends.op_mapping.emitter import Emitter

Parts = Mapping[str, SSAValue]
"""What a step reads besides its input and the state: `hidden`, `bias` and `peephole`."""

Step = Callable[[Emitter, Parts, SSAValue, State], State]


@dataclass(frozen=True)
class Layer:
    """A kind of layer: its step, and the places of ONNX's gates among those of its weights."""

    op_type: str
    states: int
    step: Step
    order: Sequence[int]
    attributes: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])
    has_peephole: bool = False


def _direction(emit: Emitter, parts: Parts, state: State, *names: str) -> Direction:
    hidden = tensor_shape(state[0])[1]
    return Direction(emit, 0, hidden, parts["hidden"], parts.get("bias"), names)


def _rnn(name: str) -> Step:
    def step(emit: Emitter, parts: Parts, now: SSAValue, state: State) -> State:
        return rnn_step(_direction(emit, parts, state, name), now, state)

    return step


def _gru(emit: Emitter, parts: Parts, now: SSAValue, state: State, *, before: bool) -> State:
    return gru_step(_direction(emit, parts, state, "Sigmoid", "Tanh"), before, now, state)


def _lstm(emit: Emitter, parts: Parts, now: SSAValue, state: State) -> State:
    direction = _direction(emit, parts, state, "Sigmoid", "Tanh", "Tanh")
    return lstm_step(direction, parts.get("peephole"), now, state)


def _of_aten(cell: Callable[[Emitter, SSAValue, State, Weights], State]) -> Step:
    def step(emit: Emitter, parts: Parts, now: SSAValue, state: State) -> State:
        hidden = parts["hidden"]
        return cell(emit, now, state, Weights(hidden, hidden, None, parts.get("bias")))

    return step


LAYERS = (
    Layer("LSTM", 2, _lstm, (0, 1, 2, 3)),
    Layer("LSTM", 2, _lstm, (0, 1, 2, 3), has_peephole=True),
    Layer("LSTM", 2, _of_aten(lstm_cell), (0, 3, 1, 2)),
    Layer("GRU", 1, partial(_gru, before=False), (0, 1, 2)),
    Layer("GRU", 1, partial(_gru, before=True), (0, 1, 2), {"linear_before_reset": 1}),
    Layer("GRU", 1, _of_aten(gru_cell), (1, 0, 2), {"linear_before_reset": 1}),
    Layer("RNN", 1, _rnn("Tanh"), (0,)),
    Layer("RNN", 1, _rnn("Relu"), (0,), {"activations": ["Relu"]}),
    Layer("RNN", 1, _of_aten(rnn_cell(TanhOp)), (0,)),
    Layer("RNN", 1, _of_aten(rnn_cell(ReluOp)), (0,), {"activations": ["Relu"]}),
)
"""The layers that importers make scans of."""


@dataclass(frozen=True)
class Recurrence:
    """A scan that is a layer, with the product that makes its sequence."""

    scan: ScanOp
    layer: Layer
    projection: MatMulOp
    parts: Parts
    lengths: SSAValue | None = None
    """How long each sequence is, where they are not all as long."""


def recurrences(function: FuncOp) -> dict[Operation, Recurrence]:
    """Return the scans of a function that are layers."""
    scans = (op for op in function.body.block.ops if isinstance(op, ScanOp))
    return {found.scan: found for scan in scans if (found := _recurrence(scan)) is not None}


def _recurrence(scan: ScanOp) -> Recurrence | None:
    states = len(scan.initial)
    if not scan.sequences or len(scan.results) != states + 1:
        return None
    lengths = [_lengths(each) for each in scan.sequences[1:]]
    if len(lengths) > 1 or None in lengths:
        return None
    projection = scan.sequences[0].owner
    if not isinstance(projection, MatMulOp) or len(list(projection.result.uses)) != 1:
        return None
    shapes = [tensor_shape(each) for each in (projection.input, *scan.initial)]
    if len(shapes[0]) != 3 or any(each != (shapes[0][1], shapes[1][1]) for each in shapes[1:]):
        return None
    hidden = shapes[1][1]
    for layer in LAYERS:
        gates = len(layer.order) * hidden
        if layer.states != states or tensor_shape(scan.sequences[0])[-1] != gates:
            continue
        for has_bias in (True, False):
            parts = _parts(scan, layer, gates, hidden, has_bias)
            if parts is not None:
                return Recurrence(scan, layer, projection, parts, *lengths)
    return None


def _parts(scan: ScanOp, layer: Layer, gates: int, hidden: int, has_bias: bool) -> Parts | None:
    """Return what the step of a layer reads, where the body of a scan is that step."""
    element = element_type(scan.initial[0])
    shapes: dict[str, Sequence[int]] = {"hidden": (gates, hidden)}
    if has_bias:
        shapes["bias"] = (gates,)
    if layer.has_peephole:
        shapes["peephole"] = (3 * hidden,)
    outside = Block(arg_types=[TensorType(element, shape) for shape in shapes.values()])
    named = dict(zip(shapes, outside.args, strict=True))
    body = Block(arg_types=[each.type for each in scan.body.block.args])
    state, (now, *runs) = body.args[: layer.states], body.args[layer.states :]
    emit = Emitter(body)
    made = layer.step(emit, named, now, state)
    results = [*made, made[0]]
    for has_step in runs:  # a sequence that is over keeps its state, and its output is zero
        zero = emit.full(tensor_shape(state[0]), 0, element)
        results = [
            emit(WhereOp(has_step, new, old))
            for new, old in zip(results, (*state, zero), strict=True)
        ]
    bound: dict[SSAValue, SSAValue] = dict(zip(body.args, scan.body.block.args, strict=True))
    pairs = zip(results, scan.yielded, strict=True)
    is_same = all(_is_same(wanted, value, bound) for wanted, value in pairs)
    parts = {name: bound[value] for name, value in named.items() if value in bound}
    for op in list(body.ops)[::-1]:
        op.detach()
        op.erase()
    around = all(_block(each) is not scan.body.block for each in parts.values())
    return parts if is_same and around and len(parts) == len(named) else None


def _lengths(runs: SSAValue) -> SSAValue | None:
    """Return the lengths of sequences, of the steps that each has: time x batch x 1."""
    owner = runs.owner
    if not isinstance(owner, CompareOp) or owner.predicate.data != "gt":
        return None
    steps, batch, _ = (*tensor_shape(runs), 0, 0, 0)[:3]
    given, places = owner.lhs.owner, owner.rhs.owner
    is_it = tensor_shape(runs) == (steps, batch, 1) and element_type(owner.lhs) == i32
    if not is_it or not isinstance(given, ReshapeOp) or not isinstance(places, IotaOp):
        return None
    is_time = tensor_shape(places.result) == (steps, 1, 1) and places.axis.value.data == 0
    return given.input if is_time and tensor_shape(given.input) == (batch,) else None


def _block(value: SSAValue) -> Block | None:
    return value.owner.parent if isinstance(value.owner, Operation) else value.owner


def _is_same(wanted: SSAValue, value: SSAValue, bound: dict[SSAValue, SSAValue]) -> bool:
    """Whether two values are computed alike; binds arguments of the wanted ones to values."""
    if wanted in bound or wanted.type != value.type:
        return bound.get(wanted) is value
    if isinstance(wanted, OpResult):
        one, other = wanted.op, value.owner
        if not isinstance(other, Operation) or one.name != other.name:
            return False
        if one.properties != other.properties or len(one.operands) != len(other.operands):
            return False
        if not all(_is_same(*pair, bound) for pair in zip(one.operands, other.operands)):
            return False
    bound[wanted] = value
    return True


def not_needed(found: Iterable[Recurrence]) -> set[Operation]:
    """Return the ops that only layers read, or that only take what layers make: they go away."""
    every = list(found)
    gone: set[Operation] = {each.projection for each in every}
    scans: set[Operation] = {each.scan for each in every}
    read = {value for each in every for value in _read(each)}
    left = [op for each in every for op in _before(each)]

    def is_gone(op: Operation) -> bool:
        users = [use.operation for use in op.results[0].uses]
        return op.results[0] not in read and all(
            user in gone or user in scans or user.parent_op() in scans for user in users
        )

    while more := {op for op in left if op not in gone and is_gone(op)}:
        gone |= more
    results = (result for each in every for result in each.scan.results)
    return gone | {op for result in results if (op := _spread(result)) is not None}


def _before(found: Recurrence) -> Iterator[Operation]:
    """Yield the ops that give weights, biases and states another shape."""
    values = found.projection.weight, found.projection.bias, *found.parts.values()
    for start in (*values, *found.scan.initial):
        value = start
        while value is not None and isinstance(
            owner := value.owner, ReshapeOp | SliceOp | BroadcastToOp
        ):
            yield owner
            value = owner.operands[0]
    for runs in found.scan.sequences[1:]:
        if isinstance(owner := runs.owner, CompareOp):
            yield from (
                owner,
                *(each.owner for each in owner.operands if isinstance(each, OpResult)),
            )


def _read(found: Recurrence) -> Iterator[SSAValue]:
    """Yield what the node of a layer reads, or what is put into another form for it."""
    order, parts = found.layer.order, found.parts
    yield _with_axis(found.projection.weight, order) or found.projection.weight
    yield _with_axis(parts["hidden"], order) or parts["hidden"]
    if found.layer.has_peephole:
        yield _with_axis(parts["peephole"]) or parts["peephole"]
    biases = found.projection.bias, parts.get("bias")
    whole = _whole(*biases, order)
    yield from (each for each in ((whole,) if whole else biases) if each is not None)
    if found.lengths is not None:
        yield found.lengths
    yield from (_with_axis(each) or each for each in found.scan.initial if not _is_zeros(each))


def _spread(result: SSAValue) -> ReshapeOp | None:
    """Return the only op that reads a result, where it does no more than add a direction."""
    uses = list(result.uses)
    shape = tensor_shape(result)
    wanted = (*shape[:-2], 1, *shape[-2:])
    if len(uses) != 1 or not isinstance(op := uses[0].operation, ReshapeOp):
        return None
    return op if tensor_shape(op.result) == wanted else None


def write_layer(nodes: Nodes, found: Recurrence) -> None:
    """Append the node of a layer in one direction, and what its operands need."""
    scan, layer = found.scan, found.layer
    count, hidden = len(scan.initial), tensor_shape(scan.initial[0])[1]
    inputs: list[Given] = [
        found.projection.input,
        _led(nodes, found.projection.weight, layer.order),
        _led(nodes, found.parts["hidden"], layer.order),
        _biases(nodes, found),
        found.lengths,
        *(None if _is_zeros(each) else _led(nodes, each) for each in scan.initial),
    ]
    if layer.has_peephole:
        inputs.append(_led(nodes, found.parts["peephole"]))
    last: list[SSAValue | ExportedValue] = []
    left: list[tuple[ExportedValue, SSAValue]] = []
    for result in (scan.results[count], *scan.results[:count]):
        spread, shape = _spread(result), tensor_shape(result)
        if spread is not None:
            last.append(spread.result)
            continue
        made = nodes.new(
            layer.op_type, TensorType(element_type(result), (*shape[:-2], 1, *shape[-2:]))
        )
        last.append(made)
        if result.uses:
            left.append((made, result))
    attributes = dict(layer.attributes)
    if scan.reverse is not None:
        attributes["direction"] = "reverse"
    nodes(layer.op_type, inputs, last, hidden_size=hidden, **attributes)
    for made, result in left:
        nodes("Reshape", [made, sizes(tensor_shape(result), "shape")], [result])


def _with_axis(value: SSAValue, order: Sequence[int] = ()) -> SSAValue | None:
    """Return a value with the axis of directions, where it is there in the order of ONNX."""
    owner, shape = value.owner, (1, *tensor_shape(value))
    if not isinstance(owner, ReshapeOp) or list(order) != sorted(order):
        return None
    return owner.input if tensor_shape(owner.input) == shape else None


def _is_zeros(value: SSAValue) -> bool:
    owner = value.owner
    return is_filled_with(owner.input if isinstance(owner, BroadcastToOp) else value, 0)


def _whole(
    first: SSAValue | None, second: SSAValue | None, order: Sequence[int]
) -> SSAValue | None:
    """Return the row of which two biases are the halves, where it is there in ONNX's order."""
    if first is None or second is None:
        return None
    one, other, size = first.owner, second.owner, tensor_shape(first)[0]
    if not isinstance(one, SliceOp) or not isinstance(other, SliceOp):
        return None
    starts = [*one.offsets.get_values(), *other.offsets.get_values()]
    if one.input is not other.input or starts != [0, size]:
        return None
    return _with_axis(one.input, order) if tensor_shape(one.input) == (2 * size,) else None


def _led(nodes: Nodes, value: SSAValue, order: Sequence[int] = ()) -> Given:
    """Return a value with the axis of directions in front, its gates in ONNX's order."""
    there = _with_axis(value, order)
    return there or _reshaped(nodes, _ordered(nodes, value, order), tensor_type(value))


def _reshaped(nodes: Nodes, given: Given, type: AnyTensor) -> ExportedValue:
    shape = (1, *type.get_shape())
    led: AnyTensor = TensorType(type.element_type, shape)
    return nodes("Reshape", [given, sizes(shape, "shape")], led)


def _ordered(nodes: Nodes, value: SSAValue, order: Sequence[int]) -> Given:
    if list(order) == sorted(order):
        return value
    rows, *others = tensor_shape(value)
    size = rows // len(order)
    type: AnyTensor = TensorType(element_type(value), (size, *others))
    parts: list[Given] = []
    for place in order:
        ends = sizes((place * size,), "starts"), sizes((place * size + size,), "ends")
        parts.append(nodes("Slice", [value, *ends, sizes((0,), "axes")], type))
    return nodes("Concat", parts, tensor_type(value), axis=0)


def _biases(nodes: Nodes, found: Recurrence) -> Given:
    """Return the biases of input and state in one row, zeros for one that is missing."""
    order, biases = found.layer.order, (found.projection.bias, found.parts.get("bias"))
    whole, given = _whole(*biases, order), [each for each in biases if each is not None]
    if whole is not None or not given:
        return whole
    element, (size,) = element_type(given[0]), tensor_shape(given[0])
    zeros = np.zeros(size, dtype_name(element))
    parts: list[Given] = [
        nodes.constant(zeros) if each is None else _ordered(nodes, each, order) for each in biases
    ]
    both: AnyTensor = TensorType(element, (2 * size,))
    return _reshaped(nodes, nodes("Concat", parts, both, axis=0), both)
