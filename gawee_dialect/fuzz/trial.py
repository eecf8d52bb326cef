"""A module, a pipeline and data: everything that is tried at once, and tried again to reduce it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from gawee_dialect.fuzz.judge import (
    ROUNDING,
    Arrays,
    checked_wrong,
    data_for,
    differing,
    judge,
    passes_of,
    proved_wrong,
    reference,
    rounding_of,
)
from gawee_dialect.fuzz.oracle import Done, Finding, Oracle
from gawee_dialect.fuzz.random_pipeline import Stage


class Origin(Protocol):
    """What a module was read from, and the oracle that runs it."""

    @property
    def kind(self) -> str:
        """Of its findings."""
        ...

    def module(self) -> ModuleOp:
        """Read it; raises GaweeError."""
        ...

    def differs(
        self, module: ModuleOp, arrays: Arrays, expected: Arrays, done: Done
    ) -> Finding | None:
        """Compare what the module computes with what it was read from."""
        ...

    def smaller(self) -> Iterator["Origin"]:
        """Yield what is a step smaller, valid or not."""
        ...

    def files_of_test(self, name: str, trial: "Trial", finding: Finding) -> Mapping[str, bytes]:
        """Return the files of a test that fails as long as it differs, by their names."""
        ...

    def size(self) -> str:
        """Say how large it is."""
        ...


@dataclass(frozen=True)
class Trial:
    """What is tried, and how carefully."""

    module: ModuleOp
    stages: Sequence[Stage]
    data_seed: int
    whole: bool = False
    """Whether data is whole numbers."""
    proved: bool = False
    checked: bool = False
    """Whether every pass is proved, or checked by data, though outputs are equal."""
    oracles: Sequence[Oracle] = ()
    origin: Origin | None = None
    graphs: int = 1
    """How many graphs the module has, which have nothing in common."""

    def find(self, module: ModuleOp, done: Done) -> Finding | None:
        """Return what is wrong with the module, or with one in its place; raises Skipped."""
        with np.errstate(all="ignore"):
            arrays, expected = self._data(module)
            found = self._by_others(module, arrays, expected, done)
            found = found or judge(module, self.stages, arrays, expected, done)
            return found or self._by_pass(module, arrays, done)

    def is_of_origin(self, finding: Finding) -> bool:
        """Whether a finding is of what the module was read from: no other module has it."""
        return self.origin is not None and finding.kind == self.origin.kind

    def differs_from_origin(self) -> Finding | None:
        """Return how the module differs from what it was read from; raises Skipped."""
        if self.origin is None:
            return None
        with np.errstate(all="ignore"):
            return self.origin.differs(self.module, *self._data(self.module), Counter())

    def _data(self, module: ModuleOp) -> tuple[Arrays, Arrays]:
        """Return what a module is run on, and what it computes; raises Skipped."""
        arrays = data_for(module, self.data_seed, whole=self.whole)
        return arrays, reference(module, arrays)

    def _by_pass(self, module: ModuleOp, arrays: Arrays, done: Done) -> Finding | None:
        passes, found = passes_of(self.stages), None
        if self.proved:
            found = proved_wrong(module, passes, arrays)
            done["proved"] += 1
        if self.checked and found is None:
            found = checked_wrong(module, passes, arrays)
            done["checked by data"] += 1
        return found

    def _by_others(
        self, module: ModuleOp, arrays: Arrays, expected: Arrays, done: Done
    ) -> Finding | None:
        if self.origin is not None and module is self.module:
            found = self.origin.differs(module, arrays, expected, done)
            if found is not None:
                return found
        for oracle in self.oracles:
            said = oracle.outputs(module, arrays)
            if said is None:
                continue
            done[oracle.name] += 1
            found = _differs_from(oracle.name, said, module, arrays, expected, done)
            if found is not None:
                return found
        return None


def _differs_from(
    name: str, said: Arrays, module: ModuleOp, arrays: Arrays, expected: Arrays, done: Done
) -> Finding | None:
    """Return what an oracle says otherwise, by more than rounding."""
    said = _of_same_type(said, expected)
    if differing(expected, said) is None:
        return None
    wrong = differing(expected, said, rounding_of(module, arrays))
    if wrong is not None:
        message = f"output {wrong}"
        return Finding(f"not {name}'s", _ops_of(module), message, has_all_ops=True)
    done[ROUNDING] += 1
    return None


def _of_same_type(said: Arrays, expected: Arrays) -> Arrays:
    return {name: each for name, each in said.items() if each.dtype == expected[name].dtype}


def _ops_of(module: ModuleOp) -> str:
    """Return the ops of `@main`: which of them is meant, a reduced module shows."""
    functions = (op for op in module.ops if isinstance(op, FuncOp))
    names = {op.name for each in functions for op in each.body.block.ops}
    return " ".join(sorted(names - {"func.return"}))
