"""A program of torch.export with sizes that data decide, compiled in parts.

    keep = torch.nonzero(scores > 0).squeeze(1)     # i64[u0]: PyTorch runs nonzero
    return boxes[keep] * 2                          # a part: one code for all values of u0

PyTorch runs the op that decides a size, and says how large its result is. For the parts in front
of it and behind it, such a size is a name like those of inputs: they are compiled once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.open_size import OpenSize, sizes_at
from gawee_dialect.dialect.types import shape_text
from gawee_dialect.frontends.npu_ir.convert import CHECKS, place_of
from gawee_dialect.frontends.npu_ir.extract import graph_of
from gawee_dialect.frontends.npu_ir.ir import (
    NPU_IR,
    ConversionError,
    ExecutionError,
    TensorMeta,
    place_text,
)
from gawee_dialect.frontends.npu_ir.pytorch import (
    GraphModule,
    Module,
    Node,
    Program,
    Tensor,
    is_node,
    is_tensor,
    torch,
    torch_name,
)
from gawee_dialect.frontends.npu_ir.symbols import (
    ASSERT,
    Names,
    decides_sizes,
    expression,
    is_symbol,
    size_of,
    sizes_of,
    symbols_of_data,
)
from gawee_dialect.pytorch.compiled_torch import CompiledTorch, Passes
from gawee_dialect.pytorch.cut_graph import forward_of
from gawee_dialect.pytorch.explanation import LeftOp, explained
from gawee_dialect.pytorch.graph_weights import used_weights
from gawee_dialect.pytorch.partition import Part, Partition, partition
from gawee_dialect.pytorch.tensors import tensor_of_array

DECIDED = "the size of its result depends on data"


@dataclass(frozen=True)
class CutProgram:
    """A program to be cut; `names` are those of all symbols, those of data among them."""

    program: Program
    model: Module
    ir: NPU_IR
    """The whole graph."""
    names: Names
    changed: Sequence[str]
    """The buffers that the program changes, in the order of its outputs."""
    held: Sequence[str]
    """The same, in the order of the graph's inputs."""

    def part(self, graph: GraphModule) -> NPU_IR:
        """Return a part of the graph; raises ConversionError."""
        name = self.ir.model_name
        return graph_of(self.program, self.model, name, self.changed, self.names, graph)


class SizesOfData(ConversionError):
    """A program has sizes that data decide: it is a graph in parts, and refused as a whole."""

    def __init__(self, cut: CutProgram) -> None:
        nodes = filter(decides_sizes, cut.program.graph_module.graph.nodes)
        super().__init__([_diagnostic(node, f"'{node.target}': {DECIDED}") for node in nodes])
        self.cut = cut


def _diagnostic(node: Node, text: str, hint: str | None = None) -> Diagnostic:
    return Diagnostic(text, place_text(place_of(node)), node.name, hint)


class CompiledParts(CompiledTorch):
    """A callable on tensors, as `CompiledTorch` is; `left` are the ops that PyTorch runs."""

    def __init__(
        self,
        cut: CutProgram,
        weights: Mapping[str, object],
        options: CodeOptions | None = None,
        *,
        passes: Passes = (),
        cache: bool = True,
        known: Mapping[int, object] | None = None,
        state: Sequence[Callable[[], Tensor]] = (),
    ) -> None:
        """Compile all parts; raises ConversionError with all ops that are not supported."""
        self._take(cut.ir, known, state)
        graph = cut.program.graph_module
        _erase_known_checks(graph)
        self._nodes = {node.name: node for node in graph.graph.nodes}
        self._refused = {
            name: why for name, node in self._nodes.items() if (why := _refusal(node)) is not None
        }
        self._partition: Partition = partition(graph, self._nodes, self._refused, small=True)
        problems: list[Diagnostic] = []
        self.parts: list[CompiledTorch] = []
        runs: list[Callable[..., Sequence[object]]] = []
        for part in self._partition.parts:
            try:
                ir, read = _ir_of(part, cut)
                self.parts.append(CompiledTorch(ir, weights, options, passes=passes, cache=cache))
                runs.append(_run_of(part, self.parts[-1], read))
            except ConversionError as error:
                problems += error.diagnostics
        if problems:
            raise ConversionError(problems)
        self._weights = _weights_of(cut.ir, weights)
        self._inputs = [node.name for node in self._nodes.values() if node.op == "placeholder"]
        self._state_first = [cut.changed.index(name) for name in cut.held]
        self._run = forward_of(_with_checks(self._partition.joined(runs)))

    @property
    def native(self) -> CompiledModel:
        """Raises GaweeError: there are several, `native` of each of the parts."""
        raise GaweeError(f"expected one code, got {len(self.parts)} parts: {self!r}")

    @property
    def left(self) -> Sequence[LeftOp]:
        """The ops that PyTorch runs between parts."""
        return explained(self._partition, self._nodes, self._refused).left

    def __repr__(self) -> str:
        ops = [f"{each.op} ({', '.join(each.places)})" for each in self.left]
        parts = f"{len(self.parts)} part" + ("" if len(self.parts) == 1 else "s")
        return f"<CompiledTorch '{self.ir.model_name}': {parts}; PyTorch runs {', '.join(ops)}>"

    def rebind(self, weights: Mapping[str, object]) -> None:
        """Take other weights, as `CompiledTorch.rebind` does."""
        self._weights = _weights_of(self.ir, weights)
        for part in self.parts:
            part.rebind(weights)

    def _results(self, given: Mapping[str, Tensor]) -> list[Tensor]:
        _check_inputs(self.ir, given)
        values = {**self._weights, **given}
        with torch().no_grad():
            made = self._run(*(values.get(name) for name in self._inputs))
        results = [each for each in made if is_tensor(each)]
        return [*(results[at] for at in self._state_first), *results[len(self._state_first) :]]


def _weights_of(ir: NPU_IR, weights: Mapping[str, object]) -> Mapping[str, Tensor]:
    """Return weights and constants by the names of their placeholders, for what PyTorch runs."""
    bound = used_weights(ir, weights)
    return {
        placeholder: tensor_of_array(bound[weight.name])
        for placeholder, weight in ir.placeholders()
        if weight.name in bound
    }


def _check_inputs(ir: NPU_IR, given: Mapping[str, Tensor]) -> None:
    """Raise GaweeError for an input of another shape or dtype: what PyTorch runs asks neither."""
    shapes = {name: _numbers(each.shape) for name, each in given.items()}
    sizes = ir.size_numbers(shapes)
    for meta in ir.graph_inputs:
        wanted = f"{shape_text(sizes_at(meta.shape, sizes))} {meta.dtype}"
        got = f"{shape_text(shapes[meta.name])} {torch_name(given[meta.name].dtype)}"
        if wanted != got:
            raise ExecutionError(f"expected input '{meta.name}' to be {wanted}, got {got}")


def _numbers(shape: Sequence[object]) -> tuple[int, ...]:
    return tuple(size for size in shape if isinstance(size, int))


# What PyTorch runs.


def _refusal(node: Node) -> Diagnostic | None:
    """Return why PyTorch runs a node; None where it is compiled."""
    if decides_sizes(node):
        return _diagnostic(node, DECIDED)
    if _is_check(node) or isinstance(
        node.meta.get("val"), torch().SymInt | torch().SymFloat | torch().SymBool
    ):
        return _diagnostic(node, "it computes with sizes")
    if isinstance(node.target, torch()._ops.HigherOrderOperator):
        return _diagnostic(node, "it runs graphs of its own")
    return None


_EXPRESSION = re.compile(r"expression (?P<what>.+) on node")


def _is_check(node: Node) -> bool:
    return node.op == "call_function" and CHECKS.match(str(node.target)) is not None


def checks_size(node: Node) -> bool:
    """Whether a node is a check, or computes for checks alone: PyTorch runs both."""
    numbers = torch().SymInt | torch().SymBool
    for_checks = isinstance(node.meta.get("val"), numbers) and node.op == "call_function"
    return _is_check(node) or (for_checks and all(map(checks_size, node.users)))


def _erase_known_checks(graph: GraphModule) -> None:
    """Erase checks but those of sizes: export has made them."""
    for node in [*graph.graph.nodes]:
        if _is_check(node) and str(node.target) != ASSERT:
            getattr(graph.graph, "erase_node")(node)


def _with_checks(graph: GraphModule) -> GraphModule:
    """Have checks of sizes raise errors with the line of the op that decides one."""
    known: dict[str, Node] = {}
    decided: dict[str, Node] = {}
    for node in graph.graph.nodes:
        if is_symbol(node.meta.get("val")):
            known.setdefault(str(expression(node.meta["val"])), node)
        if decides_sizes(node):
            decided = {**{str(each): node for each in symbols_of_data(node)}, **decided}
        if str(node.target) == ASSERT:
            condition, text = node.args
            free = sorted(_symbols_of_condition(condition))
            found = _EXPRESSION.search(str(text))
            what = str(text) if found is None else found["what"]
            node.target = _check(what, {name: decided[name] for name in free if name in decided})
            node.args = (condition,)
            node.kwargs = {name: known[name] for name in free if name in known}
    getattr(graph, "recompile")()
    return graph


def _symbols_of_condition(condition: object) -> frozenset[str]:
    value = condition.meta.get("val") if is_node(condition) else None
    free = getattr(expression(value), "free_symbols") if isinstance(value, torch().SymBool) else ()
    return frozenset(map(str, free))


def _check(what: str, decided: Mapping[str, Node]) -> Callable[..., None]:
    """Return what checks a condition on sizes when it is called."""

    def gawee_check(holds: object, **sizes: object) -> None:
        if holds:
            return
        got = ", ".join(f"{name} = {size}" for name, size in sizes.items())
        hint = ", ".join(f"{name} is a size of '{node.target}'" for name, node in decided.items())
        node = next(iter(decided.values()), None)
        place = None if node is None else place_text(place_of(node))
        raise ExecutionError(Diagnostic(f"expected {what}, got {got}", place, hint=hint or None))

    return gawee_check


# Parts.


def _ir_of(part: Part, cut: CutProgram) -> tuple[NPU_IR, Sequence[int]]:
    """Return the graph of a part, and at which of its arguments its inputs are.

    A size that the part computes with, and that no input has, is the first size of an input that
    has no elements.
    """
    ir = cut.part(part.graph)
    at = {node.name: index for index, node in enumerate(part.inputs)}
    read = [at[each.name] for each in ir.graph_inputs]
    said = {size for each in ir.graph_inputs for size in each.shape}
    sizes = sizes_of(cut.names)
    for index, node in enumerate(part.inputs):
        size = size_of(node.meta.get("val"), sizes)
        if isinstance(size, OpenSize) and size not in said:
            said.add(size)
            read.append(index)
            ir.graph_inputs.append(TensorMeta(node.name, (size, 0), "float32"))
    return ir, read


def _run_of(
    part: Part, compiled: CompiledTorch, read: Sequence[int]
) -> Callable[..., Sequence[object]]:
    """Return what runs a part; PyTorch does where there are no elements: code takes at least 1."""
    by_pytorch, empty = forward_of(part.graph), torch().empty

    def gawee_part(*args: object) -> Sequence[object]:
        given = [args[index] for index in read]
        if any(0 in each.shape if is_tensor(each) else each == 0 for each in given):
            return by_pytorch(*args)
        return compiled.run([empty(each, 0) if isinstance(each, int) else each for each in given])

    return gawee_part
