"""Functions that are not interpreted: a hash of their name and of the number they are taken of.

What is derived: exp(0) = 1, f(0) = 0 of those that vanish there, what is taken of an infinity,
expm1, log1p, sinh, cosh and whole powers by their definitions, and 1 / sqrt(x) as a quotient.
"""

from collections.abc import Callable

import numpy as np
from xdsl.dialects import math, vector

from gawee_dialect.dialect.special_functions import erf as erf_of_floats
from gawee_dialect.instruments.prove.arithmetic import (
    add,
    chosen,
    divide,
    made,
    multiply,
    reciprocal,
    subtract,
)
from gawee_dialect.instruments.prove.numbers import MEANINGS, UFUNCS, Numbers, broadcast, numbers
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
