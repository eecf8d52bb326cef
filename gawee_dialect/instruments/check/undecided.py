"""Which elements of outputs go by what no pass declares: the sign of a zero, or a last digit.

A bitcast shows the sign of a zero, atan2 turns by it, a comparison of two roundings goes by either.
The graph runs again with other signs of the zeros that its ops compute, and where passes may sum in
another order with other last digits of what they compute: an element that one of these runs moves
further than a pass may is decided by none of them. Zeros and digits of inputs stay what they are.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.interpreter import Interpreter, OpImplResult, PythonValues
from xdsl.ir import Attribute, Operation

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.entry import find_function
from gawee_dialect.dialect.graph.cast import BitcastOp
from gawee_dialect.hints import isa
from gawee_dialect.instruments.check.compare import Tolerance, same_values
from gawee_dialect.instruments.check.execute import Engine, Plan, is_array
from gawee_dialect.instruments.check.inputs import SPECIAL, DataSet
from gawee_dialect.instruments.check.rounding import (
    NARROW,
    WIDE,
    LastDigits,
    is_jump,
    run_with,
)
from gawee_dialect.interpreter.arrays import Array, unwritten_memory
from gawee_dialect.interpreter.machine import Machine
from gawee_dialect.interpreter.run import Program
from gawee_dialect.passes.numerics import EXACT, REASSOCIATES

Mask: TypeAlias = NDArray[np.bool_]

TRIES = 8
"""Runs: a tie of two roundings is broken in one of two of them."""

SIGNS = ((1,), (-1,))
"""Which signs zeros may have in the first runs; both in later ones."""


class Undecided(LastDigits):
    """Draws signs of zeros that ops compute, and where digits may move, which way these do."""

    def __init__(self, seed: int, *, digits: bool) -> None:
        super().__init__(seed)
        self._digits = digits
        self._signs = SIGNS[seed] if seed < len(SIGNS) else (1, -1)

    def read(self, op: Operation, inputs: PythonValues) -> PythonValues:
        return inputs if is_jump(op) or not self._digits else super().read(op, inputs)

    def written(self, op: Operation, results: PythonValues) -> PythonValues:
        if isinstance(op, BitcastOp):
            return results
        moves = self._digits and not is_jump(op)
        digits = self.moved(results, WIDE + NARROW) if moves else results
        return tuple(self._signed(each) if is_array(each) else each for each in digits)

    def _signed(self, array: Array) -> Array:
        """Return an array with other signs of zeros: extremes of both zeros may be either."""
        if array.dtype.kind != "f" or array.all():
            return array
        signs = self.random.choice(self._signs, array.shape).astype(array.dtype)
        return np.where(array == 0, np.copysign(array, signs), array)


def undecided(
    module: ModuleOp | None,
    function: str,
    data: DataSet,
    tolerance: Tolerance,
    *,
    digits: bool = True,
) -> Mapping[str, Mask]:
    """Return which elements of outputs no pass decides that keeps to a tolerance, where any are.

    Without `digits` that is by signs of zeros alone. Nothing is said of a module that does not run,
    or is no graph.
    """
    if module is None:
        return {}
    digits &= tolerance.allowed != (EXACT,)
    usual = run_with(module, function, data, None)
    found = {name: np.zeros(array.shape, np.bool_) for name, array in usual.items()}
    for seed in range(TRIES):
        moved = run_with(module, function, data, Undecided(seed, digits=digits))
        for name, array in moved.items():
            found[name] |= tolerance.wrong(array, usual[name])
    return {name: mask for name, mask in found.items() if mask.any()}


def with_undecided(
    outputs: Mapping[str, Array], expected: Mapping[str, Array], masks: Mapping[str, Mask]
) -> Mapping[str, Array]:
    """Return outputs that are what was expected where no pass decides what they are."""
    return {
        name: np.where(masks[name], expected[name], array) if name in masks else array
        for name, array in outputs.items()
    }


def decided(
    module: ModuleOp | None,
    function: str,
    data: DataSet,
    outputs: Mapping[str, Array],
    expected: Mapping[str, Array],
) -> Mapping[str, Array]:
    """Return outputs of a graph that may sum in another order, as expected where none decides."""
    masks = undecided(module, function, data, Tolerance((REASSOCIATES,)))
    return with_undecided(outputs, expected, masks)


def undecided_text(output: str, mask: Mask) -> str:
    """Say how many elements are left out: `2 of 5 elements of 'y' go by ...`."""
    return f"{mask.sum()} of {mask.size} elements of '{output}' go by signs of zeros or last digits"


# Which ops no data reaches: their values could be others, and no output would show it.

MOST_NUMBERS = 2_000_000
"""Numbers times ops of a network that is looked at: it runs once for each op."""


class Change(Interpreter.Listener):
    """Which op's results are others."""

    def __init__(self) -> None:
        self.op: Operation | None = None


class ChangedMachine(Machine):
    """An interpreter in which the results of the op that a `Change` names are others."""

    def _run_op(self, op: Operation, inputs: PythonValues) -> OpImplResult:
        result = super()._run_op(op, inputs)
        if not any(isinstance(each, Change) and each.op is op for each in self.listeners):
            return result
        return OpImplResult(tuple(map(_changed, result.values)), result.terminator_value)


def _changed(value: object) -> object:
    """Return another array: each element is off by one and by its own magnitude."""
    if not is_array(value):
        return value
    if value.dtype.kind == "b":
        return ~value.astype(np.bool_)
    if value.dtype.kind == "f":
        wide = value.astype(np.float64)
        return (wide + 1.0 + np.abs(wide)).astype(value.dtype)
    return (value.astype(np.int64) + 1).astype(value.dtype)


def unreached(
    plans: Mapping[str, Plan], data: Mapping[str, Sequence[DataSet]]
) -> Sequence[Operation]:
    """Return the ops on tensors whose values no output depends on, on none of the data.

    Nothing is said of large networks, and of what does not run in the interpreter.
    """
    return [op for name, plan in plans.items() for op in _unreached(plan, data[name])]


def _unreached(plan: Plan, data: Sequence[DataSet]) -> Iterator[Operation]:
    function = find_function(plan.module, plan.function)
    if plan.engine is not Engine.INTERPRETER or function is None or plan.native:
        return
    ops = [op for op in function.body.block.ops if _makes_tensors(op)]
    numbers = sum(array.size for array in data[0].arrays.values())
    if numbers * len(ops) > MOST_NUMBERS:
        return
    change = Change()
    try:
        program = Program(plan.module, plan.function, (change,), kind=ChangedMachine)
        usual = [_run(program, each) for each in data if each.name != SPECIAL]
    except GaweeError:
        return
    for op in ops:
        change.op = op
        if not any(_differs(program, each, was) for each, was in zip(data, usual, strict=False)):
            yield op


def _makes_tensors(op: Operation) -> bool:
    types = [result.type for result in op.results]
    return any(isa(each, TensorType[Attribute]) for each in types) and op.name != "tensor.empty"


def _run(program: Program, data: DataSet) -> dict[str, Array]:
    with unwritten_memory(data.unwritten):
        return program.run(data.arrays)


def _differs(program: Program, data: DataSet, usual: Mapping[str, Array]) -> bool:
    try:
        outputs = _run(program, data)
    except GaweeError:
        return True  # its operand is out of range, which shows
    return any(not same_values(outputs[name], array).all() for name, array in usual.items())
