"""Functions that are not interpreted, and NumPy's functions of whole arrays, of exact numbers.

The former are a hash of their name and of the number they are taken of. What is derived:
exp(0) = 1, f(0) = 0 of those that vanish there, what is taken of an infinity, expm1, log1p, sinh,
cosh and whole powers by their definitions, and 1 / sqrt(x) as a quotient.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from xdsl.dialects import math, vector

from gawee_dialect.dialect.special_functions import erf as erf_of_floats
from gawee_dialect.instruments.prove.arithmetic import (
    add,
    chosen,
    divide,
    made,
    maximum,
    minimum,
    multiply,
    ordinals,
    reciprocal,
    subtract,
)
from gawee_dialect.instruments.prove.numbers import (
    FUNCTIONS,
    MEANINGS,
    REDUCTIONS,
    UFUNCS,
    Numbers,
    broadcast,
    numbers,
)
from gawee_dialect.instruments.prove.residues import (
    Floats,
    current,
    of_whole_numbers,
)
from gawee_dialect.interpreter.arrays import Array


def uninterpreted(name: str, of_values: Callable[..., Floats]) -> Callable[..., Numbers]:
    """Make a function of numbers of which nothing is known but its values."""

    def compute(*operands: object) -> Numbers:
        exact = [numbers(each) for each in operands]
        with np.errstate(all="ignore"):
            value = np.asarray(of_values(*map(_settled, exact)))
        known = _is_known(*exact) | ~np.isfinite(value)
        plain = of_whole_numbers(np.where(known, value, 0.0))
        drawn = current().of_function(name, broadcast(*exact), value.shape)
        dtype = max((each.dtype for each in exact), key=lambda dtype: dtype.itemsize)
        return made(value, np.where(known, plain, drawn), dtype)

    return compute


def _settled(input: Numbers) -> Floats:
    return np.where(input.is_zero(), 0.0, input.settled())


def _is_known(*operands: Numbers) -> Array:
    """Return where a function of one number is a whole number: of 0, and of what is not finite.

    A number whose value is 0, and which is not, is what roundings made of a small difference of
    large numbers: in another order its value may be a small one.
    """
    if len(operands) != 1:
        return np.zeros((), np.bool_)
    (input,) = operands
    return input.is_zero() | ~np.isfinite(input.value)


def _erf_of_floats(values: Floats) -> Floats:
    return np.asarray(erf_of_floats(values), np.float64)


exp = uninterpreted("exp", np.exp)
log = uninterpreted("log", np.log)
sqrt = uninterpreted("sqrt", np.sqrt)
erf = uninterpreted("erf", _erf_of_floats)
_power = uninterpreted("pow", np.power)
_ONE = Numbers.constants(np.ones(()), np.dtype(np.float32))
_TWO = Numbers.constants(np.full((), 2.0), np.dtype(np.float32))
LARGEST_POWER = 64


def power(base: object, exponent: object) -> Numbers:
    """Raise to a power: by multiplication to a whole one, by a root to one half."""
    of, to = numbers(base), numbers(exponent)
    result = _power(of, to)
    for value in np.unique(to.value):
        derived = _constant_power(of, float(value))
        if derived is not None:
            result = chosen(to.value == value, derived, result)
    result.dtype = of.dtype
    return result


def _constant_power(base: Numbers, exponent: float) -> Numbers | None:
    if exponent < 0:
        positive = _constant_power(base, -exponent)
        return None if positive is None else reciprocal(positive)
    if exponent == 0.5:
        return sqrt(base)
    if not exponent.is_integer() or exponent > LARGEST_POWER:
        return None
    result = numbers(np.ones(base.shape))
    for bit in f"{int(exponent):b}":
        result = multiply(result, result)
        if bit == "1":
            result = multiply(result, base)
    return result


def _half_of(combine: Callable[..., Numbers]) -> Callable[..., Numbers]:
    """(exp(x) + or - 1 / exp(x)) / 2"""

    def compute(input: Numbers) -> Numbers:
        raised = exp(input)
        return divide(combine(raised, reciprocal(raised)), _TWO)

    return compute


def _expm1(input: Numbers) -> Numbers:
    return subtract(exp(input), _ONE)


def _log1p(input: Numbers) -> Numbers:
    return log(add(input, _ONE))


def fused_multiply_add(lhs: object, rhs: object, addend: object) -> Numbers:
    """Compute x * y + z."""
    return add(multiply(lhs, rhs), addend)


def select(condition: Array, lhs: object, rhs: object) -> Numbers | Array:
    """Choose by a condition, of plain arrays or of numbers."""
    if isinstance(lhs, Numbers) or isinstance(rhs, Numbers):
        return chosen(condition, lhs, rhs)
    return np.where(condition, np.asarray(lhs), np.asarray(rhs))


UFUNCS.update(
    {
        np.exp: exp,
        np.log: log,
        np.sqrt: sqrt,
        np.power: power,
        np.expm1: _expm1,
        np.log1p: _log1p,
        np.sinh: _half_of(subtract),
        np.cosh: _half_of(add),
    }
)
UFUNCS.update(
    {
        each: uninterpreted(each.__name__, each)
        for each in (
            *(np.exp2, np.log2, np.log10, np.cbrt, np.tanh, np.sin, np.cos, np.tan),
            *(np.arcsin, np.arccos, np.arctan, np.arctan2, np.arcsinh, np.arccosh, np.arctanh),
        )
    }
)
MEANINGS.update({math.ErfOp: erf, math.FmaOp: fused_multiply_add, vector.FMAOp: fused_multiply_add})


def _moves(function: Callable[..., Array]) -> Callable[..., Numbers]:
    """Say that a function moves the elements of its first argument, and fills in zeros at most."""

    def move(input: Numbers, *arguments: object, **options: object) -> Numbers:
        def of_part(part: Floats) -> Floats:
            return np.asarray(function(part, *arguments, **options), np.float64)

        return input.moved(of_part)

    return move


def _by_order(function: Callable[..., Array]) -> Callable[..., Array]:
    """Say that a function's result depends on the order of elements alone."""

    def compute(input: Numbers, *arguments: object, **options: object) -> Array:
        return function(ordinals(input), *arguments, **options)

    return compute


def _by_truth(function: Callable[..., Array]) -> Callable[..., Array]:
    """Say that a function's result depends alone on which elements are zero."""

    def compute(input: Numbers, *arguments: object, **options: object) -> Array:
        return function(input.settled(), *arguments, **options)

    return compute


def concatenate(arrays: Sequence[object], axis: int = 0) -> Numbers:
    """Put arrays one after the other along an axis."""
    exact = [numbers(each) for each in arrays]
    data = np.concatenate([each.data for each in exact], axis % exact[0].ndim + 1)
    return Numbers(data, exact[0].dtype)


def pad(input: Numbers, widths: Sequence[tuple[int, int]], constant_values: object = 0) -> Numbers:
    """Surround numbers by one number."""
    fill = numbers(constant_values).data
    parts = zip(input.data, fill, strict=True)
    data = [np.pad(part, widths, constant_values=each) for part, each in parts]
    return Numbers(np.stack(data), input.dtype)


def clip(input: object, low: object, high: object) -> Numbers:
    """Keep numbers between two bounds."""
    return minimum(maximum(input, low), high)


def _like(made: Callable[[Sequence[int]], Array]) -> Callable[..., Numbers]:
    def make(input: Numbers, *_: object, **__: object) -> Numbers:
        return Numbers.constants(made(input.shape), input.dtype)

    return make


def _unwritten(input: Numbers, *_: object, **__: object) -> Numbers:
    return Numbers.unwritten(input.shape, input.dtype)


def _shape(input: Numbers) -> tuple[int, ...]:
    return input.shape


def _rank(input: Numbers) -> int:
    return input.ndim


def _share_memory(first: object, second: object) -> bool:
    return np.may_share_memory(numbers(first).data, numbers(second).data)


def _reduction(ufunc: np.ufunc) -> Callable[..., object]:
    def compute(
        input: Numbers, axis: object = None, keepdims: bool = False, **rest: object
    ) -> object:
        rest.pop("dtype", None)
        return REDUCTIONS[ufunc](input, axis=axis, keepdims=keepdims, **rest)

    return compute


def cumulated(input: Numbers, axis: int, dtype: object = None) -> Numbers:
    """Add up along an axis, every sum being kept."""
    place = axis % input.ndim + 1
    summed, largest = partial(np.cumsum, axis=place), partial(np.maximum.accumulate, axis=place)
    return Numbers(current().added(input.data, summed, largest), input.dtype)


FUNCTIONS.update(
    {
        np.where: select,
        np.clip: clip,
        np.copy: Numbers.copy,
        np.pad: pad,
        np.concatenate: concatenate,
        np.cumsum: cumulated,
        np.empty_like: _unwritten,
        np.zeros_like: _like(np.zeros),
        np.ones_like: _like(np.ones),
        np.shape: _shape,
        np.ndim: _rank,
        np.reshape: Numbers.reshape,
        np.transpose: Numbers.transpose,
        np.swapaxes: Numbers.swapaxes,
        np.squeeze: Numbers.squeeze,
        np.take: Numbers.take,
        np.may_share_memory: _share_memory,
        np.sum: _reduction(np.add),
        np.prod: _reduction(np.multiply),
        np.max: _reduction(np.maximum),
        np.min: _reduction(np.minimum),
    }
)
FUNCTIONS.update(
    {
        each: _moves(each)
        for each in (
            *(np.broadcast_to, np.tile, np.flip, np.repeat, np.roll, np.moveaxis, np.expand_dims),
            *(np.tril, np.triu, np.take_along_axis),
        )
    }
)
FUNCTIONS.update({each: _by_order(each) for each in (np.argsort, np.argmax, np.argmin)})
FUNCTIONS.update({each: _by_truth(each) for each in (np.any, np.all)})
