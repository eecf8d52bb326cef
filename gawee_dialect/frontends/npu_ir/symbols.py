"""Sizes that torch.export leaves open: PyTorch's symbols as names, their expressions as forms.

    ids: i64[s23, s27] with dynamic_shapes = {"ids": {0: Dim("batch"), 1: Dim("length")}}
    s23 * s27 -> batch * length

https://docs.pytorch.org/docs/stable/export.html (dynamic shapes)
"""

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from math import prod

from gawee_dialect.dialect.open_size import UNBOUNDED, OpenSize, SizeName, UnknownSize
from gawee_dialect.frontends.npu_ir.pytorch import (
    Module,
    Node,
    Program,
    is_sequence,
    is_tensor,
    torch,
)
from gawee_dialect.frontends.npu_ir.trace import kind_of
from gawee_dialect.hints import isa
from gawee_dialect.identifiers import c_name

Names = Mapping[object, SizeName]
"""What symbols are called, and which values they may have."""


def expression(size: object) -> object:
    """Return what a size of a traced graph is, as an expression of symbols."""
    return getattr(size, "node").expr


def is_symbol(size: object) -> bool:
    """Whether a size is a symbol itself, and not computed of some."""
    return isinstance(size, torch().SymInt) and getattr(expression(size), "is_symbol")


def size_of(size: object, names: Names) -> int | None:
    """Return a size as a number or a form; None where it is neither, or of unknown symbols."""
    if isinstance(size, int):
        return size
    if not isinstance(size, torch().SymInt):
        return None
    try:
        return _form(expression(size), names)
    except (KeyError, UnknownSize):
        return None


def _form(found: object, names: Names) -> int:
    if getattr(found, "is_Integer"):
        return int(getattr(found, "p"))
    if getattr(found, "is_symbol"):
        return OpenSize.named(names[found])
    args: Sequence[object] = getattr(found, "args")
    kind = type(found).__name__
    if kind == "Pow":
        power = int(getattr(args[1], "p", -1))
        return _ARITHMETIC[kind](_form(args[0], names), power)
    return _ARITHMETIC[kind](*(_form(each, names) for each in args))


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
    "Max": max,
    "Min": min,
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
                    name = _name_of(_axis(given, axis)) or f"{spec.arg.name}_{axis}"
                    names[symbol] = _named(c_name(name), program, symbol)
    return names


def _symbols_of(size: object) -> Collection[object]:
    return () if isinstance(size, int) else getattr(expression(size), "free_symbols")


def _name_of(dim: object) -> str | None:
    """Return the name of a `Dim`, or of the one that it is a multiple of."""
    return getattr(getattr(dim, "root", dim), "__name__", None)


def _named(name: str, program: Program, symbol: object) -> SizeName:
    values = program.range_constraints.get(symbol)
    low, high = (int(min(getattr(values, end, 1), UNBOUNDED)) for end in ("lower", "upper"))
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
