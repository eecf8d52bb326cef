"""What it means that a module fails: an error of a pipeline, or what a script of the user says."""

import os
import re
import signal
import subprocess
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import GaweeError, first_line
from gawee_dialect.frontends.mlir_text import print_mlir
from gawee_dialect.instruments.check.compare import Tolerance
from gawee_dialect.instruments.check.execute import plan_run
from gawee_dialect.instruments.check.functions import overwritten_arguments
from gawee_dialect.instruments.check.inputs import DataSet, arguments_for
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.passes.numerics import REASSOCIATES
from gawee_dialect.passes.pass_manager import run_passes
from gawee_dialect.reduce.draft import reducible_function
from gawee_dialect.universe import make_context


class OutOfTime(BaseException):
    """A test took longer than it may; no `except Exception` of a pass stops it."""


@contextmanager
def time_limit(seconds: float, *, of_processor: bool = False) -> Generator[None]:
    """Raise OutOfTime in the block when it takes longer; where no signals are, it may.

    Time `of_processor` is this process's own: others that take turns with it don't count.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() != threading.main_thread():
        yield
        return

    def stop(signum: int, frame: FrameType | None) -> None:
        raise OutOfTime

    timer, alarm = signal.ITIMER_REAL, signal.SIGALRM
    if of_processor:
        timer, alarm = signal.ITIMER_VIRTUAL, signal.SIGVTALRM
    before = signal.signal(alarm, stop)
    signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(alarm, before)


class Failure(ABC):
    """Something that may be wrong with a module."""

    verifies: ClassVar[bool] = False
    """Whether it verifies modules: those of other tools may have what is not known here."""

    @abstractmethod
    def describe(self) -> str:
        """Say what is wrong."""

    @abstractmethod
    def holds(self, module: ModuleOp) -> bool:
        """Whether it is wrong with this module, which is left as it is."""

    def prepare(self, modules: Sequence[ModuleOp]) -> None:
        """Do together what asking of each module would do alone: it only saves time."""

    def why_not(self, module: ModuleOp) -> str:
        """Say what a module does instead of failing."""
        return f"not that {self.describe()}"


def transformed(module: ModuleOp, passes: Sequence[ModulePass], verify_each: bool) -> ModuleOp:
    """Return a copy of a module after a pipeline; raises what the passes raise."""
    copy = module.clone()
    with redirect_stdout(StringIO()):  # standard output is for the reduced module
        run_passes(make_context(), copy, passes, verify_each=verify_each)
    return copy


@dataclass
class PipelineError(Failure):
    """A pipeline raises, with a certain text in its message, or as it did at first."""

    passes: Sequence[ModulePass]
    wanted: str | None = None
    verify_each: bool = True
    _first: str | None = None

    def describe(self) -> str:
        return self.wanted or self._first or "no error"

    def holds(self, module: ModuleOp) -> bool:
        error = self.error_of(module)
        if error is None:
            return False
        if self.wanted is not None:
            return self.wanted in error_message(error)
        if self._first is None:
            self._first = signature(error)
        return signature(error) == self._first

    def why_not(self, module: ModuleOp) -> str:
        error = self.error_of(module)
        return "no error" if error is None else f"'{error}'"

    def error_of(self, module: ModuleOp) -> Exception | None:
        """Return what the pipeline raises on a module, None where it runs through."""
        try:
            transformed(module, self.passes, self.verify_each)
        except Exception as error:
            return error
        return None


def error_message(error: Exception) -> str:
    """Return all that is said of an error: its type, text and notes."""
    notes = "\n".join(getattr(error, "__notes__", ()))
    return f"{type(error).__name__}: {error}\n{notes}"


def signature(error: Exception) -> str:
    """Return what stays of an error when the module gets smaller.

    For a mistake of the input, the message without numbers; for a crash, where it happened.
    """
    if isinstance(error, GaweeError):
        message = error.diagnostics[0].message if error.diagnostics else ""
        hint = (error.diagnostics[0].hint or "") if error.diagnostics else ""
        plain = re.sub(r"(tensor|memref)<[^>]*>", r"\1<>", f"{message} {hint}".strip())
        return re.sub(r"\d+(x\d+)*(, \d+)*", "#", plain)
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    # xDSL adds the whole module as a note; the pass manager the pass, in one line.
    notes = [note for note in getattr(error, "__notes__", ()) if "\n" not in note.strip()]
    return " ".join((f"{type(error).__name__}{where}", *notes))


@dataclass
class ScriptFailure(Failure):
    """A program, given the path of a module, exits with 0."""

    program: Path
    seconds: float

    def describe(self) -> str:
        return f"{self.program.name} exits with 0"

    def holds(self, module: ModuleOp) -> bool:
        with TemporaryDirectory(prefix="gawee-reduce-") as folder:
            path = Path(folder) / "candidate.mlir"
            path.write_text(print_mlir(module), encoding="utf-8")
            return self._run(path) == 0

    def why_not(self, module: ModuleOp) -> str:
        return f"another exit code than 0 of {self.program.name}"

    def _run(self, path: Path) -> int:
        command = [str(self.program), str(path)]
        try:
            with open(os.devnull, "wb") as nowhere:
                return subprocess.run(
                    command, stdout=nowhere, stderr=nowhere, timeout=self.seconds, check=False
                ).returncode
        except subprocess.TimeoutExpired:
            return 1
        except OSError as error:
            raise GaweeError(f"cannot run '{self.program}': {first_line(error)}") from error


# The failure of a wrong pass: outputs differ before and after it, on seeded data.


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
