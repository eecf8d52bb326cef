"""gawee-opt --watch: run again when a file is saved, and show what became different."""

import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import RewritePattern

from gawee_dialect.instruments.ir_diff import print_diff
from gawee_dialect.passes.instrument import Instrument
from gawee_dialect.tools.command_line import DONE, error_text

INTERVAL = 0.2
"""Seconds between two looks at the files."""

Stamp = tuple[int, int, int] | None


class Hits(Instrument):
    """Counts how often each pattern fired in each pass."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._running: list[str] = []

    def before_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self._running.append(module_pass.name)

    def after_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self._running.pop()

    def pass_failed(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self._running.pop()

    def pattern_fired(self, pattern: RewritePattern, op_name: str) -> None:
        self.counts[f"{self._running[-1]}: {type(pattern).__name__}"] += 1


def stamp(path: Path) -> Stamp:
    """Return what changes when a file is saved, None while it does not exist."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def stamps(paths: Iterable[Path]) -> dict[Path, Stamp]:
    """Return the stamps of files."""
    return {path: stamp(path) for path in paths}


@dataclass
class Watch:
    """Runs a tool, and runs it again whenever one of its files is saved.

    `run` returns the output, and may add to `files` what it has found that it depends on; what it
    raises is printed, and watching goes on.
    """

    prog: str
    run: Callable[[Hits], str]
    files: set[Path]
    print_first: bool = True
    sleep: Callable[[float], None] = time.sleep
    _runs: int = field(default=0, init=False)
    _output: str | None = field(default=None, init=False)
    _counts: Counter[str] = field(default_factory=Counter[str], init=False)
    _interrupted: bool = field(default=False, init=False)

    def loop(self, runs: int | None = None) -> int:
        """Run, wait, run again, until Ctrl-C or some number of runs; return the exit code."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._interrupt)
        try:
            saved: Iterable[Path] = ()
            while True:
                seen = stamps(self.files)
                self._run_once(saved)
                if self._runs == runs:
                    return DONE
                seen = {**stamps(self.files), **seen}
                saved = self._wait(seen)
        except KeyboardInterrupt:
            return DONE
        finally:
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGINT, signal.default_int_handler)

    def _interrupt(self, *_: object) -> None:
        self._interrupted = True  # an import or a callback of C may swallow what is raised there
        raise KeyboardInterrupt

    def _wait(self, seen: Mapping[Path, Stamp]) -> list[Path]:
        """Return the files that were saved, once all are there and none is being written."""
        now = stamps(seen)
        while True:
            if self._interrupted:
                raise KeyboardInterrupt
            self.sleep(INTERVAL)
            before, now = now, stamps(seen)
            saved = [path for path in seen if now[path] != seen[path]]
            if saved and now == before and None not in now.values():
                return saved

    def _run_once(self, saved: Iterable[Path]) -> None:
        self._runs += 1
        names = ", ".join(sorted(path.name for path in saved))
        print(f"// run {self._runs}" + (f": {names} saved" if names else ""), flush=True)
        hits = Hits()
        try:
            output = self.run(hits)
        except Exception as error:
            print(error_text(self.prog, error), file=sys.stderr, flush=True)
            return
        if self._output is None:
            print(output if self.print_first else "", end="")
            self._counts = hits.counts
        else:
            self._show_difference(self._output, output)
        self._output = output
        self._show_counts(hits.counts)
        sys.stdout.flush()

    def _show_difference(self, before: str, output: str) -> None:
        names = ("the output before", "the output now")
        if not print_diff(before, output, names, sys.stdout):
            print("// the output is what it was")

    def _show_counts(self, counts: Counter[str]) -> None:
        before, self._counts = self._counts, counts
        for name in {**counts, **before}:
            was = (
                "" if before[name] == counts[name] or self._runs == 1 else f" (was {before[name]})"
            )
            print(f"// {name} fired {counts[name]}{was}")
