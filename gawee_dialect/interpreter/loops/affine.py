"""Affine maps and sets in loop nests: Python's text of their expressions, and ranges of them."""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TypeVar

from xdsl.dialects import affine
from xdsl.dialects.builtin import DenseIntElementsAttr
from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSet,
    AffineSymExpr,
)
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.interpreter.loops.writer import (
    Name,
    NotCompilable,
    Range,
    Writer,
    fits,
    located,
    number,
)
from gawee_dialect.upstream.affine import MaxOp

T = TypeVar("T")


def corners(function: Callable[[int, int], int]) -> Callable[[Range, Range], Range]:
    """Make the range of a function that is monotonic in each of two integers."""

    def bounds(lhs: Range, rhs: Range) -> Range:
        if lhs is None or rhs is None:
            return None
        values = [function(a, b) for a in lhs for b in rhs]
        return min(values), max(values)

    return bounds


BINARY: dict[AffineBinaryOpKind, tuple[str, Callable[[int, int], int]]] = {
    AffineBinaryOpKind.Add: ("({0} + {1})", lambda a, b: a + b),
    AffineBinaryOpKind.Mul: ("({0}*{1})", lambda a, b: a * b),
    AffineBinaryOpKind.FloorDiv: ("({0} // {1})", lambda a, b: a // b),
    AffineBinaryOpKind.CeilDiv: ("(-(-{0} // {1}))", lambda a, b: -(-a // b)),
    AffineBinaryOpKind.Mod: ("({0} % {1})", lambda a, b: a % b),
}
"""Python's spelling, and the function."""

DIVISIONS = (AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.CeilDiv, AffineBinaryOpKind.Mod)


def expression(each: AffineExpr, dims: Sequence[Name], symbols: Sequence[Name]) -> Name:
    """Return the text of an expression, its range and depth.

    Raises NotCompilable for a quotient or remainder by what is no positive number.
    """
    match each:
        case AffineConstantExpr():
            return number(each.value)
        case AffineDimExpr():
            return dims[each.position]
        case AffineSymExpr():
            return symbols[each.position]
        case AffineBinaryOpExpr():
            lhs, rhs = (expression(side, dims, symbols) for side in (each.lhs, each.rhs))
            divisor = rhs.constant
            if each.kind in DIVISIONS and (divisor is None or divisor < 1):
                raise NotCompilable(f"'{each}'")
            text, function = BINARY[each.kind]
            bounds = corners(function)(lhs.range, rhs.range)
            if each.kind is AffineBinaryOpKind.Mod and divisor is not None:
                inside = lhs.range is not None and 0 <= lhs.range[0] <= lhs.range[1] < divisor
                bounds = lhs.range if inside else (0, divisor - 1)
            if bounds is not None and bounds[0] == bounds[1]:
                return number(bounds[0])
            return Name(text.format(lhs.text, rhs.text), max(lhs.depth, rhs.depth), bounds)
        case _:
            raise NotCompilable(f"'{each}'")


def map_results(writer: Writer, map: AffineMap, operands: Sequence[SSAValue]) -> list[Name]:
    """Return the expressions of a map at operands: the dimensions, then the symbols."""
    dims, symbols = _dims_and_symbols(writer, map, operands)
    return [expression(each, dims, symbols) for each in map.results]


def _dims_and_symbols(
    writer: Writer, space: AffineMap | AffineSet, operands: Sequence[SSAValue]
) -> tuple[Sequence[Name], Sequence[Name]]:
    names = [writer.name(operand) for operand in operands]
    return names[: space.num_dims], names[space.num_dims :]


def map_indices(writer: Writer, map: AffineMap, operands: Sequence[SSAValue]) -> list[Name]:
    """Compute the results of a map where the text is at, each once."""
    return [
        each if each.text.isidentifier() or each.constant is not None else _named(writer, each)
        for each in map_results(writer, map, operands)
    ]


def _named(writer: Writer, each: Name) -> Name:
    name = writer.fresh()
    writer.line(f"{name} = {each.text}")
    return Name(name, writer.depth, each.range)


def least(names: Sequence[Name]) -> Name:
    """Return the least of some integers."""
    return _chosen("min", min, names)


def greatest(names: Sequence[Name]) -> Name:
    """Return the greatest of some integers."""
    return _chosen("max", max, names)


def grouped(bounds: Sequence[T], sizes: DenseIntElementsAttr) -> list[Sequence[T]]:
    """Return the bounds of each loop of a nest: of the lower ones the greatest counts."""
    rest = iter(bounds)
    return [[*islice(rest, size)] for size in sizes.get_values()]


def _chosen(text: str, choose: Callable[[int, int], int], names: Sequence[Name]) -> Name:
    first, *others = names
    if not others:
        return first
    bounds = first.range
    for each in others:
        bounds = corners(choose)(bounds, each.range)
    call = f"{text}({', '.join(each.text for each in names)})"
    return Name(call, max(each.depth for each in names), bounds)


def write_index(writer: Writer, op: affine.ApplyOp | affine.MinOp | MaxOp) -> None:
    """t = the result of a map, or the least or greatest of its results; it fits in 64 bits"""
    names = map_results(writer, op.map.data, op.operands)
    chosen = greatest(names) if isinstance(op, MaxOp) else least(names)
    result = op.results[0]
    if chosen.constant is not None and fits(chosen.range, 64):
        writer.names[result] = chosen
        return
    writer.define(result, chosen.text, chosen.range)
    if not fits(chosen.range, 64):
        check = writer.bind(located(op, check_index_width))
        writer.line(f"{check}({writer.name(result).text})")


def check_index_width(value: int) -> None:
    """Raise InterpretationError for an index of more than 64 bits."""
    if not fits((value, value), 64):
        raise InterpretationError(f"index {value} has more than 64 bits")


def set_condition(writer: Writer, holds: AffineSet, operands: Sequence[SSAValue]) -> str:
    """Return the text of whether operands, the dimensions and then the symbols, are in a set."""
    dims, symbols = _dims_and_symbols(writer, holds, operands)
    texts = [
        " ".join(
            (
                expression(each.lhs, dims, symbols).text,
                each.kind.value,
                expression(each.rhs, dims, symbols).text,
            )
        )
        for each in holds.constraints
    ]
    return " and ".join(texts) or "True"
