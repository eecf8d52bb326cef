"""A graph of PyTorch in which sizes are symbols: as one code for a range of numbers of each.

PyTorch notes each size as an expression of symbols that arguments have, so nothing is traced again
where the sizes are those of some arguments.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.backend.open_model import OpenModel
from gawee_dialect.backend.program import Program
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.open_size import UNBOUNDED, OpenSize, SizeName, digits_of
from gawee_dialect.frontends.npu_ir.importer import import_ir
from gawee_dialect.frontends.npu_ir.pytorch import (
    FxGraph,
    GraphModule,
    Node,
    is_sequence,
    is_tensor,
    torch,
)
from gawee_dialect.frontends.npu_ir.quotients import divided
from gawee_dialect.frontends.npu_ir.symbols import Names, Sizes, expression, is_symbol, sizes_of
from gawee_dialect.identifiers import c_name
from gawee_dialect.pytorch.static_graph import ConvertedGraph, StaticGraph


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


def copied(graph: GraphModule, without: Callable[[Node], bool] = lambda node: False) -> GraphModule:
    """Return a copy of a graph, whose nodes may be changed; it is `without` some."""
    copy = torch().fx.Graph()
    made: dict[Node, object] = {}
    for node in graph.graph.nodes:
        if not without(node):
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


LEAST = 512
"""The least that a range ends with: what is longer than all that came before is compiled again."""


@dataclass(frozen=True)
class OpenGraph:
    """Code for all numbers of symbols in some ranges."""

    code: StaticGraph
    ranges: Names
    sizes: Sizes
    """What the symbols are to the code: names, digits of them, or numbers."""

    def takes(self, numbers: Mapping[object, int]) -> bool:
        """Whether the code is for some numbers of the symbols."""
        return _takes(self.sizes, numbers)


def _takes(sizes: Sizes, numbers: Mapping[object, int]) -> bool:
    """Whether symbols may be some numbers, by what they are."""
    values = _values(sizes, numbers)
    names = {name for each in sizes.values() if isinstance(each, OpenSize) for name in each.names}
    return all(name.holds(values[name.name]) for name in names) and all(
        sizes[symbol] == number
        if not isinstance(size := sizes[symbol], OpenSize)
        else size.at(values) == number
        for symbol, number in numbers.items()
    )


def _values(sizes: Sizes, numbers: Mapping[object, int]) -> Mapping[str, int]:
    """Return the numbers of names, from those of symbols."""
    return {
        digit.name.name: digit.of(number)
        for symbol, number in numbers.items()
        if isinstance(size := sizes[symbol], OpenSize)
        for digit in digits_of(size)
    }


def open_graph(
    graph: GraphModule,
    static: frozenset[int],
    args: Sequence[object],
    program_of: Callable[[ModuleOp], Program],
    before: OpenGraph | None = None,
) -> OpenGraph:
    """Compile a graph for ranges that have the sizes of some arguments, and those of before.

    Sizes that are alike now have one name where the graph needs that: keys and values of a cache
    are as long, which PyTorch asks of them when it runs. Where it needs more, those are numbers
    that are sizes which PyTorch has settled: of values, when a window is full of keys. A size that
    is divided with a rest is made of digits. Raises GaweeError for a graph that cannot be compiled
    so, as one that has statistics of a batch.
    """
    few: object = torch().ops.aten._native_batch_norm_legit_functional.default
    if any(node.target is few for node in graph.graph.nodes):
        raise GaweeError("statistics of a batch are computed as the numbers of images asks")
    numbers, guarded = numbers_of_symbols(graph, args), ranges_of_symbols(graph)
    ranges: Names = {
        symbol: _range(
            symbol, number, guarded[symbol], None if before is None else before.ranges[symbol]
        )
        for symbol, number in numbers.items()
    }
    settled = _settled(graph, static, ranges, numbers)
    named = [ranges, _alike(ranges, numbers), settled, _alike(settled, numbers)]
    choices = [(each, sizes_of(each)) for each in named]
    choices += [(each, sizes) for each in named for sizes in _of_digits(graph, each, numbers)]
    (ranges, sizes), (converted, module) = _first_that_is_imported(graph, static, choices)

    def values(args: Sequence[object]) -> Mapping[str, int]:
        return _values(sizes, numbers_of_symbols(graph, args))

    return OpenGraph(StaticGraph(converted, OpenModel(program_of(module)), values), ranges, sizes)


def _of_digits(graph: GraphModule, ranges: Names, numbers: Mapping[object, int]) -> Iterator[Sizes]:
    """Yield symbols as sizes of digits where a graph divides some of them, and they make numbers"""
    found = divided(graph, ranges)
    sizes = {symbol: size for symbol, size in found.items() if size is not None}
    if found and len(sizes) == len(found):
        sizes = {**sizes_of(ranges), **sizes}
        if _takes(sizes, numbers):
            yield sizes


Choice = tuple[Names, Sizes]


def _first_that_is_imported(
    graph: GraphModule, static: frozenset[int], choices: Sequence[Choice]
) -> tuple[Choice, tuple[ConvertedGraph, ModuleOp]]:
    """Return the first choice by which a graph can be imported; raises the GaweeError of others."""
    problems: list[GaweeError] = []
    for number, choice in enumerate(choices):
        if choice not in choices[:number]:
            try:
                return choice, _imported(graph, static, choice[1])
            except GaweeError as problem:
                problems.append(problem)
    raise problems[-1]


def _imported(
    graph: GraphModule, static: frozenset[int], sizes: Sizes
) -> tuple[ConvertedGraph, ModuleOp]:
    converted = ConvertedGraph(copied(graph), static, sizes)
    return converted, import_ir(converted.ir)


def _alike(
    ranges: Mapping[object, SizeName], numbers: Mapping[object, int]
) -> Mapping[object, SizeName]:
    """Return ranges in which symbols of one number have one name, and what all of them may be."""
    shared: dict[int, SizeName] = {}
    for symbol, name in ranges.items():
        first = shared.setdefault(numbers[symbol], name)
        low, high = max(first.low, name.low), min(first.high, name.high)
        shared[numbers[symbol]] = SizeName(first.name, low, high)
    return {symbol: shared[numbers[symbol]] for symbol in ranges}


def _settled(
    graph: GraphModule,
    static: frozenset[int],
    ranges: Mapping[object, SizeName],
    numbers: Mapping[object, int],
) -> Mapping[object, SizeName]:
    """Return ranges in which symbols are numbers whose input is now of the shape of one without.

    k: f32[2, 15, 8], v: f32[2, s1, 8]  ->  s1 is 15
    """
    placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
    values = [
        node.meta.get("val") for index, node in enumerate(placeholders) if index not in static
    ]
    shapes = [[*value.shape] for value in values if is_tensor(value)]
    fixed = [shape for shape in shapes if all(isinstance(size, int) for size in shape)]
    found = dict(ranges)
    for shape in shapes:
        named = {expression(size) for size in shape if is_symbol(size)}
        now = [numbers[expression(size)] if is_symbol(size) else size for size in shape]
        if named and all(isinstance(size, int) for size in now) and now in fixed:
            found |= {
                symbol: SizeName(ranges[symbol].name, numbers[symbol], numbers[symbol])
                for symbol in named
            }
    return found


def _range(
    symbol: object, number: int, guarded: tuple[int, int], before: SizeName | None
) -> SizeName:
    """Return what a symbol is compiled for: no more than what PyTorch calls the graph with."""
    low, most = guarded
    high = max(LEAST, 1 << number.bit_length(), 0 if before is None else before.high)
    low = min(max(2, low), number)
    return SizeName(c_name(str(symbol)), low, max(min(high, most), number))
