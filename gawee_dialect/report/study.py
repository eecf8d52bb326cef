"""A study as a report: its table, the ratios to its baseline and the times of every round."""

from collections.abc import Sequence
from dataclasses import dataclass

from gawee_dialect.evaluation.statistics import Ratio
from gawee_dialect.experiments.results import Results, Row, table_cells
from gawee_dialect.hints import isa
from gawee_dialect.report.document import finite, page_text, tool_json
from gawee_dialect.report.snapshot import Json

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class StudyReport:
    """What a study has measured, and the command line that reported it."""

    tool: str
    words: Sequence[str]
    results: Results

    @property
    def has_begun(self) -> bool:
        """Whether anything was measured."""
        return bool(self.results.rows)

    def to_json(self) -> Json:
        """Return the document; it is the same for the same records."""
        header, cells = table_cells(self.results)
        return {
            "schema": "gawee-study-report",
            "version": SCHEMA_VERSION,
            "tool": tool_json(self.tool, self.words),
            "name": self.results.name,
            "header": list(header),
            "rows": [
                _row(row, its_cells)
                for row, its_cells in zip(self.results.rows, cells, strict=True)
            ],
        }

    def html(self) -> str:
        """Return the page."""
        return page_text(
            "study",
            f"{self.tool}: {self.results.name}",
            style=("page.css", "study.css"),
            script=("elements.js", "study.js"),
            data={"study": self.to_json()},
        )


def _row(row: Row, cells: Sequence[str]) -> Json:
    return {
        "network": row.network,
        "pipeline": row.pipeline,
        "options": row.options,
        "processor": row.processor,
        "baseline": row.is_baseline,
        "error": row.error,
        "cells": list(cells),
        "milliseconds": _milliseconds(row.number("seconds")),
        "rounds": [_milliseconds(each) for each in row.numbers("rounds")],
        "ratio": None if row.ratio is None else _ratio(row.ratio),
        "figures": {name: _plain(value) for name, value in row.figures.items()},
    }


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else finite(seconds * 1e3)


def _ratio(ratio: Ratio) -> Json:
    return {
        "value": finite(ratio.value),
        "low": finite(ratio.low),
        "high": finite(ratio.high),
        "different": ratio.is_different,
    }


def _plain(value: object) -> object:
    """Return a figure as it was recorded, but for numbers that JSON does not have."""
    if isinstance(value, float):
        return finite(value)
    if isa(value, list[object]):
        return [_plain(each) for each in value]
    if isa(value, dict[str, object]):
        return {name: _plain(each) for name, each in value.items()}
    return value
