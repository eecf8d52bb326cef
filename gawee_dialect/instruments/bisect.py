"""`--bisect`: name the rewrite that breaks `--check-each`."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.instruments.check_each import settings_of
from gawee_dialect.passes.instrument import Instrument


def add_flags(parser: ArgumentParser) -> None:
    """Add `--bisect`."""
    parser.add_argument(
        "--bisect",
        action="store_true",
        help="find the rewrite that breaks what is computed, as --check-each sees it, and name its "
        "pattern, op and place",
    )


def from_flags(arguments: Namespace, name: str) -> Sequence[Instrument]:
    """Return the search, where `--bisect` asks for it; raises GaweeError for wrong flags."""
    if not arguments.bisect:
        return ()
    if arguments.opt_bisect_limit is not None:
        raise GaweeError("expected --bisect without --opt-bisect-limit, got both")
    # Imported here: NumPy is only needed by a check.
    from gawee_dialect.instruments.check.bisect import Bisect

    return (Bisect(settings_of(arguments)),)
