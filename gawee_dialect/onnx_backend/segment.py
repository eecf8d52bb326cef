"""Nodes that run together as one module, which is made for the shapes of what they read.

Where an op needs constant elements, code is made for these elements, and kept
beside that for others: each shape has a list of codes, each with the elements that it is of.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gawee_dialect.diagnostics import Diagnostic, verify_module
from gawee_dialect.frontends.onnx.held_types import array_of_held, held_array
from gawee_dialect.frontends.onnx.importer import OnnxImporter
from gawee_dialect.frontends.onnx.model import (
    OnnxFunction,
    OnnxGraph,
    OnnxModel,
    OnnxNode,
    OnnxValue,
    Scope,
)
from gawee_dialect.frontends.op_mapping.registry import Refusal
from gawee_dialect.levels import Level
from gawee_dialect.model import Model
from gawee_dialect.onnx_backend.values import Array, Values, is_array, same_elements


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
