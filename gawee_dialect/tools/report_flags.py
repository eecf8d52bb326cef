"""`--report-json` and `--html`: what a run did, as a file."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.report.document import Report, json_text
from gawee_dialect.whole_file import check_writable, write_file


def add_report_flags(parser: ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument(
        "--report-json",
        metavar="FILE",
        help="write what the passes did, as documented JSON: the module at every level, diffs, "
        "patterns that fired and declined, checks, times",
    )


def refuse_report(arguments: Namespace, flag: str) -> None:
    """Raise GaweeError where a report is asked for together with a flag that it cannot go with."""
    if arguments.report_json is not None:
        raise GaweeError(f"expected --report-json without {flag}, got both")


def wants_report(arguments: Namespace) -> bool:
    """Whether a report is asked for; raises WriteError for a file that cannot be written."""
    paths = [path for path in (arguments.report_json,) if path is not None]
    for path in paths:
        check_writable(Path(path))
    return bool(paths)


def write_report(arguments: Namespace, report: Report) -> None:
    """Write the files that are asked for; none where no module was read. Raises WriteError."""
    if not report.has_begun:
        return
    if arguments.report_json is not None:
        write_file(Path(arguments.report_json), json_text(report.to_json()))
