"""Random ops that compute each element by itself."""

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import f16, f32, f64, i1, i8, i16, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.dialect.activation import ClipOp, GeluOp
from gawee_dialect.dialect.cast import BitcastOp, CastOp
from gawee_dialect.dialect.comparison import CompareOp, WhereOp
from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.random_ops.values import ALL_NUMBERS, ELEMENTS, FLOATS, Maker, value


def unary(kind: Callable[[SSAValue], Operation], elements: Sequence[Attribute]) -> Maker:
    """Return what draws an op of one operand."""
    return lambda draw: kind(value(draw.one_of(elements), draw.shape()))


def binary(kind: Callable[[SSAValue, SSAValue], Operation], elements: Sequence[Attribute]) -> Maker:
    """Return what draws an op of two operands, one of which is spread over the other."""

    def make(draw: Draw) -> Operation:
        element, full = draw.one_of(elements), draw.shape()
        small = [size if draw.chance() else 1 for size in full][draw.integer(0, 4) :]
        first, second = value(element, full), value(element, small)
        return kind(second, first) if draw.chance() else kind(first, second)

    return make


def with_alpha(kind: Callable[..., Operation]) -> Maker:
    """Return what draws an op of one operand and a number."""

    def make(draw: Draw) -> Operation:
        return kind(value(draw.one_of(FLOATS), draw.shape()), alpha=draw.number(finite=True))

    return make


def gelu(draw: Draw) -> Operation:
    """Draw a GELU, exact or approximate."""
    input = value(draw.one_of(FLOATS), draw.shape())
    return GeluOp(input, approximate=draw.one_of(GeluOp.APPROXIMATIONS))


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
    predicate = draw.one_of(list(CompareOp.PREDICATES))
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
