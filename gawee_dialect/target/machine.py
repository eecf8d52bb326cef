"""What code is made for, a processor and a number of threads, and the passes that depend on it."""

from abc import ABC
from dataclasses import dataclass, replace
from typing import Self

from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.target.description import HOST, Processor, named_processor


def find_processor(name: str) -> Processor:
    """Return a processor by name, this machine for `host`; raises GaweeError for another name."""
    if name == HOST:
        # Imported here: only a compilation for this machine has to look at it.
        from gawee_dialect.target.host import host

        return host()
    return named_processor(name)


@dataclass(frozen=True)
class Machine:
    """A processor by name, and how many threads run on it: 0 for one a core."""

    target: str = HOST
    num_threads: int = 0

    @property
    def processor(self) -> Processor:
        """The processor with as many cores as threads; raises GaweeError."""
        if self.num_threads < 0:
            raise GaweeError(f"expected num_threads of at least 0, got {self.num_threads}")
        found = find_processor(self.target)
        return replace(found, cores=self.num_threads) if self.num_threads else found


@dataclass(frozen=True, kw_only=True)
class TargetPass(ModulePass, ABC):
    """A pass that decides by what one core of a processor can do."""

    target: str = HOST
    """The processor that the code is for: `host`, or `skylake-avx512`, `haswell` and the like."""

    def on(self, machine: Machine) -> Self:
        """Return the pass for a machine."""
        return replace(self, target=machine.target)

    @property
    def processor(self) -> Processor:
        """What the code is for; raises GaweeError."""
        return find_processor(self.target)


@dataclass(frozen=True, kw_only=True)
class MachinePass(TargetPass, ABC):
    """A pass that decides by the number of threads as well."""

    num_threads: int = 0
    """How many threads run the kernels; 0 for one a core."""

    def on(self, machine: Machine) -> Self:
        """Return the pass for a machine."""
        return replace(self, target=machine.target, num_threads=machine.num_threads)

    @property
    def processor(self) -> Processor:
        """What the code is for, with as many cores as threads; raises GaweeError."""
        return Machine(self.target, self.num_threads).processor
