"""Runs a graph of ONNX on values: nodes on tensors as compiled code, the others on the host.

Nodes that become ops of the dialect are taken together until a node needs their results on the
host: one whose result has a size that depends on elements, or that works on text, sequences or
optional values. A node that the importer refuses is tried alone, when its inputs are there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.frontends.onnx.importer import body_of_call
from gawee_dialect.frontends.onnx.model import Array, OnnxFunction, OnnxGraph, OnnxNode, OnnxValue
from gawee_dialect.levels import Level
from gawee_dialect.onnx_backend.control_flow import CONTROL_FLOW
from gawee_dialect.onnx_backend.host_ops.registry import run_on_host
from gawee_dialect.onnx_backend.labels import with_numbered_labels
from gawee_dialect.onnx_backend.segment import Segment
from gawee_dialect.onnx_backend.values import Value, Values, is_numeric

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
        function = self.session.functions.get(node.full_type)
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

    def body(self, index: int, name: str) -> "GraphRunner":
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
