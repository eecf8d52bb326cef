"""Control flow: resolved when a graph is read; where a run decides, `scf.if` and `scf.while`."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from xdsl.dialects.builtin import LocationAttr, TensorType, i64
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.graph.constant import IotaOp
from gawee_dialect.dialect.graph.elementwise import AddOp
from gawee_dialect.dialect.graph.logic import BitwiseAndOp, CompareOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.npu_ir.aten.shape import movedim, select, stack
from gawee_dialect.frontends.onnx.model import Array, OnnxGraph, OnnxNode, Scope, Value
from gawee_dialect.frontends.op_mapping.control_flow import (
    WRITTEN_OUT,
    chosen,
    recurrence,
    repeated,
)
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.registry import Refusal, UnknownElements
from gawee_dialect.hints import isa

MAX_STEPS = 1024
"""A loop of more steps than these is refused: each is written out."""

Values = Sequence[Value | None]
Tensors = Sequence[SSAValue]
Opsets = Mapping[str, int]


class Importer(Protocol):
    """What control flow needs of the importer of the graph."""

    @property
    def emit(self) -> Emitter: ...

    def elements(self, value: Value) -> Array: ...

    def tensor(self, value: Value) -> SSAValue: ...

    def location(self, node: OnnxNode) -> LocationAttr: ...

    def body(
        self, body: OnnxGraph, arguments: Values, scope: Scope, opsets: Opsets
    ) -> list[Value | None]: ...

    def step(
        self,
        node: OnnxNode,
        body: OnnxGraph,
        arguments: Sequence[Value],
        scope: Scope,
        opsets: Opsets,
    ) -> list[Value]: ...


def _graph_attribute(node: OnnxNode, name: str) -> OnnxGraph:
    graph = node.attributes.get(name)
    if not isinstance(graph, OnnxGraph):
        raise Refusal(f"expected attribute '{name}' to be a graph")
    return graph


def _known(importer: Importer, value: Value | None, what: str) -> Array:
    if value is None or value.known is None:
        raise UnknownElements(f"expected {what} to be known when the graph is read")
    elements = importer.elements(value).reshape(-1)
    if elements.size != 1:
        raise Refusal(f"expected {what} to be one number, got {elements.size}")
    return elements[0]


def branch(
    importer: Importer, node: OnnxNode, inputs: Values, scope: Scope, opsets: Opsets
) -> Values:
    """If: the branch that is taken, or where a run decides a choice of both"""
    condition = inputs[0] if inputs else None
    if condition is not None and condition.known is None:
        with suppress(Refusal):
            return _chosen(importer, node, importer.tensor(condition), scope, opsets)
    known = _known(importer, condition, "the condition")
    taken = _graph_attribute(node, "then_branch" if known else "else_branch")
    return importer.body(taken, [], scope, opsets)


def _chosen(
    importer: Importer, node: OnnxNode, condition: SSAValue, scope: Scope, opsets: Opsets
) -> Values:
    """Return the results of the branch that a condition chooses; raises Refusal."""

    def made(name: str) -> Tensors:
        graph = _graph_attribute(node, f"{name}_branch")
        return [importer.tensor(each) for each in importer.step(node, graph, [], scope, opsets)]

    branches = [partial(made, name) for name in ("then", "else")]
    return [Value("", each) for each in chosen(importer.emit, condition, branches)]


def loop(
    importer: Importer, node: OnnxNode, inputs: Values, scope: Scope, opsets: Opsets
) -> Values:
    """Loop: a loop; few steps are written out"""
    try:
        return _counted(importer, node, inputs, scope, opsets)
    except Refusal as problem:
        with suppress(Refusal, VerifyException):
            return _repeated(importer, node, inputs, scope, opsets)
        raise problem


def _counted(
    importer: Importer, node: OnnxNode, inputs: Values, scope: Scope, opsets: Opsets
) -> Values:
    """Return the results of steps whose number is known; raises Refusal where it is not."""
    body = _graph_attribute(node, "body")
    trips, condition, *carried = [*inputs, *[None] * (2 - len(inputs))]
    steps = int(_known(importer, trips, "the number of steps"))
    state: Values = carried
    kept: list[Values] = []
    going = condition is None or bool(_known(importer, condition, "the condition"))
    wanted = len(body.outputs) - 1 - len(carried)
    if going and steps > WRITTEN_OUT:

        def loop_body(now: Sequence[Value]) -> Sequence[Value]:
            *before, count = now
            true = Value("condition", elements=np.asarray(True))
            goes_on, *made = importer.step(node, body, [count, true, *before], scope, opsets)
            if goes_on.elements is None or not goes_on.elements.all():
                raise Refusal("expected a condition that is true at every step")
            return made

        counts = importer.emit(IotaOp(TensorType(i64, (steps,)), axis=0))
        made = _looped(importer, loop_body, carried, [counts])
        if made is not None:
            return [Value("", each) for each in (*made[0], *made[1])]
    for step in range(_few(steps)):
        if not going:
            break
        count = Value("step", elements=np.asarray(step, np.int64))
        true = Value("condition", elements=np.asarray(True))
        made = importer.body(body, [count, true, *state], scope, opsets)
        if not made or made[0] is None:
            return [None] * len(node.outputs)
        going = bool(_known(importer, made[0], "the condition"))
        state, last = made[1 : 1 + len(carried)], made[1 + len(carried) :]
        kept.append(last)
    return [*state, *_stacked(importer, kept, [0] * wanted, [0] * wanted)]


def _repeated(
    importer: Importer, node: OnnxNode, inputs: Values, scope: Scope, opsets: Opsets
) -> Values:
    """Return the last state of a loop whose end a run decides; raises Refusal.

    What its steps keep besides has as many rows as there are steps, and no type.
    """
    emit, body = importer.emit, _graph_attribute(node, "body")
    trips, condition, *carried = [*inputs, *[None] * (2 - len(inputs))]
    if len(body.outputs) > 1 + len(carried):
        raise Refusal("expected a state alone where a run decides how many steps there are")
    true = Value("condition", elements=np.asarray(True))
    going = importer.tensor(true if condition is None else condition)
    state = [importer.tensor(each) for each in carried if each is not None]
    most = None if trips is None else emit.reshape(importer.tensor(trips), ())

    def goes_on(now: Tensors) -> SSAValue:
        if most is None:
            return now[1]
        return emit(BitwiseAndOp(now[1], emit(CompareOp(now[0], most, predicate="lt"))))

    def step(now: Tensors) -> Tensors:
        taken = [Value("", now[0]), true, *(Value("", each) for each in now[2:])]
        again, *made = importer.step(node, body, taken, scope, opsets)
        count = emit(AddOp(now[0], emit.number(1, i64)))
        return [count, emit.reshape(importer.tensor(again), ()), *map(importer.tensor, made)]

    emit.location = importer.location(node)
    initial = [emit.number(0, i64), emit.reshape(going, ()), *state]
    _, _, *last = repeated(emit, goes_on, step, initial)
    return [Value("", each) for each in last]


@dataclass(frozen=True)
class _Scan:
    """The attributes of a scan: how each tensor is cut into steps, and put together again."""

    node: OnnxNode

    def ints(self, name: str, count: int) -> Sequence[int]:
        """Return an attribute of integers, zeros where it is not given."""
        value = self.node.attributes.get(name, [0] * count)
        if not isa(value, list[int]) or len(value) != count:
            raise Refusal(f"expected attribute '{name}' to be {count} integers")
        return value


def scan(
    importer: Importer, node: OnnxNode, inputs: Values, scope: Scope, opsets: Opsets
) -> Values:
    """Scan: a loop over the scanned tensors; few steps, and those that differ, are written out"""
    body, attributes = _graph_attribute(node, "body"), _Scan(node)
    count = node.attributes.get("num_scan_inputs")
    if not isinstance(count, int) or not 0 < count <= len(inputs):
        raise Refusal("expected attribute 'num_scan_inputs' to count some of the inputs")
    state, scanned = inputs[: len(inputs) - count], inputs[len(inputs) - count :]
    axes = attributes.ints("scan_input_axes", count)
    backwards = attributes.ints("scan_input_directions", count)
    lengths = {_length(value, axis) for value, axis in zip(scanned, axes, strict=True)}
    if len(lengths) != 1:
        raise Refusal(f"expected scanned tensors of one length, got {sorted(lengths)}")
    (steps,) = lengths
    wanted = len(body.outputs) - len(state)
    ends = attributes.ints("scan_output_axes", wanted)
    turned = attributes.ints("scan_output_directions", wanted)
    if steps > WRITTEN_OUT and {*backwards, *turned} in ({0}, {1}):
        sequences = [_sequence(importer, *each) for each in zip(scanned, axes, strict=True)]

        def loop_body(now: Sequence[Value]) -> Sequence[Value]:
            return importer.step(node, body, now, scope, opsets)

        made = _looped(importer, loop_body, state, sequences, backwards[0] == 1)
        if made is not None:
            last, kept = made
            pairs = zip(kept, ends, strict=True)
            moved = [movedim(importer.emit, value, [0], [end]) for value, end in pairs]
            return [Value("", each) for each in (*last, *moved)]
    rows: list[Values] = []
    for step in range(_few(steps)):
        now = [
            _row(importer, value, axis, steps - 1 - step if back else step)
            for value, axis, back in zip(scanned, axes, backwards, strict=True)
        ]
        outputs = importer.body(body, [*state, *now], scope, opsets)
        state = outputs[: len(state)]
        rows.append(outputs[len(state) :])
    return [*state, *_stacked(importer, rows, ends, turned)]


def _sequence(importer: Importer, value: Value | None, axis: int) -> SSAValue:
    assert value is not None
    return movedim(importer.emit, importer.tensor(value), [axis], [0])


def _looped(
    importer: Importer,
    body: Callable[[Sequence[Value]], Sequence[Value]],
    state: Values,
    sequences: Tensors,
    reverse: bool = False,
) -> tuple[Tensors, Tensors] | None:
    """Return the last state and what is kept; None where a step needs more than tensors."""

    def step(now: Tensors, rows: Tensors) -> tuple[Tensors, Tensors]:
        taken = [Value("", each) for each in (*now, *rows)]
        made = [importer.tensor(each) for each in body(taken)]
        return made[: len(now)], made[len(now) :]

    try:
        initial = [importer.tensor(each) for each in state if each is not None]
        return recurrence(importer.emit, step, initial, sequences, reverse=reverse)
    except (Refusal, VerifyException):
        return None


def _few(steps: int) -> int:
    if steps > MAX_STEPS:
        raise Refusal(f"expected at most {MAX_STEPS} steps, got {steps}")
    return steps


def _shape(value: Value | None) -> Sequence[int]:
    if value is None:
        raise Refusal("expected scanned tensors, got none")
    if value.elements is not None:
        return value.elements.shape
    assert value.tensor is not None
    return tensor_shape(value.tensor)


def _length(value: Value | None, axis: int) -> int:
    shape = _shape(value)
    if not -len(shape) <= axis < len(shape):
        raise Refusal(f"expected an axis of {len(shape)}, got {axis}")
    return shape[axis]


def _row(importer: Importer, value: Value | None, axis: int, index: int) -> Value:
    """Return one step of a scanned tensor."""
    assert value is not None
    if value.elements is not None:
        return Value(f"{value.name}_{index}", elements=np.take(value.elements, index, axis))
    tensor = select(importer.emit, importer.tensor(value), axis, index)
    return Value(f"{value.name}_{index}", tensor)


def _stacked(
    importer: Importer, kept: Sequence[Values], axes: Sequence[int], turned: Sequence[int]
) -> Values:
    """Return the outputs of all steps, each along an axis of its own."""
    if axes and not kept:
        raise Refusal("expected at least one step, whose outputs are kept, got none")
    found: list[Value | None] = []
    for index, (axis, back) in enumerate(zip(axes, turned, strict=True)):
        rows = [each[index] for each in (reversed(kept) if back else kept)]
        present = [row for row in rows if row is not None]
        if len(present) < len(rows):
            found.append(None)
            continue
        elements = [row.elements for row in present if row.elements is not None]
        if len(elements) == len(present):
            found.append(Value(present[0].name, elements=np.stack(elements, axis)))
            continue
        tensors = [importer.tensor(row) for row in present]
        found.append(Value(present[0].name, stack(importer.emit, tensors, axis)))
    return found


Resolve = Callable[[Importer, OnnxNode, Values, Scope, Mapping[str, int]], Values]

CONTROL_FLOW: Mapping[str, Resolve] = {"If": branch, "Loop": loop, "Scan": scan}
"""How nodes with graphs inside of them are imported."""
