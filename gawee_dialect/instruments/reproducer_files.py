"""What a reproducer of a failure consists of, and how it gets onto the disk."""

import re
import shlex
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path
from platform import platform

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.printing import TextOptions, module_text
from gawee_dialect.whole_file import whole_file, write_file

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
        if not target.exists():  # somebody else may have written the same one meanwhile
            raise
    return target


def write_test(target: Path, failure: Failure, command: Command) -> Path:
    """Write the lit test alone, as MLIR's flag of that name does; a file there is replaced."""
    target.parent.mkdir(parents=True, exist_ok=True)
    return write_file(target, lit_test(failure, command))
