"""Schedules as Python: what a network computes by name, and the steps that change its loops.

sch = schedule(model)
sch["conv1"].tile(d1=64, d3=6).vectorize(d1=16).unroll("d1", "d3")
print(sch["conv1"])                                # the loops, and what each touches
run = model.compile(CodeOptions(schedules=sch.database()))
"""

from typing import Literal, overload

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.code_options import CodeOptions
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.entry import find_function
from gawee_dialect.model import Model
from gawee_dialect.scheduling.kernels import NetworkSchedule
from gawee_dialect.scheduling.structured import StructuredSchedule


@overload
def schedule(
    network: Model | ModuleOp,
    options: CodeOptions | None = None,
    *,
    level: Literal["kernels"] = "kernels",
) -> NetworkSchedule:
    """Return the kernels of a network."""
    ...


@overload
def schedule(
    network: Model | ModuleOp, options: CodeOptions | None = None, *, level: Literal["linalg"]
) -> StructuredSchedule:
    """Return the ops of linalg that a network is."""
    ...


def schedule(
    network: Model | ModuleOp,
    options: CodeOptions | None = None,
    *,
    level: Literal["kernels", "linalg"] = "kernels",
) -> NetworkSchedule | StructuredSchedule:
    """Return what a network computes at a level, as handles that take steps.

    Kernels have loops over points, in registers and vectors; ops of linalg have loops over tiles,
    into which others can be fused, with kernels inside. The network is at that level, or before it.
    What `options.schedules` has is taken already. Raises GaweeError where it cannot be lowered.
    """
    model = network if isinstance(network, Model) else Model(network)
    if find_function(model.module) is None:
        raise GaweeError("expected a function '@main' in the module, got none")
    if level == "linalg":
        return StructuredSchedule(model, options or CodeOptions())
    return NetworkSchedule(model, options or CodeOptions())
