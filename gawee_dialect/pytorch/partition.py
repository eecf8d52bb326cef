"""Cut a graph of PyTorch into parts that are compiled, and what PyTorch runs between them.

1. Every node has a level: inputs and what PyTorch computes of them alone are -1, parts are even,
   what PyTorch runs is odd, and no node has a lower level than one that it reads.
2. The supported nodes of one level are one part: any path between two of them stays in it, so
   that no part waits for itself. There are as few as there can be.
3. Nodes whose results are smaller, or have to be made anyway, go to the level that reads them.
4. A part that PyTorch runs sooner than a call of compiled code takes is left to it: the work of
   nodes, in FLOPs and bytes, says how long PyTorch takes.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from math import prod
from operator import getitem

from gawee_dialect.frontends.npu_ir.aten.registry import base_name
from gawee_dialect.frontends.npu_ir.liveness import VIEWS
from gawee_dialect.frontends.npu_ir.pytorch import (
    FxGraph,
    GraphModule,
    Node,
    Tensor,
    is_node,
    is_sequence,
    is_tensor,
    torch,
)

CALL_SECONDS = 8e-6
"""What one more call of compiled code costs: keys, arrays and tensors of its arguments."""

OP_SECONDS = 1.5e-6
"""What PyTorch takes to call an op that has nothing to do."""

BYTES_PER_SECOND = 1e10
FLOPS_PER_SECOND = 3e10
"""About what one core does; only to separate parts that pay from those that do not."""


def is_view(node: Node) -> bool:
    """Whether a node has nothing to do: its result shares memory with what it reads."""
    return node.op == "call_function" and base_name(str(node.target)) in VIEWS


def is_getitem(node: Node) -> bool:
    """Whether a node takes one of the results of another."""
    return node.target is getitem


def views_of_inputs(graph: GraphModule) -> Sequence[int]:
    """Return the positions of outputs that share memory with an input, in order."""
    found: set[Node] = set()
    for node in graph.graph.nodes:
        source = node.args[0] if is_view(node) or is_getitem(node) else None
        if is_node(source) and (source.op == "placeholder" or source in found):
            found.add(node)
    return [place for place, output in enumerate(outputs_of(graph)) if output in found]


def outputs_of(graph: GraphModule) -> Sequence[object]:
    """Return the nodes, numbers and None that a graph returns."""
    output = next(node for node in graph.graph.nodes if node.op == "output")
    (values,) = output.args
    assert is_sequence(values)
    return values


def with_outputs(graph: GraphModule, has: Callable[[int], bool]) -> GraphModule:
    """Return a copy of a graph that computes some of its outputs alone."""
    fx = torch().fx
    copy = fx.Graph()
    made: dict[Node, object] = {}
    for node in graph.graph.nodes:
        if node.op != "output":
            made[node] = copy.node_copy(node, made.__getitem__)
    outputs = [value for place, value in enumerate(outputs_of(graph)) if has(place)]
    copy.output([made[each] if is_node(each) else each for each in outputs])
    getattr(copy, "eliminate_dead_code")()
    return fx.GraphModule(graph, copy)


def tensors_of(node: Node) -> list[Tensor]:
    """Return the tensors that a node makes, as they are declared."""
    made = node.meta.get("val")
    return [each for each in (made if is_sequence(made) else [made]) if is_tensor(each)]


def bytes_of(node: Node) -> int:
    """Return the bytes of what a node makes."""
    return sum(elements_of(each) * getattr(each, "element_size")() for each in tensors_of(node))


def flops_of(node: Node) -> int:
    """Return the FLOPs of a node: of products, as PyTorch counts them; else one an element."""
    if node.op != "call_function" or is_view(node) or is_getitem(node):
        return 0
    formulas: Mapping[object, Callable[..., int]] = {
        **import_module("torch.utils.flop_counter").flop_registry,
        **_own_formulas(),
    }
    formula = formulas.get(getattr(node.target, "overloadpacket", None))
    tensors = [each for made in (node, *node.all_input_nodes) for each in tensors_of(made)]
    known = all(isinstance(size, int) for each in tensors for size in each.shape)
    if formula is not None and known:  # a number of an open size would settle it for the graph
        try:
            return int(formula(*map(_value, node.args), out_val=node.meta.get("val")))
        except Exception:
            pass  # a formula for other arguments than these
    return max(map(elements_of, tensors), default=0)


def eager_seconds(node: Node) -> float:
    """Return about how long PyTorch takes for a node."""
    if node.op != "call_function" or is_view(node) or is_getitem(node):
        return 0.0
    moved = bytes_of(node) + sum(map(bytes_of, node.all_input_nodes))
    return OP_SECONDS + moved / BYTES_PER_SECOND + flops_of(node) / FLOPS_PER_SECOND


def elements_of(tensor: Tensor) -> int:
    """Return how many elements a tensor has, without axes of open sizes."""
    sizes = [size for size in tensor.shape if isinstance(size, int)]
    return prod(sizes)


def _value(argument: object) -> object:
    if is_node(argument):
        return argument.meta.get("val")
    return [_value(each) for each in argument] if is_sequence(argument) else argument


def _own_formulas() -> Mapping[object, Callable[..., int]]:
    """Formulas of ops that PyTorch has none for."""
    aten = torch().ops.aten
    return {
        aten._transformer_encoder_layer_fwd: _encoder_layer,
        aten.mkldnn_rnn_layer: _recurrent_layer,
        aten._scaled_dot_product_flash_attention_for_cpu: _attention,
    }


def _attention(query: Tensor, key: Tensor, *_: object, **__: object) -> int:
    *batch, length, width = (size for size in query.shape if isinstance(size, int))
    other = key.shape[-2]
    assert isinstance(other, int)
    return 4 * prod(batch) * length * other * width


def _encoder_layer(src: Tensor, width: int, heads: int, *more: object, **_: object) -> int:
    """Products with the weights, and attention.

    FLOPs: 2 · tokens · weights + 4 · tokens · length · width.
    """
    weights = [each for each in more if is_tensor(each) and len(each.shape) == 2]
    tokens = elements_of(src) // width
    length = src.shape[-2]
    assert isinstance(length, int)
    return 2 * tokens * sum(map(elements_of, weights)) + 4 * tokens * length * width


def _recurrent_layer(input: Tensor, *more: object, **_: object) -> int:
    """Products with the weights of each step. FLOPs: 2 · steps · batch · weights."""
    weights = [each for each in more[:2] if is_tensor(each)]
    steps, batch = (size for size in input.shape[:2] if isinstance(size, int))
    return 2 * steps * batch * sum(map(elements_of, weights))


GIVEN = -1
"""The level of what is there before the first part."""


@dataclass(frozen=True)
class Part:
    """Nodes that are compiled together; `inputs` and `outputs` are nodes of the whole graph."""

    nodes: Sequence[Node]
    inputs: Sequence[Node]
    outputs: Sequence[Node]
    graph: GraphModule = field(compare=False)
    """The part alone. Complex inputs and outputs are its as `torch.view_as_real` has them."""

    @property
    def names(self) -> frozenset[str]:
        """The names of the nodes."""
        return frozenset(node.name for node in self.nodes)


@dataclass(frozen=True)
class Partition:
    """A graph, and which of its nodes are compiled together."""

    whole: GraphModule
    levels: Mapping[Node, int]

    @property
    def left(self) -> Sequence[Node]:
        """What PyTorch runs."""
        calls = (node for node in self.whole.graph.nodes if node.op == "call_function")
        return [node for node in calls if self.levels[node] % 2]

    @cached_property
    def parts(self) -> Sequence[Part]:
        """The parts, in the order in which they run."""
        by_level: dict[int, list[Node]] = defaultdict(list)
        for node in self.whole.graph.nodes:
            if node.op == "call_function" and self.levels[node] % 2 == 0:
                by_level[self.levels[node]].append(node)
        return [_part(self.whole, by_level[level]) for level in sorted(by_level)]

    def joined(self, runs: Sequence[Callable[..., object]]) -> GraphModule:
        """Return a graph that calls a function for each part, and PyTorch's ops for the rest."""
        fx = torch().fx
        graph = fx.Graph()
        values: dict[Node, Node] = {}
        parts = iter(zip(self.parts, runs, strict=True))
        order = sorted(self.whole.graph.nodes, key=self._order)
        started: set[int] = set()
        for node in order:
            level = self.levels[node]
            if node.op != "call_function" or level % 2:
                values[node] = graph.node_copy(node, values.__getitem__)
            elif level not in started:
                started.add(level)
                _call_part(graph, values, *next(parts))
        return fx.GraphModule(self.whole, graph)

    def _order(self, node: Node) -> tuple[int, int]:
        first = {"placeholder": 0, "output": 2}.get(node.op, 1)
        return first, self.levels[node]


def _call_part(
    graph: FxGraph, values: dict[Node, Node], part: Part, run: Callable[..., object]
) -> None:
    """Add the call of a part, and what it makes."""
    args = [
        graph.call_function(real_parts, (values[each],)) if is_complex(each) else values[each]
        for each in part.inputs
    ]
    made = graph.call_function(run, tuple(args))
    for index, node in enumerate(part.outputs):
        value = graph.call_function(getitem, (made, index))
        complexes = torch().view_as_complex
        values[node] = graph.call_function(complexes, (value,)) if is_complex(node) else value


def real_parts(value: object) -> object:
    """Return a complex tensor as the real one that has its memory."""
    return torch().view_as_real(torch().resolve_conj(value))


def is_complex(node: Node) -> bool:
    """Whether a node makes a complex tensor."""
    return any(getattr(each.dtype, "is_complex") for each in tensors_of(node))


def partition(
    graph: GraphModule, sized: Mapping[str, Node], refused: Collection[str], *, small: bool = False
) -> Partition:
    """Cut a graph; `sized` are its nodes for known shapes, `refused` those not to compile.

    With `small`, parts are compiled that do not pay, too.
    """
    nodes = [*graph.graph.nodes]
    supported = {
        node for node in nodes if node.name in sized and node.name not in refused and _is_op(node)
    }
    while True:
        supported -= _torn_apart(nodes, supported)
        levels = _levels(nodes, supported, sized)
        seconds: dict[int, float] = defaultdict(float)
        for node in supported:
            seconds[levels[node]] += eager_seconds(sized[node.name])
        dropped = {
            node for node in supported if not small and seconds[levels[node]] <= CALL_SECONDS
        } | _views_for_others(supported, levels)
        if not dropped:
            return Partition(graph, levels)
        supported -= dropped


def _is_op(node: Node) -> bool:
    return is_getitem(node) or isinstance(node.target, torch()._ops.OpOverload)


def _torn_apart(nodes: Sequence[Node], supported: Collection[Node]) -> set[Node]:
    """Return ops with several results, and what takes these, where PyTorch runs one of them."""
    torn: set[Node] = set()
    for node in nodes:
        group = {node, *filter(is_getitem, node.users)}
        if len(group) > 1 and not group <= set(supported):
            torn |= group
    return torn


def _views_for_others(supported: Collection[Node], levels: Mapping[Node, int]) -> set[Node]:
    """Return views that what PyTorch runs reads alone: it makes them of what crosses anyway."""
    return {
        node
        for node in supported
        if is_view(node)
        and node.users
        and not any(map(is_getitem, node.users))
        and all(user.op != "output" and levels[user] % 2 for user in node.users)
    }


def _levels(
    nodes: Sequence[Node], supported: Collection[Node], sized: Mapping[str, Node]
) -> dict[Node, int]:
    levels: dict[Node, int] = {}
    drawn = GIVEN
    for node in nodes:
        level = max((levels[each] for each in node.all_input_nodes), default=GIVEN)
        if node.op in ("placeholder", "get_attr"):
            level = GIVEN
        elif (level % 2 == 0) != (node in supported):
            level += 1
        if node not in supported and _draws(node):
            level = drawn = max(level, drawn)  # random numbers keep their order
        levels[node] = level
    for node in reversed(nodes):
        if node in supported and node.users and not any(map(is_getitem, (node, *node.users))):
            later = min(levels[user] for user in node.users)
            if later % 2 == 0 and later > levels[node] and _crosses_less(node, levels, sized):
                levels[node] = later
    return levels


def _crosses_less(node: Node, levels: Mapping[Node, int], sized: Mapping[str, Node]) -> bool:
    """Whether no more bytes go to a later level where a node is computed there."""
    given = [each for each in node.all_input_nodes if levels[each] > GIVEN]
    return sum(_bytes(each, sized) for each in given) <= _bytes(node, sized)


def _bytes(node: Node, sized: Mapping[str, Node]) -> int:
    return bytes_of(sized[node.name]) if node.name in sized else 0


def _draws(node: Node) -> bool:
    """Whether a node draws random numbers."""
    return torch().Tag.nondeterministic_seeded in getattr(node.target, "tags", ())


def _part(whole: GraphModule, nodes: Sequence[Node]) -> Part:
    inside = set(nodes)
    read = {each: None for node in nodes for each in node.all_input_nodes if each not in inside}
    sizes = (
        node
        for node in whole.graph.nodes
        if node.op == "placeholder" and isinstance(node.meta.get("val"), torch().SymInt)
    )
    inputs = list({**dict.fromkeys(sizes), **read})
    outputs = [node for node in nodes if any(user not in inside for user in node.users)]
    return Part(nodes, inputs, outputs, _graph_of(whole, nodes, inputs, outputs))


def _graph_of(
    whole: GraphModule, nodes: Sequence[Node], inputs: Sequence[Node], outputs: Sequence[Node]
) -> GraphModule:
    fx, aten = torch().fx, torch().ops.aten
    graph = fx.Graph()
    values: dict[Node, Node] = {}
    for node in inputs:
        placeholder: Node = graph.placeholder(node.name)
        placeholder.meta.update(node.meta)
        if node.meta.get("val") is None:
            placeholder.meta["val"] = getattr(whole, str(node.target))
        values[node] = placeholder
    for node in inputs:
        if is_complex(node):
            real = values[node]
            value = real.meta["val"]
            real.meta["val"] = real_parts(value)
            values[node] = graph.call_function(aten.view_as_complex.default, (real,))
            values[node].meta["val"] = value
    for node in nodes:
        values[node] = graph.node_copy(node, values.__getitem__)
    returned: list[Node] = []
    for node in outputs:
        value = values[node]
        if is_complex(node):
            # A conjugate may be one by a sign beside its memory, which has no parts.
            plain = graph.call_function(aten.resolve_conj.default, (value,))
            plain.meta["val"] = torch().resolve_conj(value.meta["val"])
            value = graph.call_function(aten.view_as_real.default, (plain,))
            value.meta["val"] = torch().view_as_real(plain.meta["val"])
        returned.append(value)
    graph.output(tuple(returned))
    return fx.GraphModule(whole, graph)


def static_inputs_of(part: Part, static: Collection[Node]) -> frozenset[int]:
    """Return which inputs of a part are weights, or tensors that the graph holds itself."""
    return frozenset(
        index for index, node in enumerate(part.inputs) if node in static or node.op == "get_attr"
    )
