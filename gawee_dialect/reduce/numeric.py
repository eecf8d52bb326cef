"""The failure of a wrong pass: outputs differ before and after it, on seeded data."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.instruments.check.compare import Tolerance
from gawee_dialect.instruments.check.execute import plan_run
from gawee_dialect.instruments.check.functions import overwritten_arguments
from gawee_dialect.instruments.check.inputs import DataSet, arguments_for
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.passes.numerics import REASSOCIATES
from gawee_dialect.reduce.draft import reducible_function
from gawee_dialect.reduce.failure import Failure, transformed


@dataclass
class NumericDifference(Failure):
    """What a function returns is another after a pipeline, by more than reassociation explains.

    It runs as `--check-each` runs it: on the same data, with the same tolerance.
    """

    passes: Sequence[ModulePass]
    seed: int = 0
    rtol: float | None = None
    atol: float | None = None
    verify_each: bool = True

    def describe(self) -> str:
        return "outputs differ"

    def holds(self, module: ModuleOp) -> bool:
        try:
            return self.differs(module)
        except Exception:  # another failure than this one
            return False

    def why_not(self, module: ModuleOp) -> str:
        try:
            self.differs(module)
        except Exception as error:
            return f"'{error}'"
        return "equal outputs"

    def differs(self, module: ModuleOp) -> bool:
        """Say whether outputs differ; raises what the passes raise, and CannotRun."""
        function = reducible_function(module)
        if function is None:
            return False
        name = function.sym_name.data
        overwritten = overwritten_arguments(module, name)
        data = (DataSet(arguments_for(module, [name], self.seed, {})[name]),)
        (before,) = plan_run(module.clone(), name, overwritten).run(data)
        lowered = transformed(module, self.passes, self.verify_each)
        (after,) = plan_run(lowered, name, overwritten).run(data)
        if list(before) != list(after):
            return True
        return any(self._wrong(after[name], before[name]) for name in before)

    def _wrong(self, actual: Array, expected: Array) -> bool:
        if actual.shape != expected.shape or actual.dtype != expected.dtype:
            return True
        tolerance = Tolerance((REASSOCIATES,), self.rtol, self.atol)
        return bool(np.any(tolerance.wrong(actual, expected)))
