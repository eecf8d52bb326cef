"""A process that compiles for this one, whose threads go on meanwhile.

Passes are Python, of which one thread runs at a time: one that compiles makes all others wait. The
process has a low priority, works on one core, and ends when no graph came for a while.
"""

import atexit
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from select import select

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.backend.packed_program import packed
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.compilation import generic_text, program_of
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.workers.shared_tasks import stay_one_process

NICENESS = 5
"""On two cores that PyTorch keeps busy, its calls then take twice as long, not many times."""

IDLE_SECONDS = 60
"""After so long without a graph the process ends, and gives its memory back."""

LOOK_SECONDS = 0.1
"""How often a thread that waits looks if the interpreter ends."""


class InterpreterEnds(Exception):
    """The interpreter that compiled code is for ends."""


@dataclass(frozen=True)
class Task:
    """A graph to compile."""

    text: str
    options: CodeOptions
    environment: Mapping[str, str]
    """Variables as they are now: they name the cache, and how many threads there are."""


class CompilationProcess:
    """Starts the process where there is none; any number of threads may use it."""

    def __init__(self) -> None:
        self._forget()
        atexit.register(self._end)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        # What this process started is not a forked copy's to talk to.
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def code(self, module: ModuleOp, options: CodeOptions) -> bytes | None:
        """Return a packed program; None where it has to be made here.

        Raises GaweeError where the process crashes, InterpreterEnds where the interpreter ends.
        """
        if sys.platform == "win32":
            return None  # its pipes cannot be waited for
        task = Task(generic_text(module), options, dict(os.environ))
        with self._lock:
            try:
                ended = self._answer(task)
                # It may have ended for idleness just now: then another one takes the task.
                answer = self._answer(task) if ended == 0 else ended
            except OSError:
                return None
            except BaseException:
                self._end()
                raise
        if isinstance(answer, int):
            raise GaweeError(f"the process that compiles ended with status {answer}")
        return answer

    def _answer(self, task: Task) -> bytes | int | None:
        """Return what the process makes of a task, or the status with which it ended."""
        process = self._process = self._process or _started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pickle.dump(task, process.stdin)
            process.stdin.flush()
            while not select([process.stdout], [], [], LOOK_SECONDS)[0]:
                if not threading.main_thread().is_alive():
                    raise InterpreterEnds
            answer: object = pickle.load(process.stdout)
        except (BrokenPipeError, EOFError, pickle.UnpicklingError):
            self._process = None
            return process.wait()
        assert isinstance(answer, bytes | None)
        return answer

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


def _started() -> subprocess.Popen[bytes]:
    start = f"import sys; sys.path[:] = {sys.path}; from {__name__} import serve; serve()"
    return subprocess.Popen(
        [sys.executable, "-c", start],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        process_group=0,  # Ctrl-C is not for it; in another session nice would count for less
    )


def serve() -> None:
    """Answer tasks from standard input on standard output, until none comes for a while."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed is no answer
    os.nice(NICENESS)
    stay_one_process()
    import_module("gawee_dialect.passes.pipelines")  # and so they stay here, for other graphs
    while select([sys.stdin], [], [], IDLE_SECONDS)[0]:
        try:
            task: object = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        assert isinstance(task, Task)
        pickle.dump(_code(task), answers)
        answers.flush()


def _code(task: Task) -> bytes | None:
    from gawee_dialect.frontends.mlir_text import module_of_text

    os.environ.clear()
    os.environ.update(task.environment)
    try:
        program = program_of(module_of_text(task.text), task.options, cache=True)
    except Exception:
        return None  # the parent process reports it: it has the locations too
    return packed(program.code, program.signatures)
