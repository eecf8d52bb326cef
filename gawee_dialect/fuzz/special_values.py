"""Zeros that a lowering puts between elements, and multiplies by weights that are NaN or infinite.

A transposed convolution reads its input with zeros in between. As a graph it leaves them out.
"""

from collections.abc import Mapping
from math import isnan
from typing import SupportsFloat

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.conv import ConvTransposeOp
from gawee_dialect.dialect.entry import MAIN
from gawee_dialect.instruments.check.execute import is_array
from gawee_dialect.instruments.check.failure import Differing
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.run import Program


class SpecialValues(Interpreter.Listener):
    """Sees whether an op makes NaN or an infinity."""

    def __init__(self) -> None:
        self.are_there = False

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        floats = (each for each in results if is_array(each) and each.dtype.kind == "f")
        self.are_there = self.are_there or not all(np.isfinite(each).all() for each in floats)


def makes_special_values(module: ModuleOp, arrays: Mapping[str, Array]) -> bool:
    """Whether NaN or an infinity is among what the ops of a graph make."""
    seen = SpecialValues()
    try:
        Program(module.clone(), MAIN, (seen,)).run(arrays)
    except GaweeError:
        return False
    return seen.are_there


def is_zero_times_nan(differing: Differing, module: ModuleOp, arrays: Mapping[str, Array]) -> bool:
    """Whether a difference is that of a zero between elements, times what is no finite number."""
    now = differing.actual
    is_nan = isinstance(now, SupportsFloat) and isnan(now)
    of_zeros = differing.op == ConvTransposeOp.name
    return is_nan and of_zeros and makes_special_values(module, arrays)
