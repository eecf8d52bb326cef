"""How far outputs move where ops read their operands a unit in the last place off.

Roundings inside of an op move its result as far, and those of another program with the same meaning
are others: this is Monte Carlo arithmetic. By the error of one run alone, a result that is exact by
chance would have to stay exact: rows of one number, whose mean a sum in another order misses by a
rounding, which a small deviation then makes large.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import AnyFloat, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.interpreter import Interpreter, OpImplResult, PythonValues
from xdsl.ir import Attribute, Operation

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.constant import ConstantOp
from gawee_dialect.dialect.entry import find_function, output_names
from gawee_dialect.dialect.movement import MovementOp
from gawee_dialect.dialect.operation import GaweeOp
from gawee_dialect.dialect.scatter import ScatterOp
from gawee_dialect.hints import isa
from gawee_dialect.instruments.check.compare import absolute_difference
from gawee_dialect.instruments.check.execute import is_array
from gawee_dialect.instruments.check.inputs import DataSet
from gawee_dialect.interpreter.arrays import Array, unwritten_memory
from gawee_dialect.interpreter.machine import Machine
from gawee_dialect.interpreter.run import Program

TRIES = 4

WIDE = (np.dtype(np.float32), np.dtype(np.float64))
"""What ops compute in."""

NARROW = (np.dtype(np.float16),)
"""What they round results to: those are off. Operands of f16 are read as they are."""

JUMPS = frozenset(
    f"gawee.{name}"
    for name in (
        *("floor", "ceil", "round", "sign", "compare", "floor_div", "remainder", "fmod"),
        *("arg_max", "arg_min", "sort", "top_k", "bitcast", "non_max_suppression", "grid_sample"),
    )
)
"""Ops at whose jumps a last digit decides: of what they make nothing can be said so."""


class LastDigits(Interpreter.Listener):
    """Draws which way each element is off."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def read(self, op: Operation, inputs: PythonValues) -> PythonValues:
        """Return what an op reads in the place of its operands."""
        return self.moved(inputs, WIDE)

    def written(self, op: Operation, results: PythonValues) -> PythonValues:
        """Return what is in the place of an op's results."""
        return self.moved(results, NARROW)

    def moved(self, values: PythonValues, dtypes: Sequence[np.dtype[np.generic]]) -> PythonValues:
        """Return values with other last digits in arrays of some dtypes; equal ones stay equal."""
        arrays = (each for each in values if is_array(each) and each.dtype in dtypes)
        known = {id(each): self._moved(each) for each in arrays}
        return tuple(known.get(id(each), each) for each in values)

    def _moved(self, array: Array) -> Array:
        ways = self.random.choice((-np.inf, np.inf), array.shape).astype(array.dtype)
        is_moved = np.isfinite(array) & (array != 0)
        return np.where(is_moved, np.nextafter(array, ways), array)


class MovingMachine(Machine):
    """An interpreter in which ops read what a `LastDigits` makes of their operands."""

    def _run_op(self, op: Operation, inputs: PythonValues) -> OpImplResult:
        digits = next((each for each in self.listeners if isinstance(each, LastDigits)), None)
        if digits is None or not _computes(op):
            return super()._run_op(op, inputs)
        result = super()._run_op(op, digits.read(op, inputs))
        return OpImplResult(digits.written(op, result.values), result.terminator_value)


def _computes(op: Operation) -> bool:
    """Whether an op makes numbers that were not there; a scatter may add them up."""
    if isinstance(op, ScatterOp):
        return op.reduction.data != "none"
    return isinstance(op, GaweeOp) and not isinstance(op, MovementOp | ConstantOp)


def moved_by_last_digits(
    module: ModuleOp | None, function: str, data: DataSet
) -> Mapping[str, float]:
    """Return how far outputs of a graph move by name, without those that jump.

    That is half of it: a rounding is half a unit in the last place.
    """
    found = None if module is None else find_function(module, function)
    steady = [] if found is None else [*_steady_outputs(found)]
    if module is None or not steady:
        return {}
    usual = run_with(module, function, data, None)
    runs = [run_with(module, function, data, LastDigits(seed)) for seed in range(TRIES)]
    return {
        name: max(_distance(each[name], usual[name]) for each in runs if each) / 2
        for name in steady
        if usual and any(runs)
    }


def _distance(left: Array, right: Array) -> float:
    if right.dtype.kind != "f":
        return 0.0
    distance = absolute_difference(left, right)
    return float(np.where(np.isfinite(distance), distance, 0.0).max(initial=0.0))


def run_with(
    module: ModuleOp, function: str, data: DataSet, digits: LastDigits | None
) -> Mapping[str, Array]:
    """Return outputs with other digits, or the usual ones; none where the module does not run."""
    listeners = () if digits is None else (digits,)
    try:
        program = Program(module, function, listeners, kind=MovingMachine)
        with unwritten_memory(data.unwritten):
            return program.run(data.arrays)
    except GaweeError:
        return {}


def _steady_outputs(function: FuncOp) -> Iterator[str]:
    """Yield the outputs that no op with jumps is before."""
    last = function.body.block.last_op
    if not isinstance(last, func.ReturnOp):
        return
    for name, value in zip(output_names(function), last.operands, strict=False):
        waiting, seen = [value.owner], set[Operation]()
        while waiting:
            op = waiting.pop()
            if isinstance(op, Operation) and op not in seen:
                seen.add(op)
                waiting += [each.owner for inner in op.walk() for each in inner.operands]
        if not any(map(is_jump, (inner for op in seen for inner in op.walk()))):
            yield name


def is_jump(op: Operation) -> bool:
    """Whether a last digit of an op's operands decides what it makes."""
    if op.name != "gawee.cast":
        return op.name in JUMPS
    type = op.results[0].type
    return isa(type, TensorType[Attribute]) and not isinstance(type.element_type, AnyFloat)
