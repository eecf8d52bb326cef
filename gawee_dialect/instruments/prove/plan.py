"""How a function is run on exact numbers, by the interface of `check/blame.py`."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import CallOp
from xdsl.interpreter import Interpreter
from xdsl.utils.hints import isa

from gawee_dialect.dialect.entry import find_function
from gawee_dialect.instruments.check.execute import Engine, Plan
from gawee_dialect.instruments.check.inputs import DataSet
from gawee_dialect.instruments.prove.degrees import Degrees, degrees_of
from gawee_dialect.instruments.prove.known import KnownOps
from gawee_dialect.instruments.prove.lowered import is_of_loops, lowered
from gawee_dialect.instruments.prove.numbers import Numbers
from gawee_dialect.instruments.prove.residues import counting
from gawee_dialect.instruments.prove.run import drawn, exact, run_exactly
from gawee_dialect.interpreter.arrays import Array


def word_array(value: object) -> Array:
    """Return an integer for every exact number, equal ones for equal numbers; else the array."""
    return np.asarray(value.words() if isinstance(value, Numbers) else value)


@dataclass(frozen=True)
class ExactPlan(Plan):
    """A run on exact numbers; its values are their words."""

    seed: int = 0
    """Of the first data set; each further one has the next seed."""

    known: KnownOps | None = None
    """What other modules computed before."""

    def run(self, data_sets: Sequence[DataSet]) -> Sequence[dict[str, Array]]:
        """Return the outputs by name, of floats the exact numbers; raises NotProvable."""
        seeded = [(each.arrays, self.seed + index) for index, each in enumerate(data_sets)]
        if self.engine is Engine.INTERPRETER:
            return [
                run_exactly(self.module, each, self.function, seed, known=self.known)
                for each, seed in seeded
            ]
        # LLVM is loaded for loops alone.
        from gawee_dialect.instruments.prove.native.run import run_natively

        exact = [
            {name: drawn(array, seed) for name, array in each.items()} for each, seed in seeded
        ]
        outputs = run_natively(self.module.clone(), exact, self.function)
        return [
            {**{name: given[name] for name in self.overwritten}, **each}
            for given, each in zip(exact, outputs, strict=True)
        ]

    def degrees(self, data: DataSet) -> Degrees:
        """Run on a data set, and count the degrees of what is returned (`degrees.py`)."""
        with counting():
            (outputs,) = self.run([data])
        return degrees_of(outputs.values())

    def observe(self, data_sets: Sequence[DataSet], listener: Interpreter.Listener) -> None:
        module, calls = self.module, ()
        if self.kernels is not None:
            from gawee_dialect.instruments.prove.native.run import ExactCalls

            module, calls = self.kernels, (ExactCalls(self.kernels),)
        for index, each in enumerate(data_sets):
            seed = self.seed + index
            run_exactly(module, each.arrays, self.function, seed, (listener,), calls)

    def recorded(self, value: object) -> Array | None:
        array = super().recorded(value)
        return word_array(value) if array is None else word_array(exact(array))


def exact_plan(
    module: ModuleOp,
    function: str,
    seed: int,
    overwritten: tuple[str, ...] = (),
    known: KnownOps | None = None,
) -> ExactPlan:
    """Plan to run a function of a module, which belongs to the plan from now on.

    Raises NotProvable where it has loops that cannot be made machine code.
    """
    if not is_of_loops(module):
        return ExactPlan(Engine.INTERPRETER, module, function, (), seed=seed, known=known)
    kernels = module if _is_made_of_calls(module, function) else None
    native = lowered(module)
    return ExactPlan(Engine.NATIVE, native, function, overwritten, kernels, seed=seed)


def _is_made_of_calls(module: ModuleOp, name: str) -> bool:
    """Whether all that a function computes is done by kernels, which can be called one by one."""
    function = find_function(module, name)
    if function is None or len(function.body.blocks) != 1:
        return False
    ops = list(function.body.block.ops)
    calls = [op for op in ops if isinstance(op, CallOp)]
    on_buffers = all(isa(value.type, MemRefType) for op in calls for value in op.arguments)
    return on_buffers and not any(op.regions for op in ops)
