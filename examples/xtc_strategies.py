"""XTC's strategies as spaces of schedules here: what XTC samples is compiled and measured by gawee.

    kernel = schedule(model)["matmul *"]
    space = xtc_space(kernel, Strategies.from_name("tile_oo"), threads=1)
    best = search(space, Time(), "seconds", Random)

A strategy of XTC (`xtc-tools`) asks an operation for its dimensions, and drives a scheduler.
"""

from collections.abc import Callable, Sequence
from types import SimpleNamespace

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.evaluation.evaluator import Build
from gawee_dialect.evaluation.search import Space
from gawee_dialect.schedules.script import Script
from gawee_dialect.scheduling.kernels import KernelSchedule

NAMES = "ijklmnopq"


class Operation:
    """An operation as XTC sees it: dimensions by name, parallel ones and reductions."""

    def __init__(self, kernel: KernelSchedule):
        parallel = kernel.written.num_parallel
        self.dims = dict(zip(NAMES, kernel.written.sizes, strict=False))
        self.kinds = {"P": list(self.dims)[:parallel], "R": list(self.dims)[parallel:]}
        self.outputs_types = [SimpleNamespace(dtype="float32")]

    def dims_kind(self, kind: str) -> Sequence[str]:
        return self.kinds[kind]


class Scheduler:
    """Hears what a strategy does, and says it as the step `nest`; one thread, no fusion."""

    def __init__(self, operation: Operation, lanes: int):
        self.operation, self.lanes = operation, lanes
        self.tiles: dict[str, dict[str, int]] = {}
        self.heard: dict[str, Sequence[str]] = {}
        self.packed: list[int] = []

    def tile(self, dim: str, tiles: dict[str, int], root: str = ".") -> None:
        self.tiles[dim] = {**self.tiles.get(dim, {}), **tiles}

    def pack_at(self, axis: str, input_idx: int, *_: object, **__: object) -> None:
        self.packed.append(input_idx)

    def buffer_at(self, axis: str, *_: object, **__: object) -> None:
        """Sums are in registers without being asked for."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda axes, root=".": self.heard.update({name: list(axes)})

    def script(self) -> Script:
        """Return the loops that were asked for; parallel axes that are unrolled are in the tile."""
        axes: dict[str, tuple[str, int, int]] = {}
        for dim, size in self.operation.dims.items():
            tiles = self.tiles.get(dim, {})
            sizes = [size, *tiles.values(), 1]
            axes |= {axis: (dim, sizes[at], sizes[at + 1]) for at, axis in enumerate([dim, *tiles])}
        inside = {
            each for each in self.heard["unroll"] if axes[each][0] in self.operation.kinds["P"]
        }
        inside |= {*self.heard["vectorize"]}
        order = [each for each in self.heard["interchange"] if each not in inside]
        loops = [axes[each] for each in order if axes[each][2] < axes[each][1]]
        vectors = [
            (axes[each][0], min(self.lanes, 1 << axes[each][1].bit_length() - 1))
            for each in self.heard["vectorize"]
        ]
        along = "".join(f"{dim} by {width}" for dim, width in vectors if width > 1)
        script = Script().name(*self.operation.dims)
        script = script.nest(*(f"{dim} by {step}" for dim, _, step in loops), vector=along)
        return script.pack(*self.packed) if self.packed else script


def xtc_space(
    kernel: KernelSchedule, strategy: Callable[..., object], lanes: int = 16, **options: object
) -> Space[Build]:
    """Return the samples of a strategy of XTC as a space: a knob for each number of a sample."""
    operation = Operation(kernel)
    graph = SimpleNamespace(outputs_nodes=[SimpleNamespace(operation=operation)])
    xtc = strategy(graph, vec_size=lanes, **options)
    samples = {tuple(sample) for sample in xtc.exhaustive()}

    def steps(**sample: int) -> Script:
        if tuple(sample.values()) not in samples:
            raise GaweeError(f"no sample of the strategy is {sample}")
        scheduler = Scheduler(operation, lanes)
        xtc.generate(scheduler, list(sample.values()))
        return scheduler.script()

    values = (sorted(set(each)) for each in zip(*samples, strict=True))
    space = kernel.space(steps, **dict(zip(xtc.sample_names, values, strict=True)))
    space.start = next(point for point in space.points() if space.problem(point) is None)
    return space
