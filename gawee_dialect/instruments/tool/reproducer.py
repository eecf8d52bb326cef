"""Make small what a pass of another tool gets wrong: a lit test, and the text of a report."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.instruments.check.compare import Tolerance
from gawee_dialect.instruments.check.each_pass import CheckSettings
from gawee_dialect.instruments.check.execute import Engine
from gawee_dialect.instruments.check.failure import CheckFailure
from gawee_dialect.instruments.tool.check import (
    NAME,
    OPEN_SIZE,
    Checked,
    check_pipeline,
    data_of,
    functions_of,
    memory_of,
    read_by,
    renamed,
    same_outputs,
)
from gawee_dialect.instruments.tool.native import Code, Convention, llvm_of, lower_many, outputs_of
from gawee_dialect.instruments.tool.pipeline import NO_PASS, UNREAD, Tool, read, run_program
from gawee_dialect.interpreter.arrays import Unwritten
from gawee_dialect.passes.numerics import REASSOCIATES
from gawee_dialect.reduce.failure import Failure
from gawee_dialect.upstream.printing import TextOptions, module_text


def prepare(texts: Sequence[str], pipeline: str, tool: Tool, engines: Sequence[str]) -> None:
    """Do for many modules at once what a check `at_once` does for each: it only saves time.

    `engines` are what modules run by, before the pipeline and after it.
    """
    made = tool.run_many(texts, NO_PASS)
    before = [renamed(each, NAME) for each in made if each is not None]
    after = tool.run_many(before, pipeline)
    pairs = [(a, b) for a, b in zip(before, after, strict=True) if b is not None and a != b]
    for index, engine in enumerate(engines):
        if engine == Engine.NATIVE.value:
            lower_many(tool.name, [pair[index] for pair in pairs])


class WrongToolPass(Failure):
    """A pass of another tool that changes what a module computes."""

    verifies: ClassVar[bool] = True

    def __init__(
        self, pipeline: str, tool: Tool, settings: CheckSettings, moves: bool = True
    ) -> None:
        self._pipeline, self._tool, self._settings = pipeline, tool, settings
        self._moves = moves
        """Whether numbers are others, and not a module that runs no more."""
        self._engines: Sequence[str] = ()
        """What the last module that failed ran by, before the pass and after it."""

    def describe(self) -> str:
        return f"'{self._pipeline}' changes outputs"

    def holds(self, module: ModuleOp) -> bool:
        try:
            return self._holds(module)
        except Exception:  # another failure than this one
            return False

    def _holds(self, module: ModuleOp) -> bool:
        text = module_text(module, TextOptions(generic=True))
        before = read_by(self._tool, text)
        after = self._tool.run(before, self._pipeline)
        if after == before:
            return False
        if self._moves and set(self._engines) == {Engine.NATIVE.value}:
            return self._moves_natively(module, before, after)
        found = check_pipeline(text, self._pipeline, self._tool, self._settings)
        if found.failure is None or moves_numbers(found.failure) != self._moves:
            return False
        self._engines = [step.engine for step in found.steps]
        return True

    def _moves_natively(self, module: ModuleOp, before: str, after: str) -> bool:
        """Whether machine code says that numbers are others: what the tool left need not be read.

        Unoptimised and optimised code have to agree on the module before the pass.
        """
        tolerance = Tolerance((REASSOCIATES,), self._settings.rtol, self._settings.atol)
        for function in functions_of(module):
            types, data = function.function_type, data_of(module, function, self._settings.seed)
            convention = Convention(list(types.inputs), list(types.outputs), OPEN_SIZE)
            given, name = len(types.inputs), function.sym_name.data
            old, new = (
                Code(llvm_of(self._tool.name, text), name, convention, given, memory_of(types))
                for text in (before, after)
            )
            others = [replace(each, unwritten=Unwritten.LARGEST) for each in data]
            runs = [(old, data), (replace(old, optimized=True), others), (new, data)]
            expected, again, actual = outputs_of(runs)
            if not same_outputs(expected, again):
                return False
            pairs = [
                pair for pair in zip(expected, actual, strict=True) if [*pair[0]] == [*pair[1]]
            ]
            if any(tolerance.wrong(b[k], a[k]).any() for a, b in pairs for k in a):
                return True
        return False

    def prepare(self, modules: Sequence[ModuleOp]) -> None:
        """Run the tool on all modules at once."""
        texts = [module_text(each, TextOptions(generic=True)) for each in modules]
        prepare(texts, self._pipeline, self._tool, self._engines)


def moves_numbers(failure: CheckFailure) -> bool:
    """Whether a pass left a module that computes something else, and not one that does not run."""
    return failure.differing.expected is not None


class CrashingTool(Failure):
    """A pipeline of another tool that ends badly, and what it says then."""

    verifies: ClassVar[bool] = True

    def __init__(self, pipeline: str, tool: Tool, said: str) -> None:
        self._pipeline, self._tool, self._said = pipeline, tool, said

    def describe(self) -> str:
        return f"'{self._pipeline}' crashes"

    def holds(self, module: ModuleOp) -> bool:
        try:
            self._tool.run(module_text(module, TextOptions(generic=True)), self._pipeline)
        except GaweeError as error:
            return self._said in error.diagnostics[0].message
        return False


def reduced(found: Checked, tool: Tool, settings: CheckSettings, seconds: float) -> Checked:
    """Return what a check finds of a small module which the wrong pass still changes."""
    moves = found.failure is not None and moves_numbers(found.failure)
    small = smaller(found.text, WrongToolPass(found.pipeline, tool, settings, moves), seconds)
    again = check_pipeline(readable(small, tool), found.pipeline, tool, settings)
    return found if again.failure is None else replace(again, text=readable(small, tool))


def readable(text: str, tool: Tool) -> str:
    """Return MLIR text as a tool writes it where it is not told how, as it is where it cannot."""
    try:
        return run_program(tool.name, tool.flags, text)
    except GaweeError:
        return text


def smaller(text: str, failure: Failure, seconds: float) -> str:
    """Return a small module that still fails, as text; the text as it is where none is found."""
    from time import monotonic

    from gawee_dialect.reduce.reducer import Reducer
    from gawee_dialect.universe import make_context

    limit = monotonic() + seconds
    module = read(make_context(allow_unregistered=True), text, NAME)
    if UNREAD in module.attributes or not failure.holds(module):
        return text
    reducer = Reducer(module, failure, lambda step, reducer: None, 60.0, limit)
    small = reducer.reduce()
    if "gawee." not in text:
        for function in (op for op in small.ops if isinstance(op, FuncOp)):
            function.arg_attrs = function.res_attrs = None  # names that reducing gave
    return module_text(small, TextOptions(generic=True))


def lit_test(found: Checked, tool: Tool) -> str:
    """Return a lit test that fails as long as a pass is wrong."""
    command = f"gawee-check %s --tool {tool.name} --pass-pipeline='{found.pipeline}'"
    return f"// RUN: {command}\n\n{found.text.strip()}\n"


def issue_text(found: Checked, tool: Tool) -> str:
    """Return what a report of a wrong pass says, in Markdown."""
    assert found.failure is not None
    name = found.failure.pass_name
    differing = found.failure.differing
    what = f"Expected {differing.expected!s}, got {differing.actual!s}." if differing.op else ""
    lines = (
        f"# `{name}` changes what a program computes",
        "",
        f"{found.failure.diagnostics[0].message} {what}".strip(),
        "",
        "```mlir",
        found.text.strip(),
        "```",
        "",
        f"    {tool.command(found.pipeline)}",
        "",
    )
    return "\n".join(lines)
