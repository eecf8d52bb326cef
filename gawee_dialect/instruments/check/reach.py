"""Which ops no data reaches: their values could be others, and no output would show it."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.interpreter import Interpreter, OpImplResult, PythonValues
from xdsl.ir import Attribute, Operation

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.entry import find_function
from gawee_dialect.hints import isa
from gawee_dialect.instruments.check.compare import same_values
from gawee_dialect.instruments.check.execute import Engine, Plan, is_array
from gawee_dialect.instruments.check.inputs import SPECIAL, DataSet
from gawee_dialect.interpreter.arrays import Array, unwritten_memory
from gawee_dialect.interpreter.machine import Machine
from gawee_dialect.interpreter.run import Program

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
        return True  # what it is told is out of range, which shows
    return any(not same_values(outputs[name], array).all() for name, array in usual.items())
