"""The schedule of a kernel as the nest of loops that it asks for."""

from typing import TypedDict

from xdsl.ir import Operation

from gawee_dialect.dialect.kernel import KernelOp


class LoopJson(TypedDict):
    """A loop of a nest, the outermost first, or (`kind` tile, vector) what is inside of all."""

    dimension: int
    kind: str
    iterations: int
    step: int
    reduction: bool


def nest_json(op: Operation) -> list[LoopJson]:
    """Return the loops of a kernel that has a schedule, its register tile and its vector.

    `iterations` of a loop are those of one run of it, where all are whole; of a tile its points, of
    a vector its lanes. `step` is that of the loop, in points.
    """
    if not isinstance(op, KernelOp) or op.schedule is None:
        return []
    schedule, sizes = op.schedule.data, list(op.sizes)
    found: list[LoopJson] = []
    for number, loop in enumerate(schedule.loops):
        kind = "parallel" if number < schedule.parallel else "loop"
        rounds = -(-sizes[loop.dim] // loop.step)
        found.append(_loop(op, loop.dim, kind, rounds, loop.step))
        sizes[loop.dim] = min(loop.step, sizes[loop.dim])
    found += [_loop(op, dim, "tile", size, 1) for dim, size in enumerate(sizes) if size > 1]
    if schedule.vector is not None:
        dim, lanes = schedule.vector
        found.append(_loop(op, dim, "vector", lanes, 1))
    return found


def _loop(op: KernelOp, dim: int, kind: str, iterations: int, step: int) -> LoopJson:
    return {
        "dimension": dim,
        "kind": kind,
        "iterations": iterations,
        "step": step,
        "reduction": dim >= op.num_parallel,
    }
