"""Random ops that compute each element by itself."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import f16, f32, f64, i1, i8, i16, i32, i64
from xdsl.ir import Attribute, Operation

from gawee_dialect.dialect.graph.activation import ClipOp
from gawee_dialect.dialect.graph.cast import BitcastOp, CastOp
from gawee_dialect.dialect.graph.comparison import CompareOp, WhereOp
from gawee_dialect.dialect.graph.elementwise import BinaryOp, ElementwiseOp, UnaryOp
from gawee_dialect.dialect.types import BOOLEANS as of_booleans
from gawee_dialect.dialect.types import FLOATS as of_floats
from gawee_dialect.dialect.types import INTEGERS as of_integers
from gawee_dialect.dialect.types import NUMBERS as of_numbers
from gawee_dialect.dialect.types import ElementClass
from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.random_ops.values import (
    ALL_NUMBERS,
    ELEMENTS,
    FLOATS,
    INTEGERS,
    Maker,
    value,
)

Drawn: TypeAlias = Callable[[Draw], object]


TYPES: Mapping[ElementClass, Sequence[Attribute]] = {
    of_floats: FLOATS,
    of_numbers: ALL_NUMBERS,
    of_integers: INTEGERS,
    of_booleans: (i1,),
}
"""The element types that ops are drawn of."""


def unary(kind: Callable[..., Operation], elements: Sequence[Attribute], **names: Drawn) -> Maker:
    """Return what draws an op of one operand, and what properties it has."""

    def make(draw: Draw) -> Operation:
        input = value(draw.one_of(elements), draw.shape())
        return kind(input, **{name: drawn(draw) for name, drawn in names.items()})

    return make


def binary(kind: Callable[..., Operation], elements: Sequence[Attribute]) -> Maker:
    """Return what draws an op of two operands, one of which is spread over the other."""

    def make(draw: Draw) -> Operation:
        element, full = draw.one_of(elements), draw.shape()
        small = [size if draw.chance() else 1 for size in full][draw.integer(0, 4) :]
        first, second = value(element, full), value(element, small)
        return kind(second, first) if draw.chance() else kind(first, second)

    return make


def makers(kinds: Iterable[type[ElementwiseOp]]) -> Mapping[type[Operation], Maker]:
    """Return what draws each of some ops: their classes say of which types and properties."""
    found: dict[type[Operation], Maker] = {}
    for kind in kinds:
        if issubclass(kind, UnaryOp) and kind is not ClipOp:
            found[kind] = unary(kind, TYPES[kind.ELEMENTS], **_properties(kind))
        elif issubclass(kind, BinaryOp) and kind is not CompareOp:
            found[kind] = binary(kind, TYPES[kind.ELEMENTS])
    return {
        **found,
        **{ClipOp: clip, CompareOp: compare, WhereOp: where, CastOp: cast, BitcastOp: bitcast},
    }


def _properties(kind: type[ElementwiseOp]) -> Mapping[str, Drawn]:
    """Return what draws a value of each property: a variant, or a number."""
    numbers: dict[str, Drawn] = dict.fromkeys(
        kind.get_irdl_definition().properties, lambda draw: draw.number(finite=True)
    )
    if kind.VARIANT:
        numbers[kind.VARIANT] = lambda draw: draw.one_of(list(kind.EQUATION))
    return numbers


def clip(draw: Draw) -> Operation:
    """Draw a clamp with any of its bounds."""
    element = draw.one_of(ALL_NUMBERS)

    def bound() -> float | int | None:
        if draw.chance(0.3):
            return None
        if element in FLOATS:
            return draw.number(finite=True)
        return draw.one_of((draw.integer(-9, 9), draw.integer(-(2**40), 2**40)))

    return ClipOp(value(element, draw.shape()), min=bound(), max=bound())


def compare(draw: Draw) -> Operation:
    """Draw a comparison; the second operand may be spread."""
    element, full = draw.one_of(ELEMENTS), draw.shape()
    second = value(element, full[draw.integer(0, len(full)) :])
    predicate = draw.one_of(list(CompareOp.EQUATION))
    return CompareOp(value(element, full), second, predicate=predicate)


def where(draw: Draw) -> Operation:
    """Draw a choice between a tensor and a scalar."""
    element, full = draw.one_of(ELEMENTS), draw.shape()
    condition = value(i1, full[draw.integer(0, len(full)) :])
    return WhereOp(condition, value(element, full), value(element, []))


def cast(draw: Draw) -> Operation:
    """Draw a conversion of numbers."""
    return CastOp(value(draw.one_of(ELEMENTS), draw.shape()), draw.one_of(ELEMENTS))


def bitcast(draw: Draw) -> Operation:
    """Draw another reading of the same bits."""
    words: Sequence[tuple[Attribute, Attribute]] = ((f16, i16), (f32, i32), (f64, i64), (i8, i8))
    source, target = draw.permuted(draw.one_of(words))
    return BitcastOp(value(source, draw.shape()), target)
