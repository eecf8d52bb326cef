"""The report of gawee-reduce: the reduced module, and how the passes fail on it."""

from argparse import Namespace
from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.instruments.check.each import CheckEach
from gawee_dialect.instruments.check.each_pass import CheckSettings
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.pass_manager import run_pipeline
from gawee_dialect.report.document import Report
from gawee_dialect.tools.report_flags import write_report
from gawee_dialect.universe import make_context

PROG = "gawee-reduce"


def write_reduced_report(
    arguments: Namespace,
    words: Sequence[str],
    source: str,
    module: ModuleOp,
    passes: Sequence[ModulePass],
) -> None:
    """Run the passes on the reduced module once more, and write what they did until one failed."""
    report = Report(PROG, words, source)
    settings = CheckSettings(arguments.seed, arguments.rtol, arguments.atol)
    check = CheckEach(settings) if arguments.numeric else None
    copy = module.clone()
    report.recording.start(copy)
    try:
        with instrumented(report.recording, *([] if check is None else [check])):
            run_pipeline(make_context(), copy, passes)
    except Exception:  # the failure that the module was reduced for: the report shows it
        _write(arguments, report, check)
    else:
        _write(arguments, report, check)


def _write(arguments: Namespace, report: Report, check: CheckEach | None) -> None:
    report.checks = None if check is None else check.steps
    write_report(arguments, report)
