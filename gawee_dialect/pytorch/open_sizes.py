"""A graph in which sizes are symbols, as it is for some arguments: its sizes are numbers.

PyTorch notes each size as an expression of symbols that arguments have, so nothing is traced again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

from gawee_dialect.dialect.open_size import UNBOUNDED
from gawee_dialect.frontends.npu_ir.pytorch import (
    FxGraph,
    GraphModule,
    Node,
    is_sequence,
    is_tensor,
    torch,
)
from gawee_dialect.frontends.npu_ir.symbols import expression, is_symbol


def has_open_sizes(graph: GraphModule) -> bool:
    """Whether an argument of a graph is a size, or has one, that is a symbol."""
    values = [node.meta.get("val") for node in graph.graph.nodes if node.op == "placeholder"]
    return any(is_symbol(each) for value in values for each in _sizes(value))


def inputs_of_other_shapes(graph: GraphModule, static: frozenset[int]) -> Sequence[int]:
    """Return the positions of arguments whose shape may differ between calls: no plain weights."""
    values = [node.meta.get("val") for node in graph.graph.nodes if node.op == "placeholder"]
    return [
        index
        for index, value in enumerate(values)
        if index not in static or any(not isinstance(size, int) for size in _sizes(value))
    ]


def with_sizes(graph: GraphModule, args: Sequence[object]) -> GraphModule:
    """Return a copy of a graph in which all that its arguments decide is a number.

    a: f32[s0, 3] -> b = sym_size(a, 0); c = mul(b, 3); d = view(a, [c])
    with s0 = 5   -> d: f32[15] = view(a, [15])
    """
    fx = torch().fx
    copy = fx.Graph()
    made: dict[Node, object] = {}
    for node, value in known_values(graph, args).items():
        number = isinstance(value, int | float)
        if not number or node.op == "placeholder":
            made[node] = node_copy = copy.node_copy(node, made.__getitem__)
            node_copy.meta["val"] = value
        if number:
            made[node] = value
    return _Copied(copy, graph)


def copied(graph: GraphModule) -> GraphModule:
    """Return a copy of a graph, whose nodes may be changed."""
    copy = torch().fx.Graph()
    made: dict[Node, object] = {}
    for node in graph.graph.nodes:
        made[node] = copy.node_copy(node, made.__getitem__)
    return _Copied(copy, graph)


def numbers_of_symbols(graph: GraphModule, args: Sequence[object]) -> Mapping[object, int]:
    """Return what symbols are for some arguments: those that are sizes of arguments themselves."""
    return dict(_symbols(graph, args))


def ranges_of_symbols(graph: GraphModule) -> Mapping[object, tuple[int, int]]:
    """Return between which numbers PyTorch has the graph called again: beyond, it traces another.

    So a length that cuts a table of 64 positions is at most 64.
    """
    values = [node.meta.get("val") for node in graph.graph.nodes if node.op == "placeholder"]
    sizes = [size for value in values for size in _sizes(value) if is_symbol(size)]
    return {expression(size): _guarded(size) for size in sizes}


def _guarded(size: object) -> tuple[int, int]:
    node = getattr(size, "node")
    known = getattr(node, "shape_env").var_to_range[expression(size)]
    return int(max(known.lower, 0)), int(min(known.upper, UNBOUNDED))


def known_values(graph: GraphModule, args: Sequence[object]) -> Mapping[Node, object]:
    """Return what each node makes: numbers, and tensors without data whose sizes are numbers."""
    integer: Callable[[object], object] = import_module("sympy").Integer
    symbols = {symbol: integer(number) for symbol, number in _symbols(graph, args)}
    return {node: _known(node.meta.get("val"), symbols) for node in graph.graph.nodes}


@dataclass(frozen=True)
class _Copied:
    """A graph to be read, with what the module has that it was copied from."""

    graph: FxGraph
    module: GraphModule

    def __getattr__(self, name: str) -> object:
        return getattr(self.module, name)


def _symbols(graph: GraphModule, args: Sequence[object]) -> Iterator[tuple[object, int]]:
    """Yield the symbols that arguments have, with what they are."""
    placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
    for node, given in zip(placeholders, args, strict=True):
        for size, number in zip(_sizes(node.meta.get("val")), _sizes(given), strict=True):
            if is_symbol(size):
                assert isinstance(number, int)
                yield expression(size), number


def _sizes(value: object) -> Sequence[object]:
    return value.shape if is_tensor(value) else [value]


def _known(value: object, symbols: Mapping[object, object]) -> object:
    """Return what a node makes: numbers, and tensors without data whose sizes are numbers."""
    if is_tensor(value):
        shape = [_number(size, symbols) for size in value.shape]
        if not all(isinstance(size, int) for size in shape):
            return value  # it depends on data, which conversion reports
        # The place in memory too: some ops read tensors by it.
        strides = [_number(stride, symbols) for stride in value.stride()]
        offset = _number(getattr(value, "storage_offset")(), symbols)
        made = torch().empty(0, dtype=value.dtype, device="meta")
        return getattr(made, "as_strided")(shape, strides, offset)
    if is_sequence(value):
        return [_known(each, symbols) for each in value]
    return _number(value, symbols)


def _number(value: object, symbols: Mapping[object, object]) -> object:
    kinds: Mapping[type, Callable[..., object]] = {
        torch().SymInt: int,
        torch().SymFloat: float,
        torch().SymBool: bool,
    }
    kind = kinds.get(type(value))
    if kind is None:
        return value
    known = getattr(expression(value), "xreplace")(symbols)
    return value if getattr(known, "free_symbols") else kind(known)
