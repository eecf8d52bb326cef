"""The page in the folder of a reproducer: what every pass did until one failed."""

from collections.abc import Callable, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.pass_manager import run_pipeline


def failure_page(
    prog: str, words: Sequence[str], source: str
) -> Callable[[Context, ModuleOp, Sequence[ModulePass]], str]:
    """Return what makes the page of a failure, while its exception is handled.

    `words` are the command line and `source` the input of the run that failed.
    """

    def page(ctx: Context, module: ModuleOp, passes: Sequence[ModulePass]) -> str:
        # Only a failure pays for the import.
        from gawee_dialect.report.document import Report

        report, copy = Report(prog, words, source), module.clone()
        report.recording.start(copy)
        try:
            with instrumented(report.recording):
                run_pipeline(ctx, copy, passes)
        except Exception:
            return report.html()  # of this failure, which is the same as that of the run
        return report.html()

    return page
