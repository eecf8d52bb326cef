"""Symbols of traced programs: as names of sizes, and their expressions as forms.

    ids: i64[s23, s27] with dynamic_shapes = {"ids": {0: Dim("batch"), 1: Dim("length")}}
    s23 * s27 -> batch * length

https://docs.pytorch.org/docs/stable/export.html (dynamic shapes)
"""

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, reduce
from importlib import import_module
from math import prod
from typing import TypeAlias

from gawee_dialect.dialect.open_size import (
    UNBOUNDED,
    OpenSize,
    SizeName,
    UnknownSize,
    greater,
    lesser,
)
from gawee_dialect.frontends.npu_ir.pytorch import (
    Module,
    Node,
    Program,
    is_sequence,
    is_tensor,
    kind_of,
    torch,
)
from gawee_dialect.hints import isa
from gawee_dialect.identifiers import c_name

Names = Mapping[object, SizeName]
"""What symbols are called, and which values they may have."""


def expression(size: object) -> object:
    """Return what a size of a traced graph is, or what is asked of one, as an expression."""
    return whole(getattr(size, "node").expr)


@cache
def whole(found: object) -> object:
    """Return an expression in which the whole part of a ratio is a quotient of whole numbers.

    TruncToInt(0.5*ToFloat(s0)) is s0 // 2
    """
    functions = import_module("torch.utils._sympy.functions")
    kinds = functions.TruncToInt, functions.FloorToInt, functions.CeilToInt
    if getattr(found, "is_Atom") or not getattr(found, "has")(*kinds):
        return found
    quotient: Callable[..., object] = functions.FloorDiv
    times: Callable[..., object] = import_module("sympy").Mul
    made: dict[object, object] = {}
    for each in getattr(found, "atoms")(*kinds):
        ratio = _ratio(getattr(each, "args")[0])
        if ratio is not None:
            sign = -1 if isinstance(each, functions.CeilToInt) else 1
            above, below = times(sign * ratio[1], *ratio[0]), ratio[2]
            made[each] = times(sign, quotient(above, below))
    return getattr(found, "xreplace")(made)


MOST_BELOW = 64
"""The greatest denominator of a number that counts as a ratio: others are what rounding made."""

Ratio: TypeAlias = tuple[Sequence[object], int, int]
"""Factors that are whole, and a number above and below them."""


def _ratio(found: object) -> Ratio | None:
    """Return what a real expression is a ratio of; None for another."""
    args: Sequence[object] = getattr(found, "args")
    kind = type(found).__name__
    if kind == "ToFloat":
        return args, 1, 1
    if getattr(found, "is_Integer"):
        return (), int(str(found)), 1
    if getattr(found, "is_Float"):
        above, below = float(str(found)).as_integer_ratio()
        return ((), above, below) if below <= MOST_BELOW else None
    if kind == "IntTrueDiv":
        ratios: list[Ratio | None] = [_of_whole(each) for each in args]
    elif kind in ("Mul", "FloatTrueDiv"):
        ratios = [_ratio(each) for each in args]
    else:
        return None
    known = [each for each in ratios if each is not None]
    if len(known) < len(ratios):
        return None
    if kind != "Mul":
        factors, above, below = known[1]
        if factors or above == 0:
            return None
        known[1] = (), (below if above > 0 else -below), abs(above)
    factors = [factor for each in known for factor in each[0]]
    return factors, prod(each[1] for each in known), prod(each[2] for each in known)


def _of_whole(found: object) -> Ratio:
    return ((), int(str(found)), 1) if getattr(found, "is_Integer") else ((found,), 1, 1)


def is_symbol(size: object) -> bool:
    """Whether a size is a symbol itself, and not computed of some."""
    return isinstance(size, torch().SymInt) and getattr(expression(size), "is_symbol")


Sizes = Mapping[object, int]
"""What symbols are: numbers, or sizes that are forms of names."""


def sizes_of(names: Names) -> Sizes:
    """Return what symbols are by their names: numbers where they may be one alone."""
    return {
        symbol: name.low if name.low == name.high else OpenSize.named(name)
        for symbol, name in names.items()
    }


def said(size: object, sizes: Sizes) -> str:
    """Return what a size is computed of, with names in the place of symbols."""
    if isinstance(size, int):
        return str(size)
    return with_names(expression(size), {each: str(found) for each, found in sizes.items()})


def with_names(found: object, names: Mapping[object, str]) -> str:
    """Return an expression as text, with names in the place of symbols."""
    symbol: Callable[[str], object] = import_module("sympy").Symbol
    made = {each: symbol(name) for each, name in names.items()}
    return str(getattr(found, "xreplace")(made))


def size_of(size: object, sizes: Sizes) -> int | None:
    """Return a size as a number or a form; None where it is neither, or of unknown symbols."""
    if isinstance(size, int):
        return size
    if not isinstance(size, torch().SymInt):
        return None
    try:
        return _form(expression(size), sizes)
    except (KeyError, UnknownSize):
        return None


def _form(found: object, sizes: Sizes) -> int:
    if getattr(found, "is_Integer"):
        return int(getattr(found, "p"))
    if getattr(found, "is_symbol"):
        return sizes[found]
    args: Sequence[object] = getattr(found, "args")
    kind = type(found).__name__
    if kind == "Pow":
        power = int(getattr(args[1], "p", -1))
        return _ARITHMETIC[kind](_form(args[0], sizes), power)
    return _ARITHMETIC[kind](*(_form(each, sizes) for each in args))


def _power(base: int, exponent: int) -> int:
    if exponent < 0:
        raise UnknownSize("expected a power of a size to be whole")
    return prod([base] * exponent)


def _quotient(size: int, divisor: int) -> int:
    return size // divisor


def _rest(size: int, divisor: int) -> int:
    return size % divisor


_ARITHMETIC: Mapping[str, Callable[..., int]] = {
    "Add": lambda *terms: sum(terms),
    "Mul": lambda *factors: prod(factors),
    "Pow": _power,
    "FloorDiv": _quotient,
    "CleanDiv": _quotient,
    "Mod": _rest,
    "PythonMod": _rest,
    "Max": lambda *sizes: reduce(greater, sizes),
    "Min": lambda *sizes: reduce(lesser, sizes),
}
"""What expressions of sympy and of PyTorch compute, by the names of their classes."""


def names_of_symbols(
    program: Program,
    model: Module,
    args: Sequence[object],
    kwargs: Mapping[str, object],
    dims: object,
) -> Names:
    """Return what the symbols of a traced program are called: as `dynamic_shapes` names them.

    A symbol that has no name there, as that of `Dim.AUTO`, is called by the first argument and the
    axis that it is the size of: `x_0`.
    """
    if dims is None:
        return {}
    names: dict[object, SizeName] = {}
    inputs = [each for each in program.graph_signature.input_specs if kind_of(each) == "USER_INPUT"]
    leaves = list(_leaves(_bound(model, args, kwargs), _by_name(model, args, dims)))
    nodes = {node.name: node for node in program.graph_module.graph.nodes}
    for spec, given in zip(inputs, leaves, strict=True):
        for axis, size in enumerate(_sizes(nodes.get(spec.arg.name))):
            for symbol in _symbols_of(size):
                if symbol not in names:
                    dim = _axis(given, axis)
                    name = c_name(_name_of(dim) or f"{spec.arg.name}_{axis}")
                    names[symbol] = _said(name, dim) or _named(name, program, symbol)
    return names


ASSERT = "aten._assert_scalar.default"
"""What a program calls to check a size when it runs."""


def symbols_of_data(node: Node) -> Collection[object]:
    """Return the symbols in what a node makes that data decide: PyTorch calls them unbacked."""
    shapes = import_module("torch.fx.experimental.symbolic_shapes")
    found: Collection[object] = getattr(shapes, "free_unbacked_symbols")(node.meta.get("val"))
    return found


def decides_sizes(node: Node) -> bool:
    """Whether a symbol is in what a node makes, and in nothing that it reads: `x.nonzero()`."""
    read = {each for given in node.all_input_nodes for each in symbols_of_data(given)}
    return not read.issuperset(symbols_of_data(node))


def names_of_data(program: Program, names: Names) -> Names:
    """Return what symbols are called that data decide, beside `names`: `u0`, as PyTorch does.

    Those that the program checks to be equal have one name.
    """
    symbols = import_module("torch.utils._sympy.symbol")
    kind: object = symbols.SymT.UNBACKED_INT
    taken = {each.name for each in names.values()}
    found: dict[object, SizeName] = {}
    for symbol in program.range_constraints:  # of `2 * Dim("half")` too, which is no symbol
        if getattr(symbol, "is_symbol") and symbols.symbol_is_type(symbol, kind):
            name = c_name(str(symbol))
            name = f"{name}_of_data" if name in taken else name
            found[symbol] = _named(name, program, symbol)
    if found and not any(map(decides_sizes, program.graph_module.graph.nodes)):
        return {}  # what had such a size was taken out
    for pair in _checked_equal(program):
        first, second = ({**found, **names}.get(each) for each in pair)
        if first is not None and second is not None:
            kept, other = (second, first) if pair[1] in names else (first, second)
            found = {each: kept if name == other else name for each, name in found.items()}
    return found


def _checked_equal(program: Program) -> Iterator[Sequence[object]]:
    """Yield pairs of symbols: those of `torch._check(a.shape[0] == b.shape[0])`."""
    for node in program.graph_module.graph.nodes:
        for each in node.all_input_nodes if str(node.target) == ASSERT else ():
            condition = expression(each.meta.get("val"))
            if type(condition).__name__ == "Equality":
                yield getattr(condition, "args")


def _symbols_of(size: object) -> Collection[object]:
    return () if isinstance(size, int) else getattr(expression(size), "free_symbols")


def _name_of(dim: object) -> str | None:
    """Return the name of a `Dim`, or of the one that it is a multiple of."""
    return getattr(getattr(dim, "root", dim), "__name__", None)


def _said(name: str, dim: object) -> SizeName | None:
    """Return a size with the range that a `Dim` says, or the one that it is a multiple of.

    None of another size, and without an end.
    """
    root: object = getattr(dim, "root", dim)
    found = type(root) is torch().export.Dim and isinstance(getattr(root, "max"), int)
    return _sized(name, root, "min", "max") if found else None


def _named(name: str, program: Program, symbol: object) -> SizeName:
    return _sized(name, program.range_constraints.get(symbol), "lower", "upper")


def _sized(name: str, values: object, *ends: str) -> SizeName:
    low, high = (int(min(getattr(values, end, 1), UNBOUNDED)) for end in ends)
    return SizeName(name, max(low, 1), high)


def _sizes(node: Node | None) -> Sequence[object]:
    value = None if node is None else node.meta.get("val")
    return value.shape if is_tensor(value) else ()


def _axis(dims: object, axis: int) -> object:
    if isa(dims, dict[int, object]):
        return dims.get(axis)
    return dims[axis] if is_sequence(dims) and axis < len(dims) else None


def _bound(
    model: Module, args: Sequence[object], kwargs: Mapping[str, object]
) -> Mapping[str, object]:
    """Return the arguments of a call by their names, as torch.export takes them."""
    signature = inspect.signature(getattr(model, "forward"))
    return signature.bind(*args, **kwargs).arguments


def _by_name(model: Module, args: Sequence[object], dims: object) -> Mapping[str, object]:
    """Return what is said of the sizes of each argument, by its name."""
    if isa(dims, dict[str, object]):
        return dims
    assert is_sequence(dims)
    return dict(zip(inspect.signature(getattr(model, "forward")).parameters, dims, strict=False))


def _leaves(value: object, dims: object) -> Iterator[object]:
    """Yield what is said of each leaf of an argument, in the order of the graph's inputs."""
    if isa(value, dict[object, object]):
        for key, each in value.items():
            yield from _leaves(each, dims.get(key) if isa(dims, dict[object, object]) else None)
    elif is_sequence(value):
        for at, each in enumerate(value):
            yield from _leaves(each, dims[at] if is_sequence(dims) else None)
    elif value is not None:
        yield dims
