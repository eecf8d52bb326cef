"""Steps one after the other: what the op of `dialect/scan.py` computes."""

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls

from gawee_dialect.dialect.scan import ScanOp
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.functions import OpFunctions


@register_impls
class ScanFunctions(OpFunctions):
    """What the op of `dialect/scan.py` computes."""

    @impl(ScanOp)
    def scan(self, interpreter: Interpreter, op: ScanOp, args: PythonValues) -> PythonValues:
        count = len(op.initial)
        state, sequences = args[:count], args[count:]
        made: dict[int, PythonValues] = {}
        for position in op.order:
            now = [each[position, ...] for each in sequences]
            results = interpreter.run_ssacfg_region(op.body, (*state, *now), "scan")
            state, made[position] = results[:count], results[count:]
        stacked: list[Array] = [
            np.concatenate([made[position][index][np.newaxis] for position in range(op.num_steps)])
            for index in range(len(op.results) - count)
        ]
        return (*state, *stacked)
