"""`gawee-run --prove-each`: the passes to the level that runs are proved, on its data."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gawee_dialect.parameters.store import Array
from gawee_dialect.passes.instrument import instrumented

if TYPE_CHECKING:
    from gawee_dialect.report.document import Report


def add_proof(parser: ArgumentParser) -> None:
    """Add `--prove-each`."""
    parser.add_argument(
        "--prove-each",
        action="store_true",
        help="run the network before and after every pass in exact arithmetic, on its weights and "
        "inputs; stop at the first pass that computes another number",
    )


@contextmanager
def proved(
    arguments: Namespace, arrays: Callable[[], Mapping[str, Array]], report: "Report | None" = None
) -> Generator[None]:
    """Prove the passes that run inside a with block, where `--prove-each` asks for it.

    A report is told what is known of each, and it is printed to standard error. Raises GaweeError
    for a wrong one.
    """
    if not arguments.prove_each:
        yield
        return
    from gawee_dialect.instruments.check.each_pass import CheckSettings
    from gawee_dialect.instruments.prove.each import ProveEach

    proof = ProveEach(CheckSettings(arrays=arrays()))
    if report is not None:
        report.proofs, report.first_proved = proof.steps, len(report.recording.passes)
    with instrumented(proof):
        try:
            yield
        finally:
            proof.report()
