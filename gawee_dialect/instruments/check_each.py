"""`--check-each`: run the module after every pass, and stop where its outputs move."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.flag_values import not_negative, not_negative_number
from gawee_dialect.passes.instrument import Instrument

if TYPE_CHECKING:
    from gawee_dialect.instruments.check.each_pass import CheckSettings


def add_flags(parser: ArgumentParser) -> None:
    """Add `--check-each` and what it runs on."""
    add = parser.add_argument
    add(
        "--check-each",
        action="store_true",
        help="run the module before and after every pass on seeded data, stop at the first pass "
        "that moves an output further than it declares, and print a table of errors to stderr",
    )
    add("--check-seed", type=not_negative, metavar="N", help="seed of that data (default: 0)")
    add(
        "--check-inputs",
        metavar="NPZ",
        help="inputs and parameters by name, in the place of seeded ones",
    )
    add(
        "--check-rtol",
        type=not_negative_number,
        metavar="X",
        help="what a pass that reassociates may move, as a part of an output's largest magnitude "
        "(default: 2^-14 for f32, 2^-43 for f64, 2^-5 for f16)",
    )
    add(
        "--check-atol",
        type=not_negative_number,
        metavar="X",
        help="what a pass that is not exact may move in any case (default: one rounding at 1)",
    )


def from_flags(arguments: Namespace, name: str) -> Sequence[Instrument]:
    """Return the check, where `--check-each` asks for it; raises GaweeError for a wrong file."""
    if not arguments.check_each:
        if not (arguments.bisect or arguments.prove_each):
            _refuse_without_check(arguments)
        return ()
    # Imported here: NumPy is only needed by a check.
    from gawee_dialect.instruments.check.each import CheckEach

    return (CheckEach(settings_of(arguments)),)


def settings_of(arguments: Namespace) -> "CheckSettings":
    """Return what a check runs on, and what it allows; raises GaweeError for a wrong file."""
    from gawee_dialect.instruments.check.each_pass import CheckSettings
    from gawee_dialect.parameters.archives import read_npz

    arrays = read_npz(arguments.check_inputs) if arguments.check_inputs is not None else {}
    return CheckSettings(
        arguments.check_seed or 0, arguments.check_rtol, arguments.check_atol, arrays
    )


def _refuse_without_check(arguments: Namespace) -> None:
    for name in ("check_seed", "check_inputs", "check_rtol", "check_atol"):
        if getattr(arguments, name) is not None:
            raise GaweeError(f"expected --check-each with --{name.replace('_', '-')}, got none")
