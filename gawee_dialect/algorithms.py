"""How freely code may compute: the names that `--algorithms` takes."""

from collections.abc import Sequence

from gawee_dialect.diagnostics import GaweeError

FAST = "fast"
"""Algorithms that round otherwise than the definition: Winograd's convolution."""
EXACT = "exact"
"""Each sum as it is defined, but for its order."""
PLAIN = "plain"
"""Loops as linalg says them: the reference that everything faster is compared with."""

KERNEL_ALGORITHMS = (FAST, EXACT)
ALGORITHMS = (*KERNEL_ALGORITHMS, PLAIN)


def require_algorithms(name: str, supported: Sequence[str] = ALGORITHMS) -> None:
    """Raise GaweeError for a name that is not one of those supported."""
    if name not in supported:
        known = ", ".join(supported)
        raise GaweeError(f"unsupported algorithms '{name}'; supported: {known}")
