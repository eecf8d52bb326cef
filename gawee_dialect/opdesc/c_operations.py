"""What C's operators make of values: the usual conversions, truncating division, no overflow."""

import operator as python
from collections.abc import Callable, Mapping
from math import isfinite

from gawee_dialect.opdesc import c_syntax as c
from gawee_dialect.opdesc.c_values import (
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    NULL,
    UINT,
    ULONG,
    Arithmetic,
    EvaluationError,
    Ref,
    Value,
    as_arithmetic,
    described,
    element_type,
    fitting,
    int_value,
    rounded,
)

COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "==": python.eq,
    "!=": python.ne,
    "<": python.lt,
    "<=": python.le,
    ">": python.gt,
    ">=": python.ge,
}


def arithmetic(operator: str, left: Value, right: Value) -> Value:
    """Return `left operator right` for numbers, by C's usual conversions."""
    a, b = left.number(), right.number()
    assert isinstance(left.type, Arithmetic)
    assert isinstance(right.type, Arithmetic)
    kind = max(left.type, right.type, INT, key=lambda each: each.rank)
    a, b = as_arithmetic(a, kind), as_arithmetic(b, kind)
    if operator in COMPARISONS:
        return Value(INT, int(COMPARISONS[operator](a, b)))
    if operator in ("/", "%") and b == 0:
        raise EvaluationError("division by zero")
    if isinstance(a, float) or isinstance(b, float):
        return _float_arithmetic(operator, float(a), float(b), kind)
    return Value(kind, fitting(_integer_arithmetic(operator, a, b), kind))


def _integer_arithmetic(operator: str, a: int, b: int) -> int:
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case _:
            quotient = abs(a) // abs(b)
            if (a < 0) != (b < 0):
                quotient = -quotient
            return quotient if operator == "/" else a - b * quotient


def _float_arithmetic(operator: str, a: float, b: float, kind: Arithmetic) -> Value:
    match operator:
        case "+":
            result = a + b
        case "-":
            result = a - b
        case "*":
            result = a * b
        case "/":
            result = a / b
        case _:
            raise EvaluationError("% is for integers")
    if not isfinite(result):
        raise EvaluationError(f"{a:g} {operator} {b:g} is out of range of {kind.name}")
    return Value(kind, rounded(result) if kind is FLOAT else result)


def number_value(node: c.Number) -> Value:
    """Return a constant, in the first type that holds it; raises EvaluationError beyond long."""
    if isinstance(node.value, float):
        kind = FLOAT if node.suffix == "f" else DOUBLE
        return Value(kind, as_arithmetic(node.value, kind))
    unsigned, long = "u" in node.suffix, "l" in node.suffix
    candidates = [each for each in (INT, UINT, LONG, ULONG) if _may_be(each, unsigned, long)]
    kind = next((each for each in candidates if node.value <= each.highest), None)
    if kind is None:
        raise EvaluationError("an integer is out of range of long")
    return Value(kind, node.value)


def _may_be(kind: Arithmetic, unsigned: bool, long: bool) -> bool:
    return (kind.signed != unsigned) and (not long or kind.size == LONG.size)


def loaded(ref: Ref) -> Value:
    """Return the element that a pointer is to; raises EvaluationError."""
    if ref.buffer.element is None:
        raise EvaluationError("expected an array whose element type is known")
    return Value(ref.buffer.element, ref.load())


def size_of(written: c.TypeName) -> Value:
    """Return `sizeof` of a type of numbers or pointers; raises EvaluationError."""
    if written.pointers:
        return Value(ULONG, 8)
    element = element_type(written)
    if element is None or written.is_array:
        raise EvaluationError("expected sizeof of a type of numbers")
    return Value(ULONG, element.size)


def combined(operator: str, left: Value, right: Value) -> Value:
    """Return what an operator makes of two values: numbers, or a pointer and a number."""
    if isinstance(left.type, Arithmetic) and isinstance(right.type, Arithmetic):
        return arithmetic(operator, left, right)
    if operator in ("==", "!=") and NULL.data in (left.data, right.data):
        return int_value(int((left.data is right.data) == (operator == "==")))
    if operator in ("+", "-") and isinstance(left.data, Ref):
        by = right.number()
        if isinstance(by, int):
            return Value(left.type, left.data.moved(by if operator == "+" else -by))
    if isinstance(left.data, str) and isinstance(right.data, str):
        raise EvaluationError("strings are compared by ln_streq")
    raise EvaluationError(
        f"expected numbers beside {operator}, got {described(left.type)} "
        f"and {described(right.type)}"
    )
