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

import re
import shlex
import shutil
import sys
import traceback
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path
from platform import platform

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.passes.instrument import Instrument
from gawee_dialect.passes.pass_manager import Pipeline, leaf_passes, run_passes
from gawee_dialect.upstream.printing import TextOptions, module_text
from gawee_dialect.upstream.verification import Verification
from gawee_dialect.whole_file import whole_file, write_file

# What a reproducer of a failure consists of, and how it gets onto the disk.

KEPT_FLAGS = ("--verify-each", "--allow-unregistered-dialect")
"""Beginnings of the flags without which a failure may not show, beside those of a check."""

PAGE = "report.html"

INPUTS = "check_inputs"
"""The option that names a file of arrays to check on."""


@dataclass(frozen=True)
class Command:
    """What the tool was called with: its words, and its options for checks (`check_seed: 3`).

    `loaded` are the Python files that `--load` names, and those that they import from beside them.
    """

    words: Sequence[str] = ()
    checks: Mapping[str, object] = field(default_factory=dict[str, object])
    loaded: Sequence[Path] = ()

    def _named(self) -> Iterator[str]:
        for word, following in pairwise((*self.words, "")):
            if word == "--load":
                yield following
            elif word.startswith("--load="):
                yield word.partition("=")[2]

    @property
    def files(self) -> list[Path]:
        """The files that a failure depends on, beside the input."""
        inputs = [Path(str(self.checks[INPUTS]))] if INPUTS in self.checks else []
        return [*self.loaded, *inputs]

    def is_at_fault(self, error: Exception) -> bool:
        """Whether an exception comes from code of a loaded file."""
        loaded = {path.resolve() for path in self.loaded}
        frames = traceback.extract_tb(error.__traceback__)
        return any(Path(frame.filename).resolve() in loaded for frame in frames)

    def load_flags(self, folder: str) -> list[str]:
        """Return the flags that load the same passes, from copies in a folder."""
        return [f"--load={folder}{Path(name).name}" for name in self._named()]

    def flags(self, folder: str) -> list[str]:
        """Return the flags that another run needs, its files being copies in a folder."""
        kept = [word for word in self.words if word.startswith(KEPT_FLAGS)]
        checks: list[str] = []
        for name, value in self.checks.items():
            flag = f"--{name.replace('_', '-')}"
            text = f"{folder}{Path(str(value)).name}" if name == INPUTS else str(value)
            checks.append(flag if value is True else f"{flag}={text}")
        return [*self.load_flags(folder), *kept, *checks]

    def __str__(self) -> str:
        return shlex.join(("gawee-opt", *self.words))


class Kind(StrEnum):
    """How a pass failed."""

    CRASHED = "crashed"
    INVALID = "left a module that does not verify"
    REFUSED = "refused the module"
    CAUGHT = "was stopped by a check of its result"


@dataclass(frozen=True)
class Failure:
    """A pass that failed on a module, with what is left to run, the pass first."""

    error: Exception
    module: ModuleOp
    passes: Sequence[ModulePass]
    kind: Kind

    @property
    def pipeline(self) -> str:
        """The passes as `-p` takes them."""
        return pipeline_text(self.passes)

    @property
    def message(self) -> str:
        """The first line of the error."""
        first = str(self.error).splitlines()[:1]
        if isinstance(self.error, GaweeError) and self.error.diagnostics:
            return self.error.diagnostics[0].message
        return ": ".join((type(self.error).__name__, *first))


def pipeline_text(passes: Sequence[ModulePass]) -> str:
    """Return passes as `-p` takes them."""
    return ",".join(str(each.pipeline_pass_spec()) for each in passes)


def literal_check(text: str) -> str:
    """Return text as a CHECK line matches it: without what starts a pattern."""
    return re.sub(r"[\[{]{2}", lambda found: "".join(f"{{{{\\{c}}}}}" for c in found[0]), text)


def lit_test(failure: Failure, command: Command) -> str:
    """Return a lit test that runs the one pass that failed.

    It expects the message where the pass rejects the module, and a result otherwise.
    """
    flags = shlex.join([*command.flags("%S/"), "-p", pipeline_text(failure.passes[:1])])
    run = f"gawee-opt %s {flags}"
    if failure.kind is Kind.REFUSED:  # which may be right: the test says that it stays so
        lines = [
            f"// RUN: not {run} 2>&1 | filecheck %s",
            f"// CHECK: error: {literal_check(failure.message)}",
        ]
    else:
        names = (op.properties.get("sym_name") for op in failure.module.ops)
        symbols = [name.data for name in names if isinstance(name, StringAttr)]
        lines = [
            f"// RUN: {run} | filecheck %s",
            *(f"// CHECK: @{name}" for name in symbols[:1] or ("",)),
        ]
    return "\n".join((*lines, "", module_text(failure.module, TextOptions())))


def version_lines() -> Iterator[str]:
    """Yield what a failure may depend on: versions of packages, Python and the platform."""
    for package in ("gawee-dialect", "xdsl", "numpy", "llvmlite"):
        try:
            yield f"{package} {version(package)}"
        except PackageNotFoundError:
            yield f"{package} (not installed)"
    yield f"Python {sys.version.split()[0]}"
    yield platform()


def reproducer_files(failure: Failure, command: Command) -> dict[str, str]:
    """Return the files of a reproducer, by name."""
    again = shlex.join([*command.flags(""), "-p", failure.pipeline])
    numeric = ["--numeric"] if failure.kind is Kind.CAUGHT else []
    one_pass = ["-p", pipeline_text(failure.passes[:1]), *numeric]
    smaller = shlex.join([*command.load_flags(""), *one_pass])
    crash = failure.kind is Kind.CRASHED
    trace = traceback.format_exception(failure.error) if crash else [str(failure.error)]
    head = f"pass '{failure.passes[0].name}' {failure.kind}: {failure.message}"
    return {
        "before.mlir": module_text(failure.module, TextOptions()),
        "pipeline.txt": f"{failure.pipeline}\n",
        "error.txt": f"{head}\n\n{''.join(trace)}\n",
        "command.sh": "#!/bin/sh\n"
        f"# What failed, in '{Path.cwd()}':\n#   {command}\n"
        f"# What makes the module small:\n#   gawee-reduce before.mlir {smaller} -o small.mlir\n"
        f"# It fails again from here:\n"
        f'cd "$(dirname "$0")" && gawee-opt before.mlir {again}\n',
        "test.mlir": lit_test(failure, command),
        "versions.txt": "\n".join(version_lines()) + "\n",
    }


def write_folder(
    parent: Path,
    failure: Failure,
    command: Command,
    page: Callable[[], str | None] = lambda: None,
) -> Path:
    """Write a reproducer into a folder of its own, whole or not at all; return its path.

    `page` makes report.html, or nothing. The same failure of the same module has the same folder,
    which is then left as it is.
    """
    files = reproducer_files(failure, command)
    key = "\0".join((files["before.mlir"], failure.pipeline, failure.message, str(command)))
    name = f"gawee-reproducer-{failure.passes[0].name}-{sha256(key.encode()).hexdigest()[:8]}"
    target = parent / name
    if target.exists():
        return target
    parent.mkdir(parents=True, exist_ok=True)
    try:
        with whole_file(target) as draft:
            draft.mkdir()
            for file, text in files.items():
                (draft / file).write_text(text, encoding="utf-8")
            (draft / "command.sh").chmod(0o755)
            drawn = page()
            if drawn is not None:
                (draft / PAGE).write_text(drawn, encoding="utf-8")
            for path in command.files:
                shutil.copy(path, draft / path.name)
    except OSError:
        if not target.exists():  # another process may have written the same one meanwhile
            raise
    return target


def write_test(target: Path, failure: Failure, command: Command) -> Path:
    """Write the lit test alone, as MLIR's flag of that name does; a file there is replaced."""
    target.parent.mkdir(parents=True, exist_ok=True)
    return write_file(target, lit_test(failure, command))


@dataclass
class Reproducer(Instrument):
    """Writes a reproducer of every failure; without a folder or a file, of bugs of gawee alone.

    It may stand anywhere among the instruments: where another one stops the pipeline, it hears of
    it when a report is due.
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
        error = sys.exception()  # the pass manager calls this while it handles it
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
        Verification().verify(module)
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
