"""How a function is run on exact numbers, by the interface of `check/blame.py`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from xdsl.dialects import llvm
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.interpreter import Interpreter
from xdsl.utils.hints import isa

from gawee_dialect.dialect.entry import find_function
from gawee_dialect.instruments.check.execute import Engine, Plan
from gawee_dialect.instruments.check.inputs import DataSet
from gawee_dialect.instruments.prove.degrees import Counts, Degrees, degrees_of
from gawee_dialect.instruments.prove.known import KnownOps
from gawee_dialect.instruments.prove.lowered import Piece, is_of_loops, lowered, pieces_of
from gawee_dialect.instruments.prove.numbers import Numbers
from gawee_dialect.instruments.prove.residues import computed_by, primes
from gawee_dialect.instruments.prove.run import drawn, exact, plain, run_exactly
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
        outputs = run_natively(self.module, [*self.pieces.values()], exact, self.function)
        return [
            {**{name: given[name] for name in self.overwritten}, **each}
            for given, each in zip(exact, outputs, strict=True)
        ]

    @cached_property
    def pieces(self) -> Mapping[bytes, Piece]:
        """What runs natively, by digests of the ops of the module; nothing that is interpreted."""
        return pieces_of(self.module) if self.engine is Engine.NATIVE else {}

    def computes_as(self, other: "ExactPlan") -> bool:
        """Whether machine code of both does the same."""
        code, known = (
            {key for each in plan.pieces.values() for key in each.ops} for plan in (self, other)
        )
        return bool(code) and code == known

    def same_functions(self, other: "ExactPlan") -> set[str]:
        """Return the names of functions that say the same of what runs natively."""
        ops = [
            op for op, key in zip(self.module.ops, self.pieces, strict=False) if key in other.pieces
        ]
        return {op.sym_name.data for op in ops if isinstance(op, FuncOp | llvm.FuncOp)}

    def degrees(self, data: DataSet) -> Degrees:
        """Run on a data set, and count the degrees of what is returned (`degrees.py`)."""
        arrays = {name: plain(each) for name, each in data.arrays.items()}
        with computed_by(Counts(primes())):
            (outputs,) = self.run([replace(data, arrays=arrays)])
        return degrees_of(outputs.values())

    def observe(self, data_sets: Sequence[DataSet], listener: Interpreter.Listener) -> None:
        module, calls = self.module, ()
        if self.kernels is not None:
            from gawee_dialect.instruments.prove.native.run import ExactCalls

            module, calls = self.kernels, (ExactCalls(self.kernels),)
        for index, each in enumerate(data_sets):
            seed = self.seed + index
            run_exactly(module, each.arrays, self.function, seed, (listener,), calls)

    @property
    def machine_code(self) -> ModuleOp:
        return lowered(self.module)

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
    """Plan to run a function of a module, which belongs to the plan from now on."""
    if not is_of_loops(module):
        return ExactPlan(Engine.INTERPRETER, module, function, (), seed=seed, known=known)
    kernels = module if _is_made_of_calls(module, function) else None
    return ExactPlan(Engine.NATIVE, module, function, overwritten, kernels, seed=seed)


def _is_made_of_calls(module: ModuleOp, name: str) -> bool:
    """Whether all that a function computes is done by kernels, which can be called one by one."""
    function = find_function(module, name)
    if function is None or len(function.body.blocks) != 1:
        return False
    ops = list(function.body.block.ops)
    calls = [op for op in ops if isinstance(op, CallOp)]
    on_buffers = all(isa(value.type, MemRefType) for op in calls for value in op.arguments)
    return on_buffers and not any(op.regions for op in ops)
