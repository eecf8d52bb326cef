"""A report as documented JSON (docs/report.md), and as one HTML file that needs no network.

Names from files are data. The script puts them into the page as text, and in the file itself no
`<` stands in them but before a digit, so that nothing can end the element that holds the data. The
content security policy allows our own script and style, by their hashes, and nothing else.

Most lines of text are in many levels, passes and diffs. The page has each once, in one table, and
texts as numbers of lines (`LineTable`).
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from html import escape
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from itertools import count
from typing import TYPE_CHECKING

from gawee_dialect.code_options import CodeOptions
from gawee_dialect.instruments.prove.each import Verdict
from gawee_dialect.levels import Level
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.pass_manager import run_pipeline
from gawee_dialect.report.drawing import Drawing
from gawee_dialect.report.recording import (
    AssemblyJson,
    PassJson,
    Recording,
    current_errors,
    error_json,
)
from gawee_dialect.report.snapshot import Json, LevelJson, OriginJson, StepJson
from gawee_dialect.universe import make_context

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

    from gawee_dialect.frontends.coverage import CoverageReport
    from gawee_dialect.instruments.check.failure import CheckStep
    from gawee_dialect.instruments.profile import NodeTime
    from gawee_dialect.instruments.prove.each import ProofStep
    from gawee_dialect.model import Model
    from gawee_dialect.parameters.given_inputs import Inputs
    from gawee_dialect.target.description import Processor


def html_text(report: "Report") -> str:
    """Return the page of a report, which is the same for the same run but for its times."""
    recording = report.recording
    table = LineTable()
    steps = drawings_json(recording.levels, recording.steps, recording.origins.to_json(), table)
    packed = {
        **report.to_json(),
        "levels": [_packed_level(each, table) for each in recording.levels],
        "passes": [_packed_pass(each, table) for each in recording.passes],
        "assembly": _packed_assembly(recording.assembly, table),
    }
    return page_text(
        "page",
        f"{report.tool}: {report.input}",
        style=("page.css",),
        script=("elements.js", "pictures.js", "page.js"),
        data={"report": packed, "drawings": {**steps, "lines": table.lines}},
    )


class LineTable:
    """Lines of text, each once, in the order in which they are met first."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    @property
    def lines(self) -> list[str]:
        """All lines; the number of a line is its position."""
        return list(self._numbers)

    def numbers(self, lines: Iterable[str]) -> list[int]:
        """Return lines by number; `-n` stands for the n numbers that follow the one before it."""
        found: list[int] = []
        last = -1
        for line in lines:
            number = self._numbers.setdefault(line, len(self._numbers))
            if not found or number != last + 1:
                found.append(number)
            elif found[-1] < 0:
                found[-1] -= 1
            else:
                found.append(-1)
            last = number
        return found


def _packed_level(level: LevelJson, table: LineTable) -> Json:
    """Return a level with the texts of its functions by numbers of lines."""
    functions = [
        {**each, "text": table.numbers(each["text"].split("\n"))} for each in level["functions"]
    ]
    return {**level, "functions": functions}


def _packed_pass(each: PassJson, table: LineTable) -> Json:
    """Return a pass with the signs of its diffs' lines (`+`, `-`), and numbers of the rest."""
    diffs = [
        {
            **diff,
            "signs": "".join(line[:1] or " " for line in diff["lines"]),
            "lines": table.numbers(line[1:] for line in diff["lines"]),
        }
        for diff in each["diff"]
    ]
    return {**each, "diff": diffs}


def _packed_assembly(
    assembly: Sequence[AssemblyJson] | None, table: LineTable
) -> list[Json] | None:
    if assembly is None:
        return None
    return [{**each, "lines": table.numbers(each["lines"])} for each in assembly]


def page_text(
    name: str,
    title: str,
    *,
    style: Sequence[str],
    script: Sequence[str],
    data: Mapping[str, Mapping[str, object]],
) -> str:
    """Return the page that `NAME.html` is the frame of, with its style, script and data."""
    style_text, script_text = "".join(map(_part, style)), "".join(map(_part, script))
    policy = (
        f"default-src 'none'; script-src {_hash(script_text)}; style-src {_hash(style_text)}; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": policy,
        "title": escape(title),
        "style": style_text,
        "script": script_text,
        **{key: _data(value) for key, value in data.items()},
    }
    # Split, not replaced: what is filled in may hold such a mark itself.
    pieces = _part(f"{name}.html").split("@")
    return "".join(parts.get(piece, piece) if at % 2 else piece for at, piece in enumerate(pieces))


def inline_html(report: "Report", height: int = 640) -> str:
    """Return the page of a report in a frame of its own, `height` pixels high, for notebooks."""
    # The frame has no rights but to run the script of the page.
    return (
        f'<iframe srcdoc="{escape(html_text(report))}" sandbox="allow-scripts" '
        f'style="width:100%;height:{height}px;border:1px solid #8886"></iframe>'
    )


def drawings_json(
    levels: Sequence[LevelJson],
    steps: Sequence[StepJson],
    origins: Sequence[OriginJson],
    table: LineTable,
) -> Json:
    """Return the boxes of all levels and steps, and the number of the box that each is."""
    drawing = Drawing(origins)
    roots = [drawing.level(each["level"], each["functions"]) for each in levels]
    drawn = [
        {
            "pass": step["number"],
            "root": drawing.level(step["level"], step["functions"], is_kept=False),
            "functions": [
                {
                    "name": each["name"],
                    "lines": table.numbers(each["text"].split("\n")),
                    "ops": [[*op["lines"], op["sources"]] for op in each["ops"]],
                }
                for each in step["functions"]
            ],
        }
        for step in steps
    ]
    return {"boxes": drawing.boxes, "roots": roots, "steps": drawn}


def _part(name: str) -> str:
    return (files("gawee_dialect.report") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _data(value: Mapping[str, object]) -> str:
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    # What a `<` and a digit begin is no markup, and each type of a tensor has them.
    return re.sub(r"<(?!\d)", r"\\u003c", text)


SCHEMA_VERSION = 1
PACKAGES = ("gawee-dialect", "xdsl", "numpy", "llvmlite")


@dataclass
class Report:
    """What one run of a tool did: the words it was called with, and what was recorded of it."""

    tool: str
    words: Sequence[str]
    input: str
    recording: Recording = field(default_factory=Recording)
    checks: "Sequence[CheckStep] | None" = None
    """What `--check-each` found: for the module as it was read, then for every pass."""

    proofs: "Sequence[ProofStep] | None" = None
    """What `--prove-each` found: for the module as it was read, then for every pass."""

    first_proved: int = 0
    """The number of the first pass that is proved; those before it are not."""

    coverage: "CoverageReport | None" = None
    """What of the graph can go through, where that is computed."""

    profile: "Sequence[NodeTime] | None" = None
    processor: "Processor | None" = None

    @property
    def has_begun(self) -> bool:
        """Whether a module was read, so that there is something to report."""
        return bool(self.recording.levels)

    def html(self) -> str:
        """Return the page."""

        return html_text(self)

    def _repr_html_(self) -> str:

        return inline_html(self)

    def to_json(self) -> Json:
        """Return the document; it is the same for the same run but for `times`.

        While an exception is handled, it is the error that ended the run.
        """
        recording = self.recording
        problems = () if self.coverage is None else self.coverage.problems
        return {
            "schema": "gawee-report",
            "version": SCHEMA_VERSION,
            "tool": tool_json(self.tool, self.words),
            "input": self.input,
            "errors": [*current_errors(), *map(error_json, problems)],
            "levels": recording.levels,
            "passes": recording.passes,
            "checks": None if self.checks is None else list(map(_check, self.checks)),
            "proofs": None if self.proofs is None else list(self._proofs(self.proofs)),
            "assembly": recording.assembly,
            "coverage": None if self.coverage is None else list(self._coverage(self.coverage)),
            "origins": recording.origins.to_json(),
            "times": {
                "passes": recording.seconds,
                "checks": [step.seconds for step in self.checks or ()],
                "proofs": [step.seconds for step in self.proofs or ()],
                "profile": None if self.profile is None else list(self._profile()),
                "processor": None if self.processor is None else self.processor.summary(),
                "limits": None if self.processor is None else _limits(self.processor),
            },
        }

    def _coverage(self, coverage: "CoverageReport") -> Iterator[Json]:
        for each in coverage.nodes:
            yield {
                "source": self.recording.origins.number((each.name or None, None)),
                "verdict": each.verdict.value,
                "op": each.op,
                "notes": list(each.notes),
            }

    def _proofs(self, proofs: "Sequence[ProofStep]") -> Iterator[Json]:
        passes = count(self.first_proved)
        for step in proofs:
            yield {
                "pass": step.name,
                "number": None if step.verdict is Verdict.RUN else next(passes),
                "verdict": step.verdict.value,
                "checked": step.is_checked,
                "note": step.note,
            }

    def _profile(self) -> Iterator[Json]:
        assert self.profile is not None
        for time in self.profile:
            limit = None if self.processor is None else time.limit(self.processor)
            yield {
                "node": time.node,
                "place": time.place,
                "kernel": time.what,
                "calls": time.calls,
                "within": time.within,
                "milliseconds": time.seconds * 1e3,
                "limit_milliseconds": None if limit is None else limit.seconds * 1e3,
                "bound": None if limit is None else limit.bound,
                "flops": None if time.work is None else time.work.flops,
                "bytes": None if time.work is None else time.work.bytes,
            }


def json_text(document: Json) -> str:
    """Return the document as text; numbers that JSON does not have are null."""
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def tool_json(name: str, words: Sequence[str]) -> Json:
    """Return which tool made a document, of which words and versions."""
    packages = {package: _version(package) for package in PACKAGES}
    return {"name": name, "arguments": list(words), "packages": packages}


def finite(number: float) -> float | None:
    """Return a number as JSON has it: None for NaN and infinity."""
    return float(number) if abs(number) < float("inf") else None


def _limits(processor: "Processor") -> Json:
    return {
        "flops_per_second": processor.flops(),
        "memories": [
            {"name": each.name, "bytes": each.size, "bytes_per_second": each.bandwidth}
            for each in processor.memories
        ],
    }


def _check(step: "CheckStep") -> Json:
    return {
        "pass": step.name,
        "numerics": step.declared,
        "engine": step.engine,
        "absolute": finite(step.absolute),
        "relative": finite(step.relative),
        "ulp": step.ulp,
        "note": step.note,
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def report_of_model(
    model: "Model",
    level: Level,
    options: CodeOptions | None,
    passes: "Sequence[ModulePass]",
    inputs: "Inputs | None",
) -> Report:
    """Take a copy through passes, then lower it to a level; with inputs, time the nodes there."""
    from gawee_dialect.target.description import HOST
    from gawee_dialect.target.machine import find_processor

    report = Report("python", (), model.name)
    copy = replace(model, module=model.module.clone())
    report.recording.start(copy.module)
    with instrumented(report.recording):
        if passes:
            run_pipeline(make_context(), copy.module, passes)
        copy.lowered(level, options)
    if inputs is not None:
        report.profile = copy.profile(inputs, level, options)
        report.processor = find_processor(HOST)
    return report
