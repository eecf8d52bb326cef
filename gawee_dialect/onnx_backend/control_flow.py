"""If, Loop, Scan and SequenceMap where the branch, or the number of steps, depends on data.

The bodies are graphs with runners of their own, which keep their code from step to step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.onnx.model import OnnxGraph, OnnxNode
from gawee_dialect.hints import isa
from gawee_dialect.onnx_backend.values import Array, Value, Values, as_array


class Body(Protocol):
    """What runs a body."""

    @property
    def graph(self) -> OnnxGraph: ...

    def run(self, scope: Mapping[str, Value]) -> list[Value]: ...


class Runner(Protocol):
    """What control flow needs of the runner of the graph around it."""

    @property
    def graph(self) -> OnnxGraph: ...

    @property
    def opsets(self) -> Mapping[str, int]: ...

    def body(self, index: int, name: str) -> Body: ...


def branch(runner: Runner, index: int, inputs: Sequence[Value], around: Values) -> Sequence[Value]:
    """If: the branch that is taken"""
    taken = bool(as_array(inputs[0]).item())
    return runner.body(index, "then_branch" if taken else "else_branch").run(around)


def _called(body: Body, inputs: Sequence[Value], around: Values) -> list[Value]:
    names = [each.name for each in body.graph.inputs]
    return body.run({**around, **dict(zip(names, inputs, strict=False))})


def loop(runner: Runner, index: int, inputs: Sequence[Value], around: Values) -> Sequence[Value]:
    """Loop: steps until the condition is false, or their maximum is reached"""
    body = runner.body(index, "body")
    most, first, *state = [*inputs, *[None] * (2 - len(inputs))]
    steps = None if most is None else int(as_array(most).item())
    going = first is None or bool(as_array(first).item())
    kept: list[Sequence[Value]] = []
    count = len(state)
    while going and (steps is None or len(kept) < steps):
        step, true = np.asarray(len(kept), np.int64), np.asarray(True)
        condition, *made = _called(body, [step, true, *state], around)
        going = bool(as_array(condition).item())
        state = made[:count]
        kept.append(made[count:])
    wanted = len(body.graph.outputs) - 1 - count
    return [*state, *_stacked(body.graph, kept, [0] * wanted, [0] * wanted)]


def _stacked(
    graph: OnnxGraph, kept: Sequence[Sequence[Value]], axes: Sequence[int], turned: Sequence[int]
) -> list[Value]:
    """Return what the steps made, each output along an axis of its own."""
    found: list[Value] = []
    for index, (axis, back) in enumerate(zip(axes, turned, strict=True)):
        rows = [as_array(each[index]) for each in (reversed(kept) if back else kept)]
        if not rows:
            said = graph.outputs[len(graph.outputs) - len(axes) + index]
            shape = [size if isinstance(size, int) else 0 for size in said.shape or ()]
            found.append(np.zeros((0, *shape), said.dtype))
            continue
        found.append(np.stack(rows, axis))
    return found


def scan(runner: Runner, index: int, inputs: Sequence[Value], around: Values) -> Sequence[Value]:
    """Scan: a step for each index along an axis of the scanned tensors"""
    node, body = runner.graph.nodes[index], runner.body(index, "body")
    count = _ints(node, "num_scan_inputs", [])[0]
    if runner.opsets.get("", 1) >= 9:
        return _scanned(node, body, inputs, around, count)
    return _scanned_batch(node, body, inputs, around, count)


def _ints(node: OnnxNode, name: str, default: Sequence[int]) -> Sequence[int]:
    value = node.attributes.get(name, default)
    if isinstance(value, int):
        return [value]
    if not isa(value, list[int]):
        raise GaweeError(f"expected attribute '{name}' of '{node.name}' to be integers")
    return value


def _scanned(
    node: OnnxNode, body: Body, inputs: Sequence[Value], around: Values, count: int
) -> list[Value]:
    state, scanned = list(inputs[:-count]), [as_array(each) for each in inputs[-count:]]
    axes = _ints(node, "scan_input_axes", [0] * count)
    turned = _ints(node, "scan_input_directions", _ints(node, "directions", [0] * count))
    kept: list[Sequence[Value]] = []
    steps = scanned[0].shape[axes[0]]
    for step in range(steps):
        rows = [
            np.take(each, steps - 1 - step if back else step, axis)
            for each, axis, back in zip(scanned, axes, turned, strict=True)
        ]
        made = _called(body, [*state, *rows], around)
        state = made[: len(state)]
        kept.append(made[len(state) :])
    none = [0] * (len(body.graph.outputs) - len(state))
    ends = _ints(node, "scan_output_axes", none)
    back = _ints(node, "scan_output_directions", none)
    return [*state, *_stacked(body.graph, kept, ends, back)]


def _scanned_batch(
    node: OnnxNode, body: Body, inputs: Sequence[Value], around: Values, count: int
) -> list[Value]:
    """Scan as it was in opset 8: along axis 1 for each image of a batch, of its own length."""
    lengths, tensors = inputs[0], [as_array(each) for each in inputs[1:]]
    results: list[list[Array]] = []
    for image in range(tensors[0].shape[0]):
        own: list[Value] = [each[image] for each in tensors]
        if lengths is not None:
            length = int(as_array(lengths)[image])
            own[-count:] = [as_array(each)[:length] for each in own[-count:]]
        results.append([as_array(each) for each in _scanned(node, body, own, around, count)])
    return [np.stack(_padded(each)) for each in zip(*results, strict=True)]


def _padded(rows: Sequence[Array]) -> list[Array]:
    """Return rows that are as long as the longest, with zeros behind."""
    longest = max((row.shape[0] for row in rows if row.ndim), default=0)
    return [
        np.pad(row, [(0, longest - row.shape[0]), *[(0, 0)] * (row.ndim - 1)]) if row.ndim else row
        for row in rows
    ]


def sequence_map(
    runner: Runner, index: int, inputs: Sequence[Value], around: Values
) -> Sequence[Value]:
    """SequenceMap: the body of each element of sequences; tensors are the same for all"""
    body = runner.body(index, "body")
    if not isinstance(inputs[0], list):
        raise GaweeError("expected the first input of 'SequenceMap' to be a sequence")
    made = [
        _called(body, [each[at] if isinstance(each, list) else each for each in inputs], around)
        for at in range(len(inputs[0]))
    ]
    return [[row[place] for row in made] for place in range(len(body.graph.outputs))]


CONTROL_FLOW: Mapping[str, Callable[[Runner, int, Sequence[Value], Values], Sequence[Value]]] = {
    "If": branch,
    "Loop": loop,
    "Scan": scan,
    "SequenceMap": sequence_map,
}
"""By op type."""
