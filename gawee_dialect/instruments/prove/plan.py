"""How a function is run on exact numbers, as `check/blame.py` asks for a run."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation

from gawee_dialect.instruments.check.execute import Engine, Plan
from gawee_dialect.instruments.prove.numbers import Numbers
from gawee_dialect.instruments.prove.run import run_exactly
from gawee_dialect.interpreter.arrays import Array


def word_array(value: object) -> Array:
    """Return an integer for every exact number, equal ones for equal numbers; else the array."""
    return np.asarray(value.words() if isinstance(value, Numbers) else value)


class InWords(Interpreter.Listener):
    """Hands on what ops compute to a listener that knows plain arrays alone."""

    def __init__(self, listener: Interpreter.Listener) -> None:
        self._listener = listener

    def will_interpret_op(self, op: Operation, args: PythonValues) -> None:
        self._listener.will_interpret_op(op, _in_words(args))

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        self._listener.did_interpret_op(op, _in_words(results))


def _in_words(values: PythonValues) -> PythonValues:
    return tuple(word_array(each) if isinstance(each, Numbers) else each for each in values)


@dataclass(frozen=True)
class ExactPlan(Plan):
    """A run of the interpreter on exact numbers; its values are their words."""

    seed: int = 0

    def run(self, arguments: Mapping[str, Array]) -> dict[str, Array]:
        """Return the outputs by name, of floats the exact numbers; raises NotProvable."""
        return run_exactly(self.module, arguments, self.function, self.seed)

    def observe(
        self, arguments: Mapping[str, Array], listener: Interpreter.Listener
    ) -> dict[str, Array]:
        return run_exactly(self.module, arguments, self.function, self.seed, (InWords(listener),))


def exact_plan(module: ModuleOp, function: str, seed: int) -> ExactPlan:
    """Plan to run a function of a module, which belongs to the plan from now on."""
    return ExactPlan(Engine.INTERPRETER, module, function, (), seed=seed)
