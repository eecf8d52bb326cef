"""Symbols of a graph that it divides with a rest, as digits: of them quotients are sums.

    x: f32[s0], x[: s0 // 2], x[s0 // 2 :]     s0 = 2 * a + b + 2, b is 0 or 1
    f32[a + 1], f32[a + b + 1]

A quotient of a symbol is no sum of multiples of it. Of its digits it is: those that the divisor
divides. What rounds up is too, where a digit is 0 or 1.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import islice, product
from math import lcm

from gawee_dialect.dialect.open_size import OpenSize, SizeName
from gawee_dialect.frontends.npu_ir.pytorch import GraphModule, is_sequence, is_tensor, torch
from gawee_dialect.frontends.npu_ir.symbols import Names, Sizes, expression, size_of, sizes_of

MOST = 64
"""The greatest number that a symbol is divided by: six digits of 0 or 1."""


@dataclass
class Divisions:
    """What a symbol is divided by, and what is taken from it before, each time."""

    divisors: set[int] = field(default_factory=set[int])
    offsets: list[int] = field(default_factory=list[int])

    @property
    def units(self) -> Sequence[int]:
        """What the digits are multiples of, the greatest first; none where they are too many."""
        units = [1]
        for divisor in sorted(self.divisors):
            following = lcm(units[-1], divisor)
            while units[-1] * 2 < following and following % (units[-1] * 2) == 0:
                units.append(units[-1] * 2)
            units.append(following)
            if following > MOST:
                return ()
        return sorted({*units}, reverse=True)

    def size(self, name: SizeName) -> int | None:
        """Return digits that make up most numbers of a name; None where they cannot.

        Numbers that a few are left of at both ends are none of them.
        """
        units = self.units
        if not units:
            return None
        most = max(units)
        usual = max(sorted({*self.offsets}), key=self.offsets.count) if self.offsets else 0
        first = name.low + (usual - name.low) % most
        last = (name.high + 1 - first) // most - 1
        if last < 1:
            return None
        return self._of_digits(name, first, last)

    def _of_digits(self, name: SizeName, first: int, last: int) -> int:
        """Return the sum of the least number and digits, of which the greatest is up to `last`."""
        units = self.units
        total = OpenSize.named(_digit(name, units[0], last)) * units[0] if last else 0
        for unit, above in zip(units[1:], units, strict=False):
            total = OpenSize.named(_digit(name, unit, above // unit - 1)) * unit + total
        return total + first

    def covering(self, name: SizeName) -> Iterator[int]:
        """Yield digits that make up all numbers of a name, and few above and below them."""
        units = self.units
        if not units or name.step > 1:
            return
        most = max(units)
        starts = [name.low - (name.low - offset) % most for offset in {*self.offsets}]
        usual = sorted({*starts}, key=starts.count, reverse=True)
        for first in dict.fromkeys((*(each for each in usual if each >= 1), name.low)):
            yield self._of_digits(name, first, (name.high - first) // most)


def _digit(name: SizeName, unit: int, last: int) -> SizeName:
    return SizeName(f"{name.name}_times_{unit}", 0, last)


def divided(graph: GraphModule, names: Names) -> Mapping[object, int | None]:
    """Return what the symbols are that a graph divides with a rest: sizes made of digits.

    None stands for one of which these are too many, or its numbers too few.
    """
    found = _divisions_of(graph, names)
    return {
        symbol: found[name.name].size(name) for symbol, name in names.items() if name.name in found
    }


def _divisions_of(graph: GraphModule, names: Names) -> Mapping[str, Divisions]:
    """Return what each name is divided by."""
    found: dict[str, Divisions] = {}
    for symbol, divisor, offset in _divisions(graph):
        if symbol in names and names[symbol].low < names[symbol].high:
            each = found.setdefault(names[symbol].name, Divisions())
            each.divisors.add(divisor)
            each.offsets += [] if offset is None else [offset]
    return found


def sizes_of_graph(graph: GraphModule, names: Names) -> Sizes:
    """Return what the symbols of a graph are: names, or digits where only so all sizes are forms.

    Digits make up all numbers of a name, and maybe a few above and below.
    """
    plain = sizes_of(names)
    if _has_forms(graph, plain):
        return plain
    named = {each.name: each for each in names.values()}
    choices = [
        [(name, size) for size in each.covering(named[name])]
        for name, each in _divisions_of(graph, names).items()
    ]
    for chosen in islice(product(*choices), MOST_CHOICES):
        of_name = dict(chosen)
        sizes = {s: of_name.get(name.name, plain[s]) for s, name in names.items()}
        if _has_forms(graph, sizes):
            return sizes
    return plain


MOST_CHOICES = 8
"""How many ways to write sizes as digits are tried."""


def _has_forms(graph: GraphModule, sizes: Sizes) -> bool:
    """Whether every size that a graph computes has a form."""
    found = {
        expression(size): size
        for node in graph.graph.nodes
        for size in _sizes(node.meta.get("val"))
    }
    return all(size_of(size, sizes) is not None for size in found.values())


def _divisions(graph: GraphModule) -> Iterator[tuple[object, int, int | None]]:
    """Yield each symbol that is divided, by what in all, and what is taken from it before."""
    functions = import_module("torch.utils._sympy.functions")
    kinds: tuple[type, ...] = functions.FloorDiv, functions.Mod, functions.PythonMod
    seen: set[object] = set()
    for node in graph.graph.nodes:
        for size in _sizes(node.meta.get("val")):
            found = expression(size)
            if found not in seen:
                seen.add(found)
                for each in getattr(found, "atoms")(*kinds):
                    yield from _of(each, kinds)


def _sizes(value: object) -> Iterator[object]:
    """Yield the sizes that are open of what a node makes."""
    if is_sequence(value):
        for each in value:
            yield from _sizes(each)
        return
    for each in value.shape if is_tensor(value) else (value,):
        if isinstance(each, torch().SymInt):
            yield each


def _of(division: object, kinds: tuple[type, ...]) -> Iterator[tuple[object, int, int | None]]:
    base, by = getattr(division, "args")
    if not getattr(by, "is_Integer"):
        return
    divisor = int(by)
    inner: Sequence[object] = [*getattr(base, "atoms")(*kinds)]
    for each in inner:
        factor = divisor if isinstance(each, kinds[0]) else 1  # a quotient is divided again
        for symbol, other, offset in _of(each, kinds):
            yield symbol, other * factor, offset
    for symbol in getattr(base, "free_symbols"):
        yield symbol, divisor, None if inner else _offset(base, symbol)


def _offset(base: object, symbol: object) -> int | None:
    """Return the number that is taken from a symbol, or that it is taken from."""
    numbers = import_module("sympy").S
    factors: Mapping[object, object] = getattr(base, "as_coefficients_dict")()
    rest, factor = factors.get(numbers.One, numbers.Zero), factors.get(symbol)
    if not getattr(rest, "is_Integer") or factor not in (numbers.One, -numbers.One):
        return None
    return int(getattr(rest, "p")) * (-1 if factor == numbers.One else 1)
