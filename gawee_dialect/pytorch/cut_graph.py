"""A graph of which parts are compiled, and PyTorch runs the rest.

Gradients flow through calls of `torch.autograd.Function`. PyTorch makes a class for each call
whenever it runs, and interprets the graphs of both directions node by node: in a BLOOM of two small
layers that takes as long as two thirds of the rest. What is saved it holds by itself, so that a
later write to it is not noticed, and it computes no gradient of a gradient. Here each node has a
class, and runs as in eager mode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import new_class
from typing import Protocol

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.frontends.npu_ir.convert import Converter, place_of, reads_other_order
from gawee_dialect.frontends.npu_ir.importer import Importer
from gawee_dialect.frontends.npu_ir.ir import (
    NPU_IR,
    ConversionError,
    OpNode,
    TensorMeta,
    place_text,
)
from gawee_dialect.frontends.npu_ir.liveness import read_inputs
from gawee_dialect.frontends.npu_ir.pytorch import GraphModule, Node, is_sequence, is_tensor, torch
from gawee_dialect.pytorch.compilation_process import InterpreterEnds
from gawee_dialect.pytorch.open_graph import known_values, with_sizes
from gawee_dialect.pytorch.partition import Part, Partition, partition, real_parts

# Which nodes of a graph of known shapes cannot be imported, and why: all of them at once.


Refused = Mapping[str, Diagnostic]
"""Why nodes cannot be compiled, by their names."""


def refused_nodes(graph: GraphModule) -> Refused:
    """Judge each node, whatever the others are: a refused one makes what it declares.

    Complex tensors are held as their parts, inputs too.
    """
    judge = _Judge(graph)
    return judge.refused


class _Judge:
    def __init__(self, graph: GraphModule) -> None:
        self.graph = graph
        self.refused: dict[str, Diagnostic] = {}
        self.converter = Converter()
        self.owners: list[Node] = []
        """The node of the graph that each converted one is from."""
        self.inputs: list[TensorMeta] = []
        self.read: list[TensorMeta] = []
        """What refused nodes and the output read."""
        for node in graph.graph.nodes:
            if node.op == "output":
                self._read_by(node)
            elif node.op != "call_function":
                self._given(graph, node)
            else:
                self._convert(graph, node)
        self._import()
        self._refuse_all_for_order()

    def _refuse_all_for_order(self) -> None:
        """Refuse all where an op reads memory in another order: parts make tensors in C order."""
        calls = [node for node in self.graph.graph.nodes if node.op == "call_function"]
        for node in calls:
            if reads_other_order(node):
                text = f"unsupported '{node.target}' in a graph that is cut: parts change strides"
                why = _diagnostic(node, text)
                self.refused = {**{each.name: why for each in calls}, **self.refused}
                return

    def _given(self, graph: GraphModule, node: Node) -> None:
        """Take an input, or what the graph holds itself, as an input."""
        try:
            if node.op == "get_attr" and node.meta.get("val") is None:
                node.meta["val"] = getattr(graph, str(node.target))
            meta = self.converter.add_placeholder(node, weight=False)
        except ConversionError as error:
            self._refuse(node, error.diagnostics[0])
            return
        if meta is not None:
            self.inputs.append(meta)

    def _convert(self, graph: GraphModule, node: Node) -> None:
        before = len(self.converter.nodes)
        try:
            self.converter.convert_node(graph, node)
        except ConversionError as error:
            self._refuse(node, error.diagnostics[0])
        except Exception as error:  # what it reads was refused, or the node is none that we know
            self._refuse(node, _diagnostic(node, f"internal error: {error!r}"))
        if node.name in self.refused:
            del self.converter.nodes[before:]
        self.owners += [node] * (len(self.converter.nodes) - before)

    def _refuse(self, node: Node, why: Diagnostic) -> None:
        self.refused[node.name] = why
        self._read_by(node)
        try:
            self.inputs += self.converter.stand_in(node)
        except ConversionError:
            pass  # a shape that depends on data: what reads it is refused too

    def _read_by(self, node: Node) -> None:
        for each in node.all_input_nodes:
            self.read += self.converter.tensors_of(each)

    def _import(self) -> None:
        importer = Importer(NPU_IR(self.converter.nodes, self.inputs, self.read, []))
        for meta in self.inputs:
            importer.add_stand_in(meta)
        for index, (converted, owner) in enumerate(
            zip(self.converter.nodes, self.owners, strict=True)
        ):
            if index not in importer.liveness.live:
                continue
            importer.index = index
            why = _verdict(importer, converted)
            if why is not None:
                self.refused.setdefault(owner.name, why)
            for output in converted.outputs:
                importer.add_stand_in(output)


def _verdict(importer: Importer, node: OpNode) -> Diagnostic | None:
    """Import one node; return why it is refused."""
    importer.problems, importer.unsupported = [], []
    unknown = [each for each in read_inputs(node) if each.name not in importer.values]
    if unknown:
        text = f"unsupported dtype '{unknown[0].dtype}' of '{unknown[0].name}'"
        return Diagnostic(text, place_text(node.place), node.name)
    try:
        importer.add_node(node)
    except Exception as error:
        return Diagnostic(f"internal error: {error!r}", place_text(node.place), node.name)
    importer.report_unsupported()
    return importer.problems[0] if importer.problems else None


def _diagnostic(node: Node, text: str) -> Diagnostic:
    return Diagnostic(text, place_text(place_of(node)), node.name)


def named_nodes(diagnostics: Sequence[Diagnostic]) -> Refused:
    """Return what errors say of nodes that they name."""
    return {each.node: each for each in diagnostics if each.node is not None}


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


SAID = {"non_differentiable_idx", "saved_for_backward_idx"}
"""What calls say that are run here: none changes its arguments, in the words of PyTorch 2.13."""


def call_functions_directly(graph: GraphModule) -> None:
    """Have calls of `torch.autograd.Function` in a graph of TorchDynamo run by classes."""
    apply: object = getattr(torch().ops.higher_order, "autograd_function_apply", None)
    calls = [node for node in graph.graph.nodes if node.target is apply and {*node.kwargs} == SAID]
    for node in calls:
        node.target = _function()
    for name in {str(node.all_input_nodes[1].target) for node in calls}:
        _take_gradient_mode(getattr(graph, name))
    if calls:
        getattr(graph, "recompile")()


def _take_gradient_mode(graph: GraphModule) -> None:
    """Erase what turns gradients off around the whole of a graph, which runs in no call then."""
    calls = [node for node in graph.graph.nodes if node.op == "call_function"]
    switch: object = torch()._C._set_grad_enabled
    ends: list[Node] = [*calls[:1], *calls[-1:]]
    if [(node.target, node.args) for node in ends] == [(switch, (False,)), (switch, (True,))]:
        for node in ends:
            getattr(graph.graph, "erase_node")(node)
        getattr(graph, "recompile")()


@dataclass
class _Call:
    """A call, and what its forward direction saves for the other one."""

    forward: Callable[..., Sequence[object]]
    backward: Callable[..., Sequence[object]]
    constant: Sequence[int]
    """The outputs that no gradient flows through."""
    kept: Sequence[int]
    """What is saved of tensors that PyTorch watches."""
    saved: Sequence[object] = ()


class _Context(Protocol):
    call: _Call
    saved_tensors: Sequence[object]

    def mark_non_differentiable(self, *tensors: object) -> None: ...
    def save_for_backward(self, *tensors: object) -> None: ...


def _forward(call: _Call, *args: object) -> object:
    output, saved = call.forward(*args)
    assert is_sequence(saved)
    call.saved = saved
    return output


def _setup_context(context: _Context, inputs: tuple[_Call, ...], output: object) -> None:
    context.call = call = inputs[0]
    outputs = output if is_sequence(output) else [output]
    if call.constant:
        context.mark_non_differentiable(*[outputs[index] for index in call.constant])
    context.save_for_backward(*[call.saved[index] for index in call.kept])
    call.saved = [None if at in call.kept else each for at, each in enumerate(call.saved)]


def _backward(context: _Context, *gradients: object) -> Sequence[object]:
    call = context.call
    saved = [*call.saved]
    for index, tensor in zip(call.kept, context.saved_tensors, strict=True):
        saved[index] = tensor
    return (None, *call.backward(*gradients, *saved))


def _function() -> Callable[..., object]:
    """Return what runs one node: PyTorch knows functions apart by their classes."""
    base: type[object] = import_module("torch.autograd").Function

    def fill(namespace: dict[str, object]) -> None:
        namespace["forward"] = staticmethod(_forward)
        namespace["setup_context"] = staticmethod(_setup_context)
        namespace["backward"] = staticmethod(_backward)

    apply = getattr(new_class("GraphFunction", (base,), exec_body=fill), "apply")

    def function(
        forward: GraphModule,
        backward: GraphModule,
        *args: object,
        non_differentiable_idx: Sequence[int],
        saved_for_backward_idx: Sequence[int],
    ) -> object:
        ways = forward_of(forward), forward_of(backward)
        return apply(_Call(*ways, non_differentiable_idx, saved_for_backward_idx), *args)

    return function
