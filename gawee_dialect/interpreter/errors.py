"""What a program that cannot be run raises."""

from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.diagnostics import GaweeError


class RunError(GaweeError, InterpretationError):
    """An op that cannot be run on the values it was given; located as every GaweeError is."""
