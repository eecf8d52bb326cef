"""Numbers at which functions jump: halves, zeros, and those beyond the ends of bytes."""

from dataclasses import replace

import numpy as np
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from gawee_dialect.dialect.graph.arithmetic import (
    CeilOp,
    FloorDivOp,
    FloorOp,
    FmodOp,
    RemainderOp,
    RoundOp,
)
from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.elementwise import DivOp
from gawee_dialect.dialect.types import element_type, is_float
from gawee_dialect.instruments.check.functions import ArraySpec
from gawee_dialect.instruments.check.inputs import array_with_ties
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.upstream.walk import all_ops

JUMPS = "halves, zeros and large numbers"
LARGE, EVERY = 450.0, 7
"""Such multiples of 1/4, up to 3/2, are beyond the ends of bytes, and have exponentials in f64."""
JUMPING = (
    *(FloorOp, CeilOp, RoundOp, RemainderOp, FmodOp, FloorDivOp),
    *(math.FloorOp, math.CeilOp, math.RoundOp, math.RoundEvenOp, math.TruncOp),
    *(arith.FPToSIOp, arith.FPToUIOp),
)


def has_jumps(module: ModuleOp) -> bool:
    """Whether some op of floats jumps: at halves, at zero, or at the ends of a type."""
    return any(map(_jumps, all_ops(module)))


def _jumps(op: Operation) -> bool:
    match op:
        case DivOp() | arith.DivfOp():
            return not isinstance(op.rhs.owner, ConstantOp | arith.ConstantOp)
        case CastOp():
            return is_float(element_type(op.input)) and not is_float(element_type(op.result))
        case _:
            return isinstance(op, JUMPING)


def array_of_jumps(spec: ArraySpec, seed: int) -> Array:
    """Draw multiples of 1/4, some of them LARGE times as large; divisors have zeros among them."""
    array = array_with_ties(
        replace(spec, use="number" if spec.use == "divisor" else spec.use), seed
    )
    if spec.use != "number" or spec.dtype.kind != "f":
        return array
    large = np.arange(array.size).reshape(array.shape) % EVERY == 0
    return np.where(large, array.astype(np.float64) * LARGE, array).astype(spec.dtype)
