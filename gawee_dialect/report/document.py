"""The documented JSON of a report; docs/report.md describes it."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from typing import TYPE_CHECKING

from gawee_dialect.instruments.prove.each import Verdict
from gawee_dialect.report.recording import Recording, current_errors, error_json
from gawee_dialect.report.snapshot import Json

if TYPE_CHECKING:
    from gawee_dialect.frontends.coverage import CoverageReport
    from gawee_dialect.instruments.check.failure import CheckStep
    from gawee_dialect.instruments.profile import NodeTime
    from gawee_dialect.instruments.prove.each import ProofStep
    from gawee_dialect.target.description import Processor

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
        from gawee_dialect.report.page import html_text

        return html_text(self)

    def _repr_html_(self) -> str:
        from gawee_dialect.report.page import inline_html

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
