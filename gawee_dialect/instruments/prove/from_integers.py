"""Exact numbers that are made of integers: by their value, or by their bits.

The same as machine code has of them (`native/functions.py`). A whole number is what it is, without
what a narrow float would round it to; a float whose bits were put together is a number of its own.
"""

from collections.abc import Callable, Mapping, Sequence
from zlib import crc32

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.vector import BitcastOp as VectorBitcastOp
from xdsl.ir import Operation

from gawee_dialect.dialect.graph.cast import BitcastOp
from gawee_dialect.dialect.special_functions import converted as converted_floats
from gawee_dialect.instruments.prove.arithmetic import exactly, made
from gawee_dialect.instruments.prove.numbers import Numbers, as_array, is_float
from gawee_dialect.instruments.prove.residues import current
from gawee_dialect.interpreter.arith import signed, unsigned
from gawee_dialect.interpreter.arrays import Array, dtype_of
from gawee_dialect.interpreter.body import SCALARS
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.scalars import Evaluate, scalar_functions
from gawee_dialect.upstream.arith import ON_VECTORS


def of_integers(integers: Array, dtype: np.dtype[np.generic]) -> Array:
    """Return the whole numbers that integers are, as numbers of a float type."""
    return as_array(exactly(np.asarray(integers).astype(np.float64), dtype))


def of_bits(floats: Array) -> Array:
    """Return the numbers of floats whose bits came from integers: a fraction is drawn by them."""
    value = np.asarray(floats).astype(np.float64)
    return as_array(made(value, current().variables(value, crc32(b"bits")), floats.dtype))


def converted(input: Array, dtype: str) -> Array:
    """Convert as `special_functions.converted` does; integers to floats are what they are."""
    wanted: np.dtype[np.generic] = np.dtype(dtype)
    of_whole = is_float(wanted) and not isinstance(input, Numbers) and not is_float(input.dtype)
    return of_integers(input, wanted) if of_whole else converted_floats(input, dtype)


def _by_value(read: Callable[[Array], Array]) -> Evaluate:
    return lambda op, operands: of_integers(read(operands[0]), dtype_of(op.results[0].type))


def _by_bits(evaluate: Evaluate) -> Evaluate:
    def evaluated(op: Operation, operands: Sequence[Array]) -> Array:
        result = evaluate(op, operands)
        return of_bits(result) if is_float(result.dtype) else result

    return evaluated


def _bitcast(op: Operation, operands: Sequence[Array]) -> Array:
    assert isinstance(op, BitcastOp)
    return op.evaluate(*operands)


_ON_SCALARS: Mapping[type[Operation], Evaluate] = {
    arith.SIToFPOp: _by_value(signed),
    arith.UIToFPOp: _by_value(unsigned),
    arith.BitcastOp: _by_bits(SCALARS[arith.BitcastOp]),
}

FROM_INTEGERS: Mapping[type[Operation], Evaluate] = {
    **_ON_SCALARS,
    **{ON_VECTORS[op]: each for op, each in _ON_SCALARS.items() if op in ON_VECTORS},
    VectorBitcastOp: _by_bits(SCALARS[arith.BitcastOp]),
}
"""What makes floats of integers."""

ExactFromIntegers: type[OpFunctions] = scalar_functions(
    "ExactFromIntegers", {**FROM_INTEGERS, BitcastOp: _by_bits(_bitcast)}
)
