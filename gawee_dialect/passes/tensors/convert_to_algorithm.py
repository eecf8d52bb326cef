"""What every pass shares that computes kernels by another algorithm than the one they spell out."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.graph.scan import is_of_one_thread
from gawee_dialect.dialect.kernels.algorithm import Algorithm, Direct
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel
from gawee_dialect.dialect.open_size import is_open
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass
from gawee_dialect.schedules.database import NO_CHOICES, Database, Entry
from gawee_dialect.schedules.keys import algorithm_key
from gawee_dialect.schedules.pass_option import ScheduledPass
from gawee_dialect.schedules.script import Script, behind
from gawee_dialect.target.description import Processor
from gawee_dialect.target.machine import MachinePass


@dataclass(frozen=True)
class Plan:
    """A way to compute a kernel, and the cycles that a model expects all threads to take for it."""

    algorithm: Algorithm
    cycles: float


@dataclass(eq=False)
class ConvertKernel(Pattern, ABC):
    """Replaces a kernel by an op of another algorithm, as a database or else a model says.

    A new algorithm says what it is for (`mismatch`), what there is to choose (`plans`), what it
    would choose (`choose`), and builds its op (`convert`).
    """

    algorithm: ClassVar[type[Algorithm]]

    processor: Processor
    database: Database = NO_CHOICES

    def processor_of(self, op: Operation) -> Processor:
        """Return the processor with as many cores as threads run a kernel."""
        return self.processor.one_core if is_of_one_thread(op) else self.processor

    @abstractmethod
    def mismatch(self, op: KernelOp) -> str | None:
        """Say why a kernel is not one for the algorithm; None where it is."""

    @abstractmethod
    def plans(self, op: KernelOp) -> Iterable[Plan]:
        """Yield the ways to compute a kernel that matches."""

    @abstractmethod
    def choose(self, op: KernelOp) -> Algorithm | None:
        """Return the fastest way by the model; None where the kernel as it is written is."""

    @abstractmethod
    def problem(self, op: KernelOp, algorithm: Algorithm) -> str | None:
        """Say why a kernel that matches cannot be computed as chosen; None where it can."""

    @abstractmethod
    def convert(self, builder: Builder, op: KernelOp, algorithm: Algorithm) -> StructuredKernel:
        """Build what takes the kernel's place, and what it needs before it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: KernelOp, rewriter: PatternRewriter) -> None:
        is_static = not is_open(op.sizes)
        reason = (
            self.mismatch(op) if is_static else "expected sizes that are numbers, got open ones"
        )
        if reason is not None:
            self.missed(op, reason)
            return
        entry = self.database.find(algorithm_key(op), self.processor.cpu) if self.database else None
        chosen = self.choose(op) if entry is None else self._given(op, entry)
        if chosen is None:
            self.missed(op, "expected fewer cycles than the kernel as it is written, got more")
            return
        if not isinstance(chosen, self.algorithm):
            self.missed(op, f"expected '{self.algorithm.name}' to be chosen, got '{chosen}'")
            return
        new = self.convert(rewriter, op, chosen)
        new.target.name_hint = op.target.name_hint
        new.attributes.update(op.attributes)
        rewriter.replace(op, new)

    def _given(self, op: KernelOp, entry: Entry) -> Algorithm | None:
        """Return what the database has for a kernel; raises GaweeError where it doesn't fit."""
        chosen = entry.choice
        hint = f"the choice is that of {entry.place}"
        if isinstance(chosen, Script):
            chosen = self._planned(op, behind(chosen, op, hint).algorithm, hint)
        if not isinstance(chosen, Algorithm):
            return self.choose(op)
        misfit = self.problem(op, chosen) if isinstance(chosen, self.algorithm) else None
        if misfit is not None:
            message = f"cannot be computed by '{chosen.name}' as chosen: {misfit}"
            raise GaweeError(Diagnostic.at(op, message, hint))
        return chosen

    def _planned(self, op: KernelOp, wanted: Mapping[str, object], hint: str) -> Algorithm | None:
        """Return the fastest way by the model that has the numbers of a program's step.

        None where it names no algorithm. Raises GaweeError where there is no such way.
        """
        name = wanted.get("algorithm")
        if name != self.algorithm.name:
            return None if name is None else Direct()
        numbers = {key: value for key, value in wanted.items() if key != "algorithm"}
        if numbers.keys() == {each.name for each in fields(self.algorithm)}:
            return self.algorithm.of_form(wanted)
        plans = sorted(self.plans(op), key=lambda plan: plan.cycles)
        fitting = (plan.algorithm for plan in plans if _has(plan.algorithm, numbers))
        found = next(fitting, None)
        if found is None:
            asked = ", ".join(f"{key}={value}" for key, value in numbers.items())
            message = f"cannot be computed by '{name}': expected one of its plans, got {asked}"
            raise GaweeError(Diagnostic.at(op, message, hint))
        return found


def _has(algorithm: Algorithm, numbers: Mapping[str, object]) -> bool:
    form = algorithm.form()
    return all(form.get(key) == value for key, value in numbers.items())


@dataclass(frozen=True)
class ConvertToAlgorithm(MachinePass, ScheduledPass, RewritePass, ABC):
    """Compute some kernels by another algorithm: the base of the passes that do."""

    conversion: ClassVar[type[ConvertKernel]]
    takes_open_sizes: ClassVar[bool] = True

    def make_patterns(self) -> Sequence[RewritePattern]:
        return [self.conversion(self.processor, self.schedules)]
