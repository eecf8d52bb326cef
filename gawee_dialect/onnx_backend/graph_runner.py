"""Runs a graph of ONNX on values: nodes on tensors as compiled code, the others on the host.

Nodes that become ops of the dialect are taken together until a node needs their results on the
host: one whose result has a size that depends on elements, or that works on text, sequences or
optional values. A node that the importer refuses is tried alone, when its inputs are there.

Nodes that run together are one module, which is made for the shapes of what they read. Where an op
needs constant elements, code is made for these elements, and kept beside that for others: each
shape has a list of codes, each with the elements that it is of.

If, Loop, Scan and SequenceMap run here where the branch, or the number of steps, depends on data.
Their bodies are graphs with runners of their own, which keep their code from step to step.
Classifiers whose labels are text run with numbers, which the host turns into text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from gawee_dialect.diagnostics import Diagnostic, GaweeError, verify_module
from gawee_dialect.frontends.onnx.held_types import array_of_held, held_array
from gawee_dialect.frontends.onnx.importer import OnnxImporter, body_of_call
from gawee_dialect.frontends.onnx.model import (
    OnnxFunction,
    OnnxGraph,
    OnnxModel,
    OnnxNode,
    OnnxValue,
    Scope,
    is_array,
)
from gawee_dialect.frontends.op_mapping.registry import Refusal
from gawee_dialect.hints import isa
from gawee_dialect.levels import Level
from gawee_dialect.model import Model
from gawee_dialect.onnx_backend.host_ops import run_on_host
from gawee_dialect.onnx_backend.values import (
    Array,
    Value,
    Values,
    as_array,
    is_numeric,
    same_elements,
)

CLASSIFIERS = {
    "ai.onnx.ml.LinearClassifier": "classlabels_ints",
    "ai.onnx.ml.SVMClassifier": "classlabels_ints",
    "ai.onnx.ml.TreeEnsembleClassifier": "classlabels_int64s",
}
"""Ops whose first output is a label, and the attribute that has labels that are numbers."""


def with_numbered_labels(graph: OnnxGraph) -> OnnxGraph:
    """Return a graph whose classifiers make numbers, each with a LabelEncoder behind it."""
    return replace(graph, nodes=[made for node in graph.nodes for made in _numbered(node)])


def _numbered(node: OnnxNode) -> Iterator[OnnxNode]:
    texts = node.attributes.get("classlabels_strings")
    if node.full_type not in CLASSIFIERS or not texts or not isa(texts, list[str]):
        yield node
        return
    label, *others = node.outputs
    if not label:
        yield node
        return
    numbers, number = list(range(len(texts))), f"{label}/number"
    attributes = {k: v for k, v in node.attributes.items() if k != "classlabels_strings"}
    attributes[CLASSIFIERS[node.full_type]] = numbers
    yield replace(node, outputs=[number, *others], attributes=attributes)
    yield OnnxNode(
        f"{node.name}/labels",
        "LabelEncoder",
        [number],
        [label],
        {"keys_int64s": numbers, "values_strings": texts},
        node.domain,
    )


@dataclass(frozen=True)
class Code:
    """What runs the nodes for inputs of some shapes, some of which have these elements."""

    known: Mapping[str, Array]
    run: Callable[[Mapping[str, Array]], dict[str, Array]]
    dtypes: Sequence[str | None]
    """Of outputs that are held in other element types."""


@dataclass
class Segment:
    """Nodes, what they read and what others read of them; `constants` are always the same."""

    nodes: Sequence[OnnxNode]
    inputs: Sequence[str]
    outputs: Sequence[str]
    constants: Mapping[str, Array]
    opsets: Mapping[str, int]
    functions: Mapping[str, OnnxFunction]
    name: str
    level: Level
    problems: list[Diagnostic] = field(default_factory=list[Diagnostic])
    """Why the last nodes were refused."""
    specialised: Sequence[str] = ()
    """The inputs whose elements the last code is made for."""

    def __post_init__(self) -> None:
        self._codes: dict[object, list[Code]] = {}
        self._code: Code | None = None

    def prepare(self, values: Values) -> int | None:
        """Find or make the code for inputs; return the first node that is refused."""
        given = self._given(values)
        shapes = tuple((name, array.dtype.str, array.shape) for name, array in given.items())
        codes = self._codes.setdefault(shapes, [])
        self._code = next((each for each in codes if _fits(each, given)), None)
        if self._code is None:
            refused = self._make(given)
            if refused is not None:
                return refused
            assert self._code is not None
            codes.append(self._code)
        self.specialised = list(self._code.known)
        return None

    def run(self, values: Values) -> Mapping[str, Array]:
        """Run the code that was prepared; return the outputs by name."""
        assert self._code is not None
        given = {name: held_array(array) for name, array in self._given(values).items()}
        made = self._code.run(given).values()
        arrays = [
            array if dtype is None else array_of_held(array, dtype)
            for array, dtype in zip(made, self._code.dtypes, strict=True)
        ]
        return dict(zip(self.outputs, arrays, strict=True))

    def _given(self, values: Values) -> dict[str, Array]:
        given = {name: values[name] for name in self.inputs if name not in self.constants}
        return {name: value for name, value in given.items() if is_array(value)}

    def _make(self, given: Mapping[str, Array]) -> int | None:
        """Import the nodes, and lower them to the level."""
        graph = OnnxGraph(
            self.name,
            self.nodes,
            [OnnxValue(name, array.dtype.name, array.shape) for name, array in given.items()],
            [OnnxValue(name, "", None) for name in self.outputs],
            self.constants,
        )
        model = OnnxModel(graph, self.opsets, self.functions)
        importer = OnnxImporter(model, self.name, {}, given)
        importer.writes_numbers = True
        scope = importer.start()
        refused = self._refused(importer, scope)
        if refused is not None:
            importer.report_unsupported()
            self.problems = importer.problems
            return refused
        tensors = importer.outputs(scope)
        dtypes = [importer.emit.held.get(each) for each in tensors]
        module = importer.function.module(tensors, self.outputs)
        verify_module(module)
        run = Model(module, importer.weights, self.name).runner(self.level)
        known = {name: np.array(given[name]) for name in dict.fromkeys(importer.looked_up)}
        self._code = Code(known, run, dtypes)
        return None

    def _refused(self, importer: OnnxImporter, scope: Scope) -> int | None:
        for index, node in enumerate(self.nodes):
            importer.add_node(node, scope, self.opsets)
            if importer.problems or importer.has_unsupported or not _is_made(node, scope):
                return index
        for name in self.outputs:
            try:
                if name not in scope:
                    raise Refusal("expected a node that makes it, got none")
                importer.tensor(scope[name])
            except Refusal as problem:
                importer.problems.append(Diagnostic(f"'{name}': {problem.message}", self.name))
                return next(i for i, node in enumerate(self.nodes) if name in node.outputs)
        return None


def _is_made(node: OnnxNode, scope: Scope) -> bool:
    return any(name in scope for name in node.outputs)


def _fits(code: Code, given: Mapping[str, Array]) -> bool:
    return all(same_elements(array, given[name]) for name, array in code.known.items())


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


DECIDING = {"If": 1, "Loop": 2, "Scan": 0, "SequenceMap": 0}
"""How many inputs of control flow say what is done: where they are known, it is written out."""

PADDED = frozenset(("NonMaxSuppression",))
"""Ops whose compiled results have rows of -1 behind those that are there."""


@dataclass
class Session:
    """What all graphs of a model share, and what their runs did."""

    name: str
    level: Level
    functions: Mapping[str, OnnxFunction]
    compiled: set[str] = field(default_factory=set[str])
    """Types of nodes that ran at the level."""
    host: set[str] = field(default_factory=set[str])
    """Types of nodes that ran on the host."""
    specialised: set[str] = field(default_factory=set[str])
    """Values that code was made for: what a shape, axes or a count was read from."""


class GraphRunner:
    """Runs one graph, or a body of control flow; keeps the code that it made."""

    def __init__(
        self,
        graph: OnnxGraph,
        opsets: Mapping[str, int],
        session: Session,
        constants: Mapping[str, Array],
    ) -> None:
        self.graph = graph = with_numbered_labels(graph)
        self.opsets = opsets
        self.session = session
        self.constants = {**constants, **graph.initializers}
        self._reads = [list(names_read(node)) for node in graph.nodes]
        self._alone: set[int] = set()
        """Nodes that were refused among others."""
        self._segments: dict[object, Segment] = {}
        self._bodies: dict[tuple[int, str], GraphRunner] = {}
        self._known = self._names_known()

    def run(self, scope: Mapping[str, Value]) -> list[Value]:
        """Return the outputs; `scope` has the inputs, and what is around a body.

        Raises GaweeError.
        """
        values: Values = {**self.constants, **scope}
        left: list[int] = list(range(len(self.graph.nodes)))
        while left:
            alone = (at for at, index in enumerate(left) if self._is_alone(index, values))
            count = next(alone, len(left))
            together, left = left[:count], left[count:]
            refused = self._run_segment(together, values) if together else None
            if refused is not None:
                self._alone.add(refused)
                left = [*together, *left]
            elif left:
                self._run_node(left.pop(0), values)
        return [values[each.name] for each in self.graph.outputs]

    def _is_alone(self, index: int, values: Values) -> bool:
        """Whether a node runs by itself; what it reads may still have to be computed."""
        node = self.graph.nodes[index]
        if index in self._alone or node.full_type in PADDED:
            return True
        if node.full_type in CONTROL_FLOW and not self._known.issuperset(
            node.inputs[: DECIDING[node.full_type]]
        ):
            return True
        return not all(is_numeric(values[name]) for name in self._reads[index] if name in values)

    def _names_known(self) -> set[str]:
        """Return what is known before a run."""
        known = {"", *self.constants}
        for node, reads in zip(self.graph.nodes, self._reads, strict=True):
            if node.op_type in ("Shape", "Size") or known.issuperset(reads):
                known.update(node.outputs)
        return known

    def _run_node(self, index: int, values: Values) -> None:
        node = self.graph.nodes[index]
        inputs = [values[name] if name else None for name in node.inputs]
        function = self.session.functions.get(node.function_name)
        if node.full_type in CONTROL_FLOW:
            self.session.host.add(node.full_type)
            made = CONTROL_FLOW[node.full_type](self, index, inputs, values)
        elif function is not None:
            made = self._call(index, function, inputs)
        else:
            made = self._compiled_or_on_host(index, inputs, values)
        values.update(
            (name, value) for name, value in zip(node.outputs, made, strict=False) if name
        )

    def _compiled_or_on_host(
        self, index: int, inputs: Sequence[Value], values: Values
    ) -> Sequence[Value]:
        """Run a node by itself: compiled now that its inputs are there, or else on the host."""
        node = self.graph.nodes[index]
        text = f"unsupported op '{node.full_type}' of node '{node.name}'"
        problems = [Diagnostic(text, self.session.name)]
        if all(is_numeric(values[name]) for name in self._reads[index]):
            refused = self._run_segment([index], values)
            if refused is None:
                made = [values.get(name) for name in node.outputs]
                return [_rows_that_are_there(made[0])] if node.full_type in PADDED else made
            problems = self._last.problems
        made = run_on_host(node, inputs, self.session.name)
        if made is None:
            raise GaweeError(problems)
        self.session.host.add(node.full_type)
        return made

    def _run_segment(self, indices: Sequence[int], values: Values) -> int | None:
        """Run nodes at the session's level; return the first one that is refused."""
        given = tuple(name for name, array in self.constants.items() if values[name] is not array)
        segment = self._segments.get((tuple(indices), given))
        if segment is None:
            segment = self._segments[tuple(indices), given] = self._segment(indices, given)
        self._last = segment
        refused = segment.prepare(values)
        if refused is not None:
            return indices[refused]
        values.update(segment.run(values))
        self.session.compiled |= {self.graph.nodes[index].full_type for index in indices}
        self.session.specialised |= set(segment.specialised)
        return None

    def _segment(self, indices: Sequence[int], given: Sequence[str]) -> Segment:
        chosen = set(indices)
        nodes = [self.graph.nodes[index] for index in indices]
        made = {name for node in nodes for name in node.outputs if name}
        read = {name for index in indices for name in self._reads[index]} - made
        later = {name for i, names in enumerate(self._reads) if i not in chosen for name in names}
        wanted = later | {each.name for each in self.graph.outputs}
        return Segment(
            nodes,
            sorted(read),
            [name for node in nodes for name in node.outputs if name in wanted],
            {n: v for n, v in self.constants.items() if n in read and n not in given},
            self.opsets,
            self.session.functions,
            self.session.name,
            self.session.level,
        )

    def body(self, index: int, name: str) -> GraphRunner:
        """Return what runs a graph that is an attribute of a node; raises GaweeError."""
        node = self.graph.nodes[index]
        graph = node.attributes.get(name)
        if not isinstance(graph, OnnxGraph):
            text = f"expected attribute '{name}' to be a graph"
            raise GaweeError(Diagnostic(text, self.session.name, node.name))
        if (index, name) not in self._bodies:
            made = GraphRunner(graph, self.opsets, self.session, self.constants)
            self._bodies[index, name] = made
        return self._bodies[index, name]

    def _call(self, index: int, function: OnnxFunction, inputs: Sequence[Value]) -> list[Value]:
        pairs = zip(function.inputs, inputs, strict=False)
        scope = {name: value for name, value in pairs if value is not None}
        if (index, "") not in self._bodies:
            nodes = list(body_of_call(self.graph.nodes[index], function, list(scope)))
            outputs = [OnnxValue(name, "", None) for name in function.outputs]
            graph = OnnxGraph("", nodes, [], outputs)
            opsets = function.opsets or self.opsets
            self._bodies[index, ""] = GraphRunner(graph, opsets, self.session, {})
        return self._bodies[index, ""].run(scope)


def names_read(node: OnnxNode) -> Iterator[str]:
    """Yield what a node reads, and what the graphs inside of it read of what is around them."""
    yield from (name for name in node.inputs if name)
    for graph in node.attributes.values():
        if isinstance(graph, OnnxGraph):
            own = {each.name for each in graph.inputs} | set(graph.initializers)
            own |= {name for each in graph.nodes for name in each.outputs}
            inner = {name for each in graph.nodes for name in names_read(each)}
            yield from sorted((inner | {each.name for each in graph.outputs}) - own)


def _rows_that_are_there(value: Value) -> Value:
    return value[np.greater_equal(value, 0).all(axis=1)] if is_numeric(value) else value
