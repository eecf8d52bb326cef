"""`--prove-each`: run the module in exact arithmetic after every pass, stop where outputs move."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from gawee_dialect.instruments.check_each import settings_of
from gawee_dialect.passes.instrument import Instrument


def add_flags(parser: ArgumentParser) -> None:
    """Add `--prove-each`; it runs on the data of `--check-seed` and `--check-inputs`."""
    parser.add_argument(
        "--prove-each",
        action="store_true",
        help="run the module before and after every pass in exact arithmetic, modulo primes, stop "
        "at the first pass that computes another number, and print to stderr what is proved of "
        "each pass, what is assumed, and what is only checked by data",
    )


def from_flags(arguments: Namespace, name: str) -> Sequence[Instrument]:
    """Return the proof, where `--prove-each` asks for it; raises GaweeError for a wrong file."""
    if not arguments.prove_each:
        return ()
    # Imported here: NumPy is only needed by a proof.
    from gawee_dialect.instruments.prove.each import ProveEach

    return (ProveEach(settings_of(arguments)),)
