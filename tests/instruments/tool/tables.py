"""Tables for the docs: `python -m tests.instruments.tool.tables` runs all programs and prints them.

With names, `pipelines` or `reports`, it prints these alone.
"""

import argparse
import resource
from collections.abc import Iterator, Sequence

from gawee_dialect.instruments.check.each_pass import CheckSettings
from gawee_dialect.instruments.tool.check import Checked, check_pipeline
from gawee_dialect.instruments.tool.pipeline import Tool, read
from gawee_dialect.instruments.tool.reproducer import reduced
from gawee_dialect.universe import make_context
from gawee_dialect.upstream.walk import all_ops
from tests.instruments.tool.pipelines import CHECKED, PROGRAMS
from tests.instruments.tool.reports import REPORTS, Report


def processor_seconds() -> float:
    """Return what this process and those it started took of processors."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def pipeline_rows() -> Iterator[str]:
    """Check all right pipelines, and yield the lines of their table."""
    yield "| level | programs | pipelines | passes run | checked | not checked | alarms |"
    yield "|---|---|---|---|---|---|---|"
    levels = dict.fromkeys(name.partition(":")[0] for name in PROGRAMS)
    for level in levels:
        cases = [case for case in CHECKED if case[0].startswith(f"{level}:")]
        found = [check_pipeline(PROGRAMS[name], pipeline) for name, pipeline in cases]
        steps = [step for each in found for step in each.steps[1:]]
        checked = sum(step.is_checked for step in steps)
        alarms = sum(each.failure is not None for each in found)
        row = (level, len({name for name, _ in cases}), len(cases), len(steps))
        yield f"| {' | '.join(map(str, (*row, checked, len(steps) - checked, alarms)))} |"


def count(text: str) -> int:
    """Return how many ops a module's functions have."""
    generic = Tool("mlir-opt").run(text, "builtin.module()")
    module = read(make_context(allow_unregistered=True), generic, "in.mlir")
    return sum(op.parent_op() is not module for op in all_ops(module)) - 1


def report_rows(reports: Sequence[Report] = REPORTS) -> Iterator[str]:
    """Name and reduce each wrong pass, and yield the lines of their table."""
    yield "| report | pass | named in | ops before it | reduced in | ops left |"
    yield "|---|---|---|---|---|---|"
    for report in reports:
        started = processor_seconds()
        found = check_pipeline(report.program, report.pipeline)
        named = processor_seconds()
        small = _reduced(found)
        ended = processor_seconds()
        number = report.number or "found here"
        yield (
            f"| {number} | `{report.wrong}` | {named - started:.1f} s | {count(found.text)} "
            f"| {ended - named:.1f} s | {count(small.text)} |"
        )


def _reduced(found: Checked) -> Checked:
    return reduced(found, Tool("mlir-opt"), CheckSettings(), 60.0)


TABLES = {"pipelines": pipeline_rows, "reports": report_rows}


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables of some names, of all where there are none."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.instruments.tool.tables", description=__doc__
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(TABLES)}")
    names: Sequence[str] = parser.parse_args(argv).names
    for unknown in sorted(set(names) - TABLES.keys()):
        parser.error(f"unknown table '{unknown}'; known: {', '.join(TABLES)}")
    for name in names or TABLES:
        for row in TABLES[name]():
            print(row, flush=True)


if __name__ == "__main__":
    main()
