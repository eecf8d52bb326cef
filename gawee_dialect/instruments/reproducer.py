"""A folder that shows a failure again: the IR before the pass, the passes left, and a lit test.

    before.mlir    the module before the pass that failed
    pipeline.txt   that pass and those after it, as -p takes them
    error.txt      the message, and the traceback of a crash
    command.sh     the command that failed, the one that fails from before.mlir, one that reduces it
    test.mlir      a lit test: passes when a bug is mended, or now, where the error is a message
    versions.txt   what it ran on
    report.html    what every pass did until one failed, as a page; from gawee-opt alone

Files that the command line names, with `--load` or as inputs of a check, are copied into it. The
module is copied once, before the first pass; the passes before the one that fails are run again.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import GaweeError, verify_module
from gawee_dialect.instruments.reproducer_files import (
    Command,
    Failure,
    Kind,
    write_folder,
    write_test,
)
from gawee_dialect.passes.instrument import Instrument
from gawee_dialect.passes.pass_manager import Pipeline, leaf_passes, run_passes


@dataclass
class Reproducer(Instrument):
    """Writes a reproducer of every failure; without a folder or a file, of bugs of gawee alone.

    It may stand anywhere among the instruments: where another one stops the pipeline, it hears of
    it when it is asked to report.
    """

    folder: Path | None = None
    file: Path | None = None
    command: Command = field(default_factory=Command)
    written: list[Path] = field(default_factory=list[Path])
    problems: list[str] = field(default_factory=list[str])
    page: Callable[[Context, ModuleOp, Sequence[ModulePass]], str] | None = None
    """Makes the page of a folder, of the first module and the passes, the last of which failed."""

    _ctx: Context | None = None
    _module: ModuleOp | None = None
    _passes: Sequence[ModulePass] = ()
    _position: int = -1

    def before_pipeline(self, ctx: Context, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        self._module, self._passes, self._position = None, list(leaf_passes(passes)), -1
        if self._passes:
            self._ctx, self._module = ctx, module.clone()

    def after_pipeline(self, module: ModuleOp) -> None:
        self._module = None

    def before_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        if not isinstance(module_pass, Pipeline):
            self._position += 1

    def pass_failed(self, module_pass: ModulePass, module: ModuleOp) -> None:
        error = sys.exception()  # the pass manager tells us while it handles it
        if isinstance(error, Exception):
            # Of a pass inside a pipeline we hear first; a pipeline alone fails by an instrument.
            nested = isinstance(module_pass, Pipeline)
            self._failed(error, Kind.CAUGHT if nested else _kind(error, module))

    def report(self) -> None:
        error = sys.exception()  # of an instrument, which stopped the pipeline after a pass
        if isinstance(error, Exception) and self._position >= 0:
            self._failed(error, Kind.CAUGHT)
        for path in self.written:
            print(f"note: wrote a reproducer: {path}", file=sys.stderr)
        for problem in self.problems:
            print(f"note: cannot write a reproducer: {problem}", file=sys.stderr)

    def _failed(self, error: Exception, kind: Kind) -> None:
        module, self._module = self._module, None
        asked = self.folder is not None or self.file is not None
        bug = kind is Kind.CRASHED and not self.command.is_at_fault(error)
        if module is None or not (asked or bug):
            return
        start, position = self._replayed(module)
        failure = Failure(error, start, self._passes[position:], kind)
        try:
            if self.file is not None:
                self.written.append(write_test(self.file, failure, self.command))
            if self.folder is not None or self.file is None:
                folder = Path() if self.folder is None else self.folder
                page = partial(self._page, module, self._passes[: self._position + 1])
                self.written.append(write_folder(folder, failure, self.command, page))
        except OSError as problem:
            self.problems.append(str(problem))

    def _page(self, module: ModuleOp, passes: Sequence[ModulePass]) -> str | None:
        if self.page is None or self._ctx is None:
            return None
        try:
            return self.page(self._ctx, module, passes)
        except Exception:
            return None  # what cannot be printed as a page is in the other files

    def _replayed(self, module: ModuleOp) -> tuple[ModuleOp, int]:
        """Return the module before the pass that failed, and the pass's position.

        Where a pass before it does not do the same again, the first module and position 0.
        """
        assert self._ctx is not None
        copy = module.clone()
        try:
            run_passes(self._ctx, copy, self._passes[: self._position])
        except Exception:
            return module, 0
        return copy, self._position


def _kind(error: Exception, module: ModuleOp) -> Kind:
    """Say how a pass failed that left this module behind.

    It left an invalid one where its error is what the verifier says of it.
    """
    if not isinstance(error, GaweeError):
        return Kind.CRASHED
    try:
        verify_module(module)
    except GaweeError as found:
        said = [each.message for each in error.diagnostics]
        if said == [each.message for each in found.diagnostics]:
            return Kind.INVALID
    return Kind.REFUSED


def add_flags(parser: ArgumentParser) -> None:
    """Add `--reproducer-dir` and `--mlir-pass-pipeline-crash-reproducer`."""
    parser.add_argument(
        "--reproducer-dir",
        metavar="DIR",
        help="write a folder in DIR for every failure of a pass: the IR before it, the passes "
        "left, a lit test (default: for bugs of gawee alone, where the tool runs; '' for none)",
    )
    parser.add_argument(
        "--mlir-pass-pipeline-crash-reproducer",
        metavar="FILE",
        help="write the lit test of a failure into FILE",
    )


def from_flags(arguments: Namespace, name: str) -> Sequence[Instrument]:
    """Return the instrument, unless the flag says that it is not wanted."""
    folder: str | None = arguments.reproducer_dir
    file: str | None = arguments.mlir_pass_pipeline_crash_reproducer
    if folder == "" and file is None:
        return ()
    options: Mapping[str, object] = vars(arguments)
    checks = {
        option: value
        for option, value in options.items()
        if option.startswith("check_") and value is not None and options.get("check_each")
    }
    words, loaded = getattr(arguments, "command_line", ()), getattr(arguments, "loaded_files", ())
    command = Command(words, checks, loaded)
    target = None if file is None else Path(file)
    return (Reproducer(Path(folder) if folder else None, target, command),)
