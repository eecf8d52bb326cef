"""What the ops of the arith dialect compute."""

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.interpreter.arrays import Array, attribute_value, dtype_of, with_poison
from gawee_dialect.interpreter.math import maximum, minimum
from gawee_dialect.interpreter.scalars import Evaluate, plain, scalar_functions
from gawee_dialect.upstream.arith import ON_VECTORS, CmpfOp, CmpiOp, RemFOp


def signed(value: Array) -> Array:
    """Read integers as signed ones; a set i1 is -1."""
    if value.dtype == np.bool_:
        return np.negative(value.astype(np.int8))
    return value.view(np.dtype(f"i{value.dtype.itemsize}"))


def unsigned(value: Array) -> Array:
    """Read the bits of integers as unsigned ones; a set i1 is 1."""
    return value.view(np.dtype(f"u{value.dtype.itemsize}"))


def _wrapping(function: Callable[..., Array]) -> Evaluate:
    """Integer arithmetic that wraps around; on i1 modulo 2, where NumPy's is logical."""

    def evaluate(op: Operation, operands: Sequence[Array]) -> Array:
        if operands[0].dtype != np.bool_:
            return function(*operands)
        result = function(*(unsigned(operand) for operand in operands))
        return np.bitwise_and(result, np.uint8(1)).astype(np.bool_)

    return evaluate


def _signed(function: Callable[..., Array]) -> Evaluate:
    return plain(lambda *operands: function(*map(signed, operands)))


def _unsigned(function: Callable[..., Array]) -> Evaluate:
    return plain(lambda *operands: function(*map(unsigned, operands)))


def _division(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    def divide(lhs: Array, rhs: Array) -> Array:
        if not np.all(rhs):
            raise InterpretationError("expected a divisor other than 0")
        return function(lhs, rhs)

    return divide


def _truncated_quotient(lhs: Array, rhs: Array) -> Array:
    quotient = np.floor_divide(lhs, rhs)
    inexact = np.not_equal(np.multiply(quotient, rhs), lhs)
    opposite = np.not_equal(np.less(lhs, 0), np.less(rhs, 0))
    return np.add(quotient, np.logical_and(inexact, opposite).astype(quotient.dtype))


def _ceiled_quotient(lhs: Array, rhs: Array) -> Array:
    quotient = np.floor_divide(lhs, rhs)
    inexact = np.not_equal(np.multiply(quotient, rhs), lhs)
    return np.add(quotient, inexact.astype(quotient.dtype))


def _shift(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    def shift(value: Array, amount: Array) -> Array:
        width = 8 * value.dtype.itemsize
        wide = np.greater_equal(unsigned(amount), width)
        made = function(value, np.where(wide, 0, amount).astype(amount.dtype)[()])
        return with_poison(made, wide, f"expected a shift by less than {width}")

    return shift


CMPI: tuple[tuple[Callable[[Array, Array], Array], Callable[[Array], Array]], ...] = (
    (np.equal, unsigned),
    (np.not_equal, unsigned),
    (np.less, signed),
    (np.less_equal, signed),
    (np.greater, signed),
    (np.greater_equal, signed),
    (np.less, unsigned),
    (np.less_equal, unsigned),
    (np.greater, unsigned),
    (np.greater_equal, unsigned),
)
"""What an integer predicate compares, and how it reads the bits, in the order of the attribute."""


def _cmpi(op: Operation, operands: Sequence[Array]) -> Array:
    assert isinstance(op, arith.CmpiOp | CmpiOp)
    compare, read = CMPI[op.predicate.value.data]
    return compare(read(operands[0]), read(operands[1]))


CMPF: tuple[Callable[[Array, Array], Array] | None, ...] = (
    np.equal,
    np.greater,
    np.greater_equal,
    np.less,
    np.less_equal,
    np.not_equal,
    None,
)
"""What the float predicates 1 to 7 (oeq to ord) and 8 to 14 (ueq to uno) compare."""


def _cmpf(op: Operation, operands: Sequence[Array]) -> Array:
    assert isinstance(op, arith.CmpfOp | CmpfOp)
    lhs, rhs = operands
    predicate = op.predicate.value.data
    unordered = np.logical_or(np.isnan(lhs), np.isnan(rhs))
    if predicate in (0, 15):
        return np.full_like(unordered, predicate == 15)
    if predicate in (7, 14):
        return unordered if predicate == 14 else np.logical_not(unordered)
    if predicate < 7:
        compare = CMPF[predicate - 1]
        assert compare is not None
        return np.logical_and(compare(lhs, rhs), np.logical_not(unordered))
    compare = CMPF[predicate - 8]
    assert compare is not None
    return np.logical_or(compare(lhs, rhs), unordered)


def _select(condition: Array, true_value: Array, false_value: Array) -> Array:
    return np.where(condition, true_value, false_value)[()]


def _cast(read: Callable[[Array], Array]) -> Evaluate:
    def evaluate(op: Operation, operands: Sequence[Array]) -> Array:
        return read(operands[0]).astype(dtype_of(op.results[0].type))

    return evaluate


def _truncate(op: Operation, operands: Sequence[Array]) -> Array:
    if dtype_of(op.results[0].type) == np.bool_:
        return np.bitwise_and(operands[0], operands[0].dtype.type(1)).astype(np.bool_)
    return operands[0].astype(dtype_of(op.results[0].type))


def _bitcast(op: Operation, operands: Sequence[Array]) -> Array:
    return operands[0].view(dtype_of(op.results[0].type))


def _sign_cast(op: Operation, operands: Sequence[Array]) -> Array:
    """Read integers of one width as signed or unsigned ones; no other such cast has a meaning."""
    dtype = dtype_of(op.results[0].type)
    integers = all(np.issubdtype(each, np.integer) for each in (dtype, operands[0].dtype))
    if not integers or dtype.itemsize != operands[0].dtype.itemsize:
        raise InterpretationError(
            f"unsupported cast from '{op.operands[0].type}' to '{op.results[0].type}'"
        )
    return operands[0].view(dtype)


def _constant(op: Operation, operands: Sequence[Array]) -> Array:
    assert isinstance(op, arith.ConstantOp)
    return attribute_value(op.value, op.result.type)


def _same(value: Array) -> Array:
    return value


SCALAR_ARITH: dict[type[Operation], Evaluate] = {
    arith.ConstantOp: _constant,
    # Floats. Maximum and minimum hand on NaN, fmax and fmin do not.
    arith.AddfOp: plain(np.add),
    arith.SubfOp: plain(np.subtract),
    arith.MulfOp: plain(np.multiply),
    arith.DivfOp: plain(np.divide),
    RemFOp: plain(np.fmod),
    arith.NegfOp: plain(np.negative),
    arith.MaximumfOp: plain(maximum),
    arith.MinimumfOp: plain(minimum),
    arith.MaxnumfOp: plain(np.fmax),
    arith.MinnumfOp: plain(np.fmin),
    arith.CmpfOp: _cmpf,
    # Integers
    arith.AddiOp: _wrapping(np.add),
    arith.SubiOp: _wrapping(np.subtract),
    arith.MuliOp: _wrapping(np.multiply),
    arith.DivSIOp: _signed(_division(_truncated_quotient)),
    arith.FloorDivSIOp: _signed(_division(np.floor_divide)),
    arith.CeilDivSIOp: _signed(_division(_ceiled_quotient)),
    arith.DivUIOp: _unsigned(_division(np.floor_divide)),
    arith.CeilDivUIOp: _unsigned(_division(_ceiled_quotient)),
    arith.RemSIOp: _signed(_division(np.fmod)),
    arith.RemUIOp: _unsigned(_division(np.remainder)),
    arith.MaxSIOp: _signed(np.maximum),
    arith.MinSIOp: _signed(np.minimum),
    arith.MaxUIOp: _unsigned(np.maximum),
    arith.MinUIOp: _unsigned(np.minimum),
    arith.AndIOp: plain(np.bitwise_and),
    arith.OrIOp: plain(np.bitwise_or),
    arith.XOrIOp: plain(np.bitwise_xor),
    arith.ShLIOp: plain(_shift(np.left_shift)),
    arith.ShRSIOp: _signed(_shift(np.right_shift)),
    arith.ShRUIOp: _unsigned(_shift(np.right_shift)),
    arith.CmpiOp: _cmpi,
    arith.SelectOp: plain(_select),
    # Conversions
    arith.IndexCastOp: _cast(signed),
    arith.SIToFPOp: _cast(signed),
    arith.UIToFPOp: _cast(unsigned),
    arith.FPToSIOp: _cast(_same),
    arith.FPToUIOp: lambda op, operands: operands[0].astype(
        unsigned(np.zeros((), dtype_of(op.results[0].type))).dtype
    ),
    arith.ExtFOp: _cast(_same),
    arith.TruncFOp: _cast(_same),
    arith.ExtSIOp: _cast(signed),
    arith.ExtUIOp: _cast(unsigned),
    arith.TruncIOp: _truncate,
    arith.BitcastOp: _bitcast,
    UnrealizedConversionCastOp: _sign_cast,
}
"""What xDSL's ops compute."""

ARITH: dict[type[Operation], Evaluate] = {
    **SCALAR_ARITH,
    **{ours: SCALAR_ARITH[scalar] for scalar, ours in ON_VECTORS.items()},
}
"""What every op computes; integers wrap around, floats round to nearest, ties to even."""

ArithFunctions = scalar_functions("ArithFunctions", ARITH)
