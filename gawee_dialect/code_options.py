"""What code is made from a graph: how freely it may compute, and what it is made for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.passes.insertion import Insertion
from gawee_dialect.schedules.database import NO_CHOICES, Database
from gawee_dialect.target.description import HOST
from gawee_dialect.target.machine import Machine

FAST = "fast"
"""Algorithms that round otherwise than the definition: Winograd's and Strassen's."""
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


@dataclass(frozen=True, kw_only=True)
class CodeOptions:
    """What code is made from a graph."""

    fast_math: str | None = None
    """LLVM's flags for float ops, such as `contract` or `fast`; none by default, so that results
    have the rounding that the graph says."""
    algorithms: str = FAST
    """`fast` (Winograd's convolution and Strassen's product where they pay: outputs within 1e-4 of
    their range), `exact` (each sum as it is defined, but for its order), or `plain` loops."""
    target: str = HOST
    """The processor that code is for: `host`, or one by LLVM's name, such as `skylake-avx512`,
    `haswell`, `znver3`, `apple-m1`, `neoverse-n1`."""
    parallel: bool = True
    """Whether loops are shared among threads; such code needs an OpenMP runtime."""
    schedules: Database = NO_CHOICES
    """Choices for kernels, as `gawee-tune` writes them, in the place of the cost model's."""
    num_threads: int | None = None
    """How many threads the code is for, one a core by default; code for 1 that C calls needs no
    OpenMP."""

    trust_indices: bool = False
    """Whether run-time indices of gathers and scatters are used as they come. One that is out of
    range then reads or writes foreign memory; by default it is an error."""

    passes: tuple[Insertion, ...] = ()
    """Passes of one's own, each at a place: `after("fold-conv-add", MyPass())`."""

    without: tuple[str, ...] = ()
    """Passes of the pipeline that are left out: `cse`, or `canonicalize#2` for the second alone."""

    def __post_init__(self) -> None:
        require_algorithms(self.algorithms)

    @property
    def machine(self) -> Machine:
        """The target that passes make code for."""
        return Machine(self.target, self.num_threads or 0)

    @property
    def without_idle_teams(self) -> "CodeOptions":
        """The options of code that needs no OpenMP runtime where it is for one thread."""
        return replace(self, parallel=self.parallel and self.num_threads != 1)
