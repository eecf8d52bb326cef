"""A graph of PyTorch in which sizes are symbols, as one code for a range of numbers of each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.backend.open_model import OpenModel
from gawee_dialect.backend.program import Program
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.open_size import SizeName
from gawee_dialect.frontends.npu_ir.importer import import_ir
from gawee_dialect.frontends.npu_ir.pytorch import GraphModule, torch
from gawee_dialect.identifiers import c_name
from gawee_dialect.pytorch.open_sizes import copied, numbers_of_symbols, ranges_of_symbols
from gawee_dialect.pytorch.static_graph import ConvertedGraph, StaticGraph

LEAST = 512
"""The least that a range ends with: what is longer than all that came before is compiled again."""


@dataclass(frozen=True)
class OpenGraph:
    """Code for all numbers of symbols in some ranges."""

    code: StaticGraph
    ranges: Mapping[object, SizeName]

    def takes(self, numbers: Mapping[object, int]) -> bool:
        """Whether the code is for some numbers of the symbols."""
        named = {self.ranges[symbol].name: number for symbol, number in numbers.items()}
        return all(
            self.ranges[symbol].holds(number) and named[self.ranges[symbol].name] == number
            for symbol, number in numbers.items()
        )


def open_graph(
    graph: GraphModule,
    static: frozenset[int],
    args: Sequence[object],
    program_of: Callable[[ModuleOp], Program],
    before: OpenGraph | None = None,
) -> OpenGraph:
    """Compile a graph for ranges that have the sizes of some arguments, and those of before.

    Sizes that are alike now have one name where the graph needs that: keys and values of a cache
    are as long, which PyTorch asks of them when it runs. Raises GaweeError for a graph that cannot
    be compiled so, as one that has statistics of a batch.
    """
    few: object = torch().ops.aten._native_batch_norm_legit_functional.default
    if any(node.target is few for node in graph.graph.nodes):
        raise GaweeError("statistics of a batch are computed as the numbers of images asks")
    numbers, guarded = numbers_of_symbols(graph, args), ranges_of_symbols(graph)
    ranges: Mapping[object, SizeName] = {
        symbol: _range(
            symbol, number, guarded[symbol], None if before is None else before.ranges[symbol]
        )
        for symbol, number in numbers.items()
    }
    try:
        converted, module = _imported(graph, static, ranges)
    except GaweeError:
        alike = _alike(ranges, numbers)
        if alike == ranges:
            raise
        ranges = alike
        converted, module = _imported(graph, static, ranges)

    def sizes(args: Sequence[object]) -> Mapping[str, int]:
        given = numbers_of_symbols(graph, args)
        return {ranges[symbol].name: number for symbol, number in given.items()}

    return OpenGraph(StaticGraph(converted, OpenModel(program_of(module)), sizes), ranges)


def _imported(
    graph: GraphModule, static: frozenset[int], ranges: Mapping[object, SizeName]
) -> tuple[ConvertedGraph, ModuleOp]:
    converted = ConvertedGraph(copied(graph), static, ranges)
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


def _range(
    symbol: object, number: int, guarded: tuple[int, int], before: SizeName | None
) -> SizeName:
    """Return what a symbol is compiled for: no more than what PyTorch calls the graph with."""
    low, most = guarded
    high = max(LEAST, 1 << number.bit_length(), 0 if before is None else before.high)
    low = min(max(2, low), number)
    return SizeName(c_name(str(symbol)), low, max(min(high, most), number))
