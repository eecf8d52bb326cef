"""Lists that flags take, such as `1,2`, read by argparse, which shows the reason of a refusal."""

from argparse import ArgumentTypeError
from collections.abc import Callable, Sequence

from gawee_dialect.flag_values import positive


def names(known: Sequence[str], **groups: Sequence[str]) -> Callable[[str], list[str]]:
    """Return what reads known names, and names of groups of them; an empty text is none."""

    def read(text: str) -> list[str]:
        chosen: list[str] = []
        for name in filter(None, text.split(",")):
            chosen += groups.get(name, [name])
        unknown = [name for name in chosen if name not in known]
        if unknown:
            raise ArgumentTypeError(
                f"unknown '{unknown[0]}'; known: {', '.join((*known, *groups))}"
            )
        return chosen

    return read


def numbers(text: str) -> list[int]:
    """Read whole numbers of at least 1; raises ArgumentTypeError."""
    return [positive(part) for part in text.split(",")]
