"""Random programs through random passes of another tool: what was tried, and what is wrong."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from random import Random
from time import time

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.oracle import Done, Finding
from gawee_dialect.fuzz.session import Tried
from gawee_dialect.fuzz.tool_pipelines import PASSES, random_pipeline
from gawee_dialect.fuzz.tool_programs import Program
from gawee_dialect.instruments.check.each_pass import CheckSettings
from gawee_dialect.instruments.check.execute import Engine
from gawee_dialect.instruments.tool.check import check_pipeline, whole
from gawee_dialect.instruments.tool.pipeline import Tool, pass_of, split_pipeline
from gawee_dialect.instruments.tool.reproducer import (
    CrashingTool,
    issue_text,
    lit_test,
    prepare,
    readable,
    reduced,
    smaller,
)
from gawee_dialect.reduce.failure import OutOfTime, time_limit
from gawee_dialect.whole_file import write_file

WRONG, CRASH = "wrong", "crash"
REFUSED, UNLOCATED, SLOW = "refused", "not located", "too slow"
"""What is counted, and is no finding: a pass may refuse what it was not made for."""

SECONDS = 60.0
"""Of a program and its pipeline, by the clock."""

SECONDS_TO_REDUCE = 40.0

SPAN = 20
"""Trials of one process: each runs the tool some times."""


@dataclass(frozen=True)
class ToolTask:
    """Some trials: their numbers, and until what time of day."""

    numbers: range
    until: float

    @property
    def begun(self) -> int | None:
        """What began last is not known: a process that dies has its trials halved."""
        return None


@dataclass(frozen=True)
class ToolSession:
    """Trials that a seed and a number say all of: a program, and a pipeline of the tool."""

    tool: Tool
    seed: int = 0
    passes: str | None = None
    """The pipeline of all programs; random ones where there is none."""

    kinds: Sequence[type[Program]] = tuple(PASSES)

    def trial(self, number: int) -> tuple[str, str, str]:
        """Return what is drawn, a program and a pipeline."""
        draw = Draw(Random(f"{self.seed} {number}"))
        kind = draw.one_of(self.kinds)
        text = kind(draw).text()
        return kind.what, text, self.passes or random_pipeline(draw, kind)

    def run(self, task: ToolTask) -> Tried:
        """Try some numbers."""
        tried = Tried()
        if self.passes is not None:
            texts = [self.trial(number)[1] for number in task.numbers]
            prepare(texts, whole(self.passes), self.tool, 2 * [Engine.NATIVE.value])
        for number in task.numbers:
            if time() >= task.until:
                break
            what, text, pipeline = self.trial(number)
            tried.drawn[what] += 1
            try:
                with time_limit(SECONDS):
                    found = self._found(text, pipeline, tried.done)
            except OutOfTime:
                tried.done[SLOW] += 1
                continue
            if found is not None:
                tried.add(number, found)
        return tried

    def _found(self, text: str, pipeline: str, done: Done) -> Finding | None:
        try:
            found = check_pipeline(text, pipeline, self.tool, at_once=True)
            if found.failure is None:
                unchecked = sum("not run" in step.note for step in found.steps[1:])
                done["not run" if unchecked else "the same"] += 1
                return None
            found = check_pipeline(text, pipeline, self.tool)
        except GaweeError as error:
            return self._refusal(error, done)
        if found.failure is None:
            done[UNLOCATED] += 1
            return None
        done[WRONG] += 1
        failure = found.failure
        return Finding(WRONG, failure.pass_name, failure.diagnostics[0].message)

    def _refusal(self, error: GaweeError, done: Done) -> Finding | None:
        message = error.diagnostics[0].message
        if "a crash" not in message or not message.startswith("pass '"):
            done[REFUSED] += 1
            return None
        done[CRASH] += 1
        return Finding(CRASH, message.partition("a crash: ")[2], message)

    # What is made of findings.

    def write(self, number: int, finding: Finding, folder: Path) -> Sequence[Path]:
        """Make a finding small, and write a test and the text of a report; returns the files."""
        _, text, pipeline = self.trial(number)
        found = None if finding.kind == CRASH else check_pipeline(text, pipeline, self.tool)
        if found is None or found.failure is None:
            test, issue = self._crash(text, pipeline, finding)
        else:
            small = reduced(found, self.tool, CheckSettings(), SECONDS_TO_REDUCE)
            test, issue = lit_test(small, self.tool), issue_text(small, self.tool)
        name = f"{finding.kind}_{sha256(finding.cause.encode()).hexdigest()[:10]}"
        files = folder / f"{name}.mlir", folder / f"{name}.md"
        folder.mkdir(parents=True, exist_ok=True)
        for path, said in zip(files, (test, issue), strict=True):
            write_file(path, said.encode())
        return files

    def _crash(self, text: str, pipeline: str, finding: Finding) -> tuple[str, str]:
        """Return a test and a report of a pass that crashes, of the whole pipeline if none does."""
        before = text = self.tool.run(text, "builtin.module()")
        alone = pipeline
        for each in split_pipeline(pipeline):
            try:
                text = self.tool.run(text, each)
            except GaweeError:
                before, alone = text, each
                break
        crash = CrashingTool(alone, self.tool, finding.cause)
        small = readable(smaller(before, crash, SECONDS_TO_REDUCE), self.tool)
        lines = (f"# `{pass_of(alone)}`: {finding.kind}", "", finding.message, "", "```mlir")
        report = (*lines, small.strip(), "```", "", f"    {self.tool.command(alone)}", "")
        test = f"// RUN: {self.tool.name} %s --pass-pipeline='{alone}'\n\n{small.strip()}\n"
        return test, "\n".join(report)
