"""What a page says of an operator that is defined by equations: all of it follows from the body.

Equations, parameters, where sizes come from, and an example whose numbers were computed.
"""

from collections.abc import Iterator

import numpy as np

from gawee_dialect.dialect.types import shape_text
from gawee_dialect.opdesc.compiled import CompiledOperator
from gawee_dialect.opdesc.index_notation.body import Body
from gawee_dialect.opdesc.index_notation.evaluate import Array
from gawee_dialect.opdesc.index_notation.random_use import Use, random_use
from gawee_dialect.opdesc.index_notation.sizes import Axis, Limit, Origin
from gawee_dialect.opdesc.index_notation.spelled import spelled
from gawee_dialect.opdesc.index_notation.syntax import Parameter, Wildcard
from gawee_dialect.opdesc.index_notation.work import flops

EXAMPLES = 8
"""Random uses of which the smallest is shown."""

SHOWN = 4
"""Elements of an output."""


def reference_text(compiled: CompiledOperator) -> str:
    """Return what a page says of a body; raises GaweeError where no example is found."""
    body = compiled.body
    assert body is not None
    equations = "\n".join(map(spelled, body.program.definitions))
    said = "\n".join((*_parameters(body), *_sizes(body)))
    return "\n\n".join((f"```text\n{equations}\n```", said, _example(compiled)))


def _parameters(body: Body) -> Iterator[str]:
    for each in body.program.parameters:
        yield f"- parameter {_parameter(each)}"
    for requirement in body.program.requirements:
        yield f"- requires `{requirement.text}`"


def _parameter(parameter: Parameter) -> str:
    length = "" if parameter.length is None else f"[{parameter.length}]"
    default = "" if parameter.default is None else f" = {parameter.default}"
    return f"`{parameter.kind} {parameter.name}{length}{default}`"


def _sizes(body: Body) -> Iterator[str]:
    """Yield where the size of each index comes from, an equation a line."""
    for name, plan in body.plans.items():
        said = [f"`{each.index}` {_origin(each)}" for each in plan.origins]
        if plan.wildcard is not None:
            said.insert(0, f"`...` the other axes of `{plan.wildcard[0].tensor}`")
        yield f"- `{name}`: {'; '.join(said) or 'one element'}"


def _origin(origin: Origin) -> str:
    if isinstance(origin, Limit):
        return f"up to `{spelled(origin.limit)}`"
    subscript = origin.access.subscripts[origin.axis]
    axis = f"axis {origin.axis} of `{origin.access.tensor}`"
    if isinstance(origin, Axis):
        return f"is {axis}"
    assert not isinstance(subscript, Wildcard)
    return f"while `{spelled(subscript)}` stays in {axis}, padded as far as it is shifted"


def _example(compiled: CompiledOperator) -> str:
    """Return the smallest of some random uses, what it costs, and what came out."""
    uses = [random_use(compiled, seed) for seed in range(EXAMPLES)]
    use = min(uses, key=lambda each: sum(a.size for a in (*each.inputs.values(), *each.outputs)))
    lines = [f"For {use}:", "", "```text"]
    for name, array in zip(use.instance.program.outputs, use.outputs, strict=True):
        lines.append(
            f"{name}: {shape_text(array.shape) or 'one'} of {array.dtype}, {_shown(array)}"
        )
    return "\n".join([*lines, _cost(use), "```"])


def _shown(array: Array) -> str:
    numbers = [f"{each:.4g}" for each in np.ravel(array)[:SHOWN].tolist()]
    return ", ".join(numbers) + (", ..." if array.size > SHOWN else "")


def _cost(use: Use) -> str:
    moved = sum(each.nbytes for each in (*use.inputs.values(), *use.outputs))
    return f"{flops(use.instance)} FLOPs, {moved} bytes"
