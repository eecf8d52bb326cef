"""`--report-json` and `--html`: what a run did, as a file."""

from argparse import ArgumentParser, Namespace
from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.passes.instrument import Instrument, instrumented
from gawee_dialect.whole_file import check_writable, write_file

if TYPE_CHECKING:
    from gawee_dialect.report.document import Report

WHAT_PASSES_DID = (
    "what the passes did, as documented JSON: the module at every level, diffs, patterns that "
    "fired and declined, checks, times"
)


class Document(Protocol):
    """What can be written as a report."""

    @property
    def has_begun(self) -> bool:
        """Whether there is something to report."""
        ...

    def to_json(self) -> dict[str, object]:
        """Return it as documented JSON."""
        ...

    def html(self) -> str:
        """Return it as a page."""
        ...


def add_report_flags(parser: ArgumentParser, what: str = WHAT_PASSES_DID) -> None:
    """Add the flags; `what` goes on after 'write'."""
    parser.add_argument(
        "--report-json",
        metavar="FILE",
        help=f"write {what}",
    )
    parser.add_argument(
        "--html",
        metavar="FILE",
        help="write the same as a page to look at: one file, which needs no network",
    )


def _files(arguments: Namespace) -> Mapping[str, Path]:
    """Return the files to write, by flag."""
    paths: Mapping[str, str | None] = {
        "--report-json": arguments.report_json,
        "--html": arguments.html,
    }
    return {flag: Path(path) for flag, path in paths.items() if path is not None}


def refuse_report(arguments: Namespace, flag: str) -> None:
    """Raise GaweeError where a report is asked for together with a flag that it cannot go with."""
    for report in _files(arguments):
        raise GaweeError(f"expected {report} without {flag}, got both")


def wants_report(arguments: Namespace) -> bool:
    """Whether a report is asked for; raises WriteError for a file that cannot be written."""
    files = _files(arguments)
    for path in files.values():
        check_writable(path)
    return bool(files)


def new_report(prog: str, words: Sequence[str], source: str) -> "Report":
    """Return a report to fill; the import is here, for runs without a report."""
    from gawee_dialect.report.document import Report

    return Report(prog, words, source)


def recorded(report: "Report | None", *others: Instrument | None) -> AbstractContextManager[None]:
    """Return what has a report hear of passes, and others, those of them that there are."""
    recording = None if report is None else report.recording
    present = [each for each in (recording, *others) if each is not None]
    return instrumented(*present) if present else nullcontext()


@contextmanager
def reported(
    arguments: Namespace, prog: str, words: Sequence[str], source: str
) -> Generator["Report | None"]:
    """Yield a report to fill, and write it at the end, also of a run that failed.

    Yields None where no report is asked for. Raises WriteError.
    """
    if not wants_report(arguments):
        yield None
        return
    report = new_report(prog, words, source)
    try:
        yield report
    finally:
        write_report(arguments, report)


def write_report(arguments: Namespace, report: Document) -> None:
    """Write the files of the flags; none where there is nothing to report. Raises WriteError."""
    if not report.has_begun:
        return
    files = _files(arguments)
    if "--report-json" in files:
        from gawee_dialect.report.document import json_text

        write_file(files["--report-json"], json_text(report.to_json()))
    if "--html" in files:
        write_file(files["--html"], report.html())
