"""Small changes of a module: of an index, a bound, a coefficient, an operand or a map."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

import numpy as np
from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    VectorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from gawee_dialect.hints import isa

CONSTANTS = arith.ConstantOp | llvm.ConstantOp
LOOPS = scf.ForOp | scf.ParallelOp
OFFSETS = ("static_offsets", "static_sizes", "static_low", "static_high")


@dataclass(frozen=True)
class Mutation:
    """A change that can be made: its kind, the op, and how it is done."""

    kind: str
    op: Operation
    apply: Callable[[], None]
    text: str


def mutations(module: ModuleOp, random: Random) -> Iterator[Mutation]:
    """Yield the changes that a module offers; of each, how it is done is drawn."""
    for op in module.walk():
        if isinstance(op, CONSTANTS):
            yield from _of_constant(op, random)
        yield from _of_maps(op, random)
        yield from _of_offsets(op, random)
        yield from _of_operands(op, random)


def _of_constant(op: Operation, random: Random) -> Iterator[Mutation]:
    value = op.properties.get("value")
    if not any(True for _ in op.results[0].uses):
        return  # it has no uses
    if isa(value, FloatAttr):
        number = value.value.data
        dtype = np.dtype(f"f{value.type.bitwidth // 8}")
        above = np.nextafter(np.asarray(number, dtype), np.asarray(np.inf, dtype))
        other = random.choice([float(above), number + 0.5, number * 1.25 + 1e-3])
        if np.isfinite(number):
            yield _setting("a coefficient", op, "value", FloatAttr(other, value.type))
    elif isa(value, IntegerAttr) and value.type != IntegerType(1):
        step = random.choice((-1, 1))
        # What stands for a dynamic size is the least number there is.
        other = value.value.data + (step if abs(value.value.data) < 1 << 62 else 1)
        kind = "a bound" if _is_bound(op.results[0]) else "an index"
        yield _setting(kind, op, "value", IntegerAttr(other, value.type))
    elif isa(value, DenseIntOrFPElementsAttr) and isa(value.type, VectorType[IntegerType]):
        lanes = [1 if each else 0 for each in value.get_values()]
        if value.type.element_type == IntegerType(1):
            lane = random.randrange(len(lanes))
            lanes[lane] = 1 - lanes[lane]
            made = DenseIntOrFPElementsAttr.from_list(value.type, lanes)
            yield _setting("a bound", op, "value", made)


def _is_bound(value: SSAValue) -> bool:
    users = [use.operation for use in value.uses]
    return any(isinstance(each, LOOPS | llvm.ICmpOp | arith.CmpiOp) for each in users)


def _setting(kind: str, op: Operation, name: str, new: Attribute) -> Mutation:
    old = op.properties[name]

    def apply() -> None:
        op.properties[name] = new

    return Mutation(kind, op, apply, f"{name} {_short(old)} -> {_short(new)}")


def _short(attribute: Attribute) -> str:
    return str(attribute)[:120]


def _of_maps(op: Operation, random: Random) -> Iterator[Mutation]:
    for name in ("indexing_maps", "maps"):
        maps = op.properties.get(name)
        if not isa(maps, ArrayAttr[AffineMapAttr]) or not len(maps):
            continue
        which = random.randrange(len(maps))
        changed = _changed_map(maps.data[which].data, random)
        if changed is not None:
            new = [*maps.data]
            new[which] = AffineMapAttr(changed)
            yield _setting("a map", op, name, ArrayAttr(new))


def _changed_map(old: AffineMap, random: Random) -> AffineMap | None:
    results = list(old.results)
    if not results:
        return None
    place = random.randrange(len(results))
    match random.randrange(3):
        case 0:
            results[place] = results[place] + random.choice((-1, 1))
        case 1:
            results[place] = AffineExpr.dimension(random.randrange(max(1, old.num_dims)))
        case _:
            other = random.randrange(len(results))
            results[place], results[other] = results[other], results[place]
    new = AffineMap(old.num_dims, old.num_symbols, tuple(results))
    return None if new == old else new


def _of_offsets(op: Operation, random: Random) -> Iterator[Mutation]:
    for name in OFFSETS:
        values = op.properties.get(name)
        if not isa(values, DenseArrayBase[IntegerType]) or not len(values):
            continue
        numbers = list(values.get_values())
        place = random.randrange(len(numbers))
        if numbers[place] < -1000:
            continue
        numbers[place] += random.choice((-1, 1))
        made = DenseArrayBase.from_list(values.elt_type, numbers)
        kind = "a bound" if name != "static_offsets" else "an index"
        yield _setting(kind, op, name, made)


def _of_operands(op: Operation, random: Random) -> Iterator[Mutation]:
    if not op.operands or op.parent is None:
        return
    place = random.randrange(len(op.operands))
    old = op.operands[place]
    others = [each for each in _values_before(op) if each.type == old.type and each is not old]
    if not others:
        return
    new = random.choice(others)

    def apply() -> None:
        op.operands[place] = new

    text = f"operand {place} of {len(op.operands)}, of type {_short(old.type)}"
    yield Mutation("an operand", op, apply, text)


def _values_before(op: Operation) -> Iterator[SSAValue]:
    """Yield what can be read in the place of an operand: arguments and earlier results."""
    block: Block | None = op.parent
    assert block is not None
    yield from block.args
    for other in block.ops:
        if other is op:
            return
        yield from other.results
