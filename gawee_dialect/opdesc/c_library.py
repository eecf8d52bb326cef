"""The functions that C texts of descriptions may call, and what each computes.

The arithmetic of windows is that of the format: an output size is
(in + padding - ((size - 1) * dilation + 1)) / stride + 1. Messages have printf's formats.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite
from types import MappingProxyType

from xdsl.dialects.builtin import Float32Type, IntegerType

from gawee_dialect.dialect.types import integer_range
from gawee_dialect.hints import isa
from gawee_dialect.opdesc.c_values import (
    DOUBLE,
    FLOAT,
    INT,
    INT_POINTER,
    LONG,
    NULL,
    STRING,
    ULONG,
    Buffer,
    EvaluationError,
    PointerType,
    Ref,
    Value,
    as_arithmetic,
    converted,
    int_value,
)
from gawee_dialect.opdesc.description import DTYPES, FROM_FUNCS, from_text

MAX_ELEMENTS = 100_000
"""Of all arrays that one text allocates."""

AUTOPADS = ("VALID", "SAME_UPPER", "SAME_LOWER", "NOTSET")


@dataclass(frozen=True)
class Function:
    """A function: how many arguments it takes, and its result."""

    arity: int
    run: Callable[[Sequence[Value]], Value]


def _output_dim_conv(arguments: Sequence[Value]) -> Value:
    size_in, size, stride, padding, dilation = (each.integer() for each in arguments)
    return int_value(_divided(size_in + padding - ((size - 1) * dilation + 1), stride) + 1)


def _output_dim_deconv(arguments: Sequence[Value]) -> Value:
    size_in, size, stride, padding, extra, dilation = (each.integer() for each in arguments)
    return int_value(stride * (size_in - 1) + extra + (size - 1) * dilation + 1 - padding)


def _divided(a: int, b: int) -> int:
    if b == 0:
        raise EvaluationError("division by zero")
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _set_padding(padding: Ref, totals: Sequence[int], mode: str) -> None:
    """Write what comes before each axis, then what comes after each; the odd one as `mode` says."""
    for axis, total in enumerate(max(0, each) for each in totals):
        small = total // 2
        before = total - small if mode == "SAME_LOWER" else small
        padding.moved(axis).store(before)
        padding.moved(len(totals) + axis).store(total - before)


def _integers(value: Value, count: int) -> list[int]:
    """Return so many elements of an array of int."""
    return [int(each) for each in converted(value, INT_POINTER).ref().elements(count)]


def _mode(value: Value) -> str:
    mode = value.text()
    if mode not in AUTOPADS:
        raise EvaluationError(f"unknown padding '{mode}'; known: {', '.join(AUTOPADS)}")
    return mode


def _autopadding_conv(arguments: Sequence[Value]) -> Value:
    padding, *arrays, count, mode = arguments

    def total(dim: int, size: int, stride: int, dilation: int) -> int:
        out = _divided(dim + stride - 1, stride)
        return (out - 1) * stride + (size - 1) * dilation + 1 - dim

    return _autopadding(padding, arrays, count, mode, total)


def _autopadding_deconv(arguments: Sequence[Value]) -> Value:
    padding, *arrays, count, mode = arguments

    def total(dim: int, out: int, size: int, stride: int, extra: int, dilation: int) -> int:
        return stride * (dim - 1) + extra + (size - 1) * dilation + 1 - out

    return _autopadding(padding, arrays, count, mode, total)


def _autopadding(
    padding: Value, arrays: Sequence[Value], count: Value, mode: Value, total: Callable[..., int]
) -> Value:
    """Write the padding of each axis, in total that of its numbers in the arrays."""
    axes, name = count.integer(), _mode(mode)
    numbers = zip(*(_integers(each, axes) for each in arrays), strict=True)
    same = name.startswith("SAME")
    totals = [total(*each) if same else 0 for each in numbers]
    if name != "NOTSET":
        _set_padding(padding.ref(), totals, name)
    return NULL


def _compute_length(arguments: Sequence[Value]) -> Value:
    product = 1
    for size in _integers(arguments[1], arguments[0].integer()):
        product *= size
    return int_value(product)


def _next_multiple_power2(arguments: Sequence[Value]) -> Value:
    number = arguments[0].integer()
    arguments[1].integer()
    return int_value(-(-number // 8) * 8)


def _streq(arguments: Sequence[Value]) -> Value:
    return int_value(int(arguments[0].text() == arguments[1].text()))


def _sprint_shape(arguments: Sequence[Value]) -> Value:
    arguments[0].ref()
    sizes = _integers(arguments[2], arguments[1].integer())
    return Value(STRING, f"[{', '.join(map(str, sizes))}]")


def _alloc(arguments: Sequence[Value]) -> Value:
    size = converted(arguments[0], ULONG).data
    assert isinstance(size, int)
    if size > 8 * MAX_ELEMENTS:
        raise EvaluationError(f"expected at most {8 * MAX_ELEMENTS} bytes, got {size}")
    return Value(PointerType(None), Ref(Buffer(size)))


def _clone(arguments: Sequence[Value]) -> Value:
    source, size = arguments[0].ref(), converted(arguments[1], ULONG).data
    assert isinstance(size, int)
    element = source.buffer.element
    if element is None:
        raise EvaluationError("expected an array whose element type is known")
    if size % element.size:
        raise EvaluationError(f"expected bytes of whole elements of {element.size}, got {size}")
    values: list[int | float | None] = [*source.elements(size // element.size)]
    return Value(PointerType(element), Ref(Buffer.of(element, values)))


def _free(arguments: Sequence[Value]) -> Value:
    if arguments[0].data is not None:
        arguments[0].ref().buffer.freed = True
    return NULL


def _dtype_limit(arguments: Sequence[Value], highest: bool) -> Value:
    number = arguments[0].integer()
    elements = tuple(DTYPES.values())
    if not 0 <= number < len(elements):
        raise EvaluationError(f"expected a dtype, got {number}")
    element = elements[number]
    if isa(element, IntegerType):
        # A bool is 0 or 1; its one bit is no sign.
        limits = (0, 1) if element.width.data == 1 else integer_range(element)
        return Value(DOUBLE, float(limits[highest]))
    limit = 3.4028234663852886e38 if isinstance(element, Float32Type) else 1.7976931348623157e308
    return Value(DOUBLE, limit if highest else -limit)


def _rounding(function: Callable[[float], int]) -> Callable[[Sequence[Value]], Value]:
    def run(arguments: Sequence[Value]) -> Value:
        number = converted(arguments[0], DOUBLE).data
        assert isinstance(number, float)
        return Value(DOUBLE, _whole(function, number))

    return run


def _floorf(arguments: Sequence[Value]) -> Value:
    return Value(FLOAT, _whole(floor, as_arithmetic(arguments[0].number(), FLOAT)))


def _whole(function: Callable[[float], int], number: float) -> float:
    """Round as C does: infinities and NaN are whole already."""
    return float(function(number)) if isfinite(number) else number


def _constant_of(function: str) -> Function:
    return Function(1, lambda arguments: Value(INT, from_text(function, arguments[0].text())))


FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        "ln_output_dim_conv": Function(5, _output_dim_conv),
        "ln_output_dim_deconv": Function(6, _output_dim_deconv),
        "ln_autopadding_conv": Function(7, _autopadding_conv),
        "ln_autopadding_deconv": Function(9, _autopadding_deconv),
        "ln_compute_length": Function(2, _compute_length),
        "ln_next_multiple_power2": Function(2, _next_multiple_power2),
        "ln_streq": Function(2, _streq),
        "ln_sprint_shape": Function(3, _sprint_shape),
        "ln_alloc": Function(1, _alloc),
        "ln_clone": Function(2, _clone),
        "ln_free": Function(1, _free),
        "tl_dtype_min_double": Function(1, lambda arguments: _dtype_limit(arguments, False)),
        "tl_dtype_max_double": Function(1, lambda arguments: _dtype_limit(arguments, True)),
        "ceil": Function(1, _rounding(ceil)),
        "floor": Function(1, _rounding(floor)),
        "floorf": Function(1, _floorf),
        **{name: _constant_of(name) for name in FROM_FUNCS},
    }
)
"""Functions of values; those that check and complain are in `c_evaluate.py`."""


_DIRECTIVE = re.compile(
    r"%(?:%|([-+ 0#]*)(\d{0,3})(?:\.(\d{1,3}))?(?:hh|h|ll|l|z)?(.?))", re.DOTALL
)
_KINDS = {"d": "d", "i": "d", "u": "d", "x": "x", "s": "s", "f": "f", "g": "g", "e": "e"}

MAX_MESSAGE = 2000


def directives(format: str) -> Iterator[str]:
    """Yield the letter of every argument that a format needs; empty for one that it can't."""
    for found in _DIRECTIVE.finditer(format):
        if found[0] != "%%":
            yield _KINDS.get(found[4] or "", "")


def formatted(format: str, arguments: Sequence[Value]) -> str:
    """Return a message; raises EvaluationError where the arguments are not those of the format."""
    left = list(arguments)

    def one(found: re.Match[str]) -> str:
        if found[0] == "%%":
            return "%"
        kind = _KINDS.get(found[4] or "")
        if kind is None:
            raise EvaluationError(f"unsupported format '{found[0]}'")
        if not left:
            raise EvaluationError("expected an argument for every % of the message")
        flags, width, precision = found[1], found[2], found[3]
        spec = f"%{flags}{width}{'.' + precision if precision is not None else ''}{kind}"
        return spec % _argument(left.pop(0), kind)

    text = _DIRECTIVE.sub(one, format)
    if left:
        raise EvaluationError("expected a % of the message for every argument")
    return text[:MAX_MESSAGE]


def _argument(value: Value, kind: str) -> str | int | float:
    if kind == "s":
        return value.text()
    data = converted(value, LONG if kind in "dx" else DOUBLE).data
    assert isinstance(data, int | float)
    return data
