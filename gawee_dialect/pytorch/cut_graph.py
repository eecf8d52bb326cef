"""A graph of which parts are compiled, and PyTorch runs the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.frontends.npu_ir.pytorch import GraphModule, Node, is_tensor, torch
from gawee_dialect.pytorch.compilation_process import InterpreterEnds
from gawee_dialect.pytorch.open_sizes import known_values, with_sizes
from gawee_dialect.pytorch.partition import Part, Partition, partition, real_parts
from gawee_dialect.pytorch.refused_nodes import Refused, named_nodes, refused_nodes

ATTEMPTS = 8
"""How often a graph is cut anew, where code of a part could not be made."""

REPORT = "this is a bug of gawee: please report it, with the graph"


@dataclass(frozen=True)
class Failure:
    """Why code could not be made; `bug` is what was raised where that is no error of the user's."""

    diagnostics: Sequence[Diagnostic]
    bug: Exception | None = None

    def __str__(self) -> str:
        return "\n".join(map(str, self.diagnostics))


def failure_of(compile: Callable[[], object]) -> Failure | None:
    """Compile something; return why that cannot be, None where it can."""
    try:
        compile()
    except InterpreterEnds:
        raise
    except GaweeError as error:
        return Failure(error.diagnostics)
    except Exception as error:
        return Failure([Diagnostic(f"internal error: {error!r}", hint=REPORT)], error)
    return None


def forward_of(graph: GraphModule) -> Callable[..., Sequence[object]]:
    """Return what runs a graph by PyTorch."""
    return getattr(graph, "forward")


class CompiledPart(Protocol):
    """Code of a part for any shapes that it was, or can be, prepared for."""

    def prepare(self, args: Sequence[object]) -> None:
        """Make code for the shapes of some arguments; raises whatever stops that."""
        ...

    def leave(self, args: Sequence[object], failure: Failure) -> None:
        """Leave some shapes to PyTorch, and report why."""
        ...

    def __call__(self, *args: object) -> Sequence[object]: ...


MakePart = Callable[[Part], CompiledPart]


class CutGraph:
    """A graph that was cut for the shapes of some arguments; it takes others too."""

    def __init__(
        self, graph: GraphModule, args: Sequence[object], failure: Failure, make: MakePart
    ) -> None:
        """Cut it so that code of all parts can be made, and make it.

        failure: why it cannot be compiled as a whole.
        """
        sized = with_sizes(graph, args)
        self._graph = graph
        self.nodes: Mapping[str, Node] = {node.name: node for node in sized.graph.nodes}
        self.refused: Refused = {**self._blamed(failure, ()), **refused_nodes(sized)}
        self.bug = failure.bug
        self._parts: Sequence[tuple[Part, CompiledPart]] = ()
        made: dict[frozenset[str], CompiledPart] = {}
        for _ in range(ATTEMPTS):
            self.partition: Partition = partition(graph, self.nodes, self.refused)
            for part in self.partition.parts:
                if part.names not in made:
                    made[part.names] = make(part)
            self._parts = [(part, made[part.names]) for part in self.partition.parts]
            failures = [(code, failure) for code, _, failure in self._failures(args)]
            if not failures:
                break
            for code, why in failures:
                nodes = next(part.nodes for part, each in self._parts if each == code)
                self.refused = {**self.refused, **self._blamed(why, nodes)}
                self.bug = self.bug or why.bug
        else:
            left = {name: Diagnostic("refused with others") for name in self.nodes}
            self.refused = {**left, **self.refused}
            self.partition, self._parts = partition(graph, self.nodes, self.refused), []
        joined = self.partition.joined([_called(each) for _, each in self._parts])
        self._run = forward_of(joined)

    def _blamed(self, failure: Failure, part: Sequence[Node]) -> Refused:
        """Return the nodes that a failure names; else all of the part."""
        if failure.bug is None:
            named = named_nodes(failure.diagnostics)
            found = {name: why for name, why in named.items() if name in self.nodes}
            if found or not part:
                return found
        return {node.name: failure.diagnostics[0] for node in part or self._graph.graph.nodes}

    def run(self, args: Sequence[object]) -> Sequence[object]:
        """Run on the arguments of the graph."""
        return self._run(*args)

    def prepare(self, args: Sequence[object]) -> None:
        """Make code of all parts for the shapes of some arguments; PyTorch runs what has none."""
        for graph, given, failure in self._failures(args):
            graph.leave(given, failure)

    def _failures(
        self, args: Sequence[object]
    ) -> Iterator[tuple[CompiledPart, Sequence[object], Failure]]:
        """Make code of all parts; yield those of which that cannot be, and their arguments."""
        values = self._values(args)
        for part, graph in self._parts:
            given = [_as_taken(values[node]) for node in part.inputs]
            failure = failure_of(lambda graph=graph, given=given: graph.prepare(given))
            if failure is not None:
                yield graph, given, failure

    def _values(self, args: Sequence[object]) -> Mapping[Node, object]:
        """Return weights and other arguments as they are, tensors without data for the rest."""
        values = dict(known_values(self._graph, args))
        placeholders = [node for node in self._graph.graph.nodes if node.op == "placeholder"]
        held = [node for node in self._graph.graph.nodes if node.op == "get_attr"]
        values.update(zip(placeholders, args, strict=True))
        values.update({node: getattr(self._graph, str(node.target)) for node in held})
        return values


def _as_taken(value: object) -> object:
    is_complex = is_tensor(value) and getattr(value.dtype, "is_complex")
    return real_parts(value) if is_complex else value


def _called(part: CompiledPart) -> Callable[..., Sequence[object]]:
    """Return a function, as graphs of PyTorch call them."""

    def gawee_part(*args: object) -> Sequence[object]:
        return part(*args)

    return gawee_part


def without_data(args: Sequence[object], kept: frozenset[int]) -> Sequence[object]:
    """Return arguments of the same shapes without data, but for some at their positions."""
    empty_like: Callable[..., object] = torch().empty_like
    return [
        empty_like(each, device="meta") if is_tensor(each) and index not in kept else each
        for index, each in enumerate(args)
    ]
