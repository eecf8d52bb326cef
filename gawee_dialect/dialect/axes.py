"""Axes that ops name; a negative one counts from the end."""

from collections.abc import Sequence

from gawee_dialect.dialect.types import require


def require_axis(what: str, axis: int, rank: int) -> int:
    """Return an axis counted from 0; raises VerifyException where there is no such axis."""
    require(rank >= 1, f"expected input of rank 1 or more for {what} {axis}, got a scalar")
    require(-rank <= axis < rank, f"expected {what} from {-rank} to {rank - 1}, got {axis}")
    return axis % rank


def resolved_axes(axes: Sequence[int], rank: int) -> list[int]:
    """Return axes counted from 0; raises VerifyException unless they are axes, each named once."""
    resolved = [require_axis("axes", axis, rank) for axis in axes]
    require(len(set(resolved)) == len(resolved), f"expected axes named once each, got {list(axes)}")
    return resolved
