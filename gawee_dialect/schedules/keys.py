"""What a kernel is called in a database of choices: a hash of all that it computes.

A key depends on the kernel's types, bounds, maps and regions, and on nothing else: not on names,
places or neighbours, so that one choice serves every network with such a kernel.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from xdsl.dialects.builtin import FunctionType, StringAttr
from xdsl.ir import Attribute, Region, SSAValue

from gawee_dialect.analysis.kernel_kind import kernel_kind
from gawee_dialect.dialect.kernels.kernel import SEGMENTS, KernelOp, element_of

FORM = "1"
"""Changes when keys of before no longer mean the same."""

LENGTH = 16

NOT_IN_KEY = ("schedule", SEGMENTS)

SILENT = ("arith.constant", "gawee.yield")
"""Ops that compute nothing."""


class Decision(StrEnum):
    """What is chosen for a kernel; the value is the attribute that holds the key meanwhile."""

    ALGORITHM = "gawee.algorithm_key"
    """Direct or another one, before tensors have layouts."""
    SCHEDULE = "gawee.schedule_key"
    """Loops and register tile, when they have."""


def algorithm_key(op: KernelOp) -> str:
    """Return the key of a kernel whose algorithm is to be chosen."""
    return _key(Decision.ALGORITHM, op, ())


def schedule_key(op: KernelOp, is_parameter: Sequence[bool]) -> str:
    """Return the key of a kernel whose schedule is to be chosen.

    `is_parameter` says of each input whether its layout follows the schedule.
    """
    return _key(Decision.SCHEDULE, op, is_parameter)


def mark(op: KernelOp, decision: Decision, key: str) -> None:
    """Write a key on a kernel, so that it is found again in what the kernel becomes."""
    op.attributes[decision.value] = StringAttr(key)


def mark_of(attributes: Mapping[str, Attribute], decision: Decision) -> str | None:
    """Return the key that was written on a kernel; None where there is none."""
    found = attributes.get(decision.value)
    return found.data if isinstance(found, StringAttr) else None


def describe(op: KernelOp) -> str:
    """Say what a kernel is in a few words: `conv 1x64x56x56 over 64x3x3 f32, addf maximumf`.

    The words at the end are what `finish` computes.
    """
    parallel, reduced = op.sizes[: op.num_parallel], op.sizes[op.num_parallel :]
    words = [kernel_kind(op).value, _times(parallel)]
    if reduced:
        words += ["over", _times(reduced)]
    names = [inner.name for inner in op.finish.block.ops]
    fused = [name.partition(".")[2] for name in names if name not in SILENT]
    suffix = f", {' '.join(fused)}" if fused else ""
    return " ".join([*words, str(element_of(op.target))]) + suffix


def _times(sizes: Iterable[int]) -> str:
    return "x".join(map(str, sizes)) or "1"


def _key(decision: Decision, op: KernelOp, is_parameter: Sequence[bool]) -> str:
    types = FunctionType.from_lists([value.type for value in op.inputs], [op.target.type])
    properties = [f"{k}={value}" for k, value in op.properties.items() if k not in NOT_IN_KEY]
    # The form of a key from before there were counts, so that files of choices stay what they are.
    segments = f"{SEGMENTS}=array<i32: {len(op.inputs)}, {int(op.output is not None)}>"
    properties = sorted([*properties, segments])
    parts = [FORM, decision.name, str(types), *properties, str(list(is_parameter))]
    parts += [line for region in op.regions for line in _lines(region)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:LENGTH]


def _lines(region: Region) -> Iterator[str]:
    """Yield a region's ops with values by number: their names say nothing of what it computes."""
    yield "region"
    if not region.blocks:
        return
    numbers: dict[SSAValue, int] = {}
    for argument in region.block.args:
        numbers[argument] = len(numbers)
        yield str(argument.type)
    for op in region.block.ops:
        operands = [numbers[value] for value in op.operands]
        properties = sorted(f"{name}={value}" for name, value in op.properties.items())
        for result in op.results:
            numbers[result] = len(numbers)
        yield f"{op.name} {operands} {properties} {[str(type) for type in op.result_types]}"
