"""Numbers that flags take, read by argparse, which shows the reason of a refusal."""

import math
from argparse import ArgumentTypeError


def not_negative(text: str) -> int:
    """Read a whole number of at least 0, such as a seed; raises ArgumentTypeError."""
    return _whole(text, 0)


def positive(text: str) -> int:
    """Read a whole number of at least 1; raises ArgumentTypeError."""
    return _whole(text, 1)


def _whole(text: str, least: int) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < least:
        raise ArgumentTypeError(f"expected a whole number of at least {least}, got '{text}'")
    return int(text)


def positive_number(text: str) -> float:
    """Read a number above 0, such as seconds; raises ArgumentTypeError."""
    value = number(text)
    if not value > 0:  # of NaN too
        raise ArgumentTypeError(f"expected a positive number, got '{text}'")
    return value


def not_negative_number(text: str) -> float:
    """Read a number of at least 0, such as a tolerance; raises ArgumentTypeError."""
    value = number(text)
    if not 0 <= value < math.inf:
        raise ArgumentTypeError(f"expected a number of at least 0, got '{text}'")
    return value


def number(text: str) -> float:
    """Read a number; raises ArgumentTypeError."""
    try:
        return float(text)
    except ValueError as error:
        raise ArgumentTypeError(f"expected a number, got '{text}'") from error
