"""The instruments that flags of gawee-opt install.

A family is a module with two functions, `add_flags(parser)` and `from_flags(arguments, name)`, the
second of which returns the instruments that the flags ask for. A new family is one entry here.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Protocol

from gawee_dialect.instruments import (
    bisect,
    check_each,
    debug_counter,
    explain_missed,
    print_ir,
    prove_each,
    reproducer,
    rewrite_limit,
    timing,
    trace_patterns,
)
from gawee_dialect.passes.instrument import Instrument


class InstrumentFamily(Protocol):
    """What a module of instruments offers the command line."""

    def add_flags(self, parser: ArgumentParser) -> None:
        """Add the family's flags."""
        ...

    def from_flags(self, arguments: Namespace, name: str) -> Sequence[Instrument]:
        """Make the instruments that are asked for; `name` is the input's, for messages."""
        ...


FAMILIES: tuple[InstrumentFamily, ...] = (
    timing,
    print_ir,
    trace_patterns,
    explain_missed,
    rewrite_limit,  # before the check, which runs what it stopped at
    debug_counter,
    bisect,
    check_each,
    prove_each,
    reproducer,
)


def make_instruments(arguments: Namespace, name: str) -> list[Instrument]:
    """Return the instruments that a command line asks for, in the order of FAMILIES."""
    return [made for family in FAMILIES for made in family.from_flags(arguments, name)]
