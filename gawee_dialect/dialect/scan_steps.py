"""The steps of scans, written out one after the other."""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from gawee_dialect.dialect.scan import ScanOp
from gawee_dialect.dialect.shape import CatOp, ReshapeOp
from gawee_dialect.dialect.slicing import SliceOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.locations import hand_on_location


def write_steps(builder: Builder, op: ScanOp) -> list[SSAValue]:
    """Insert the body of a scan for every step, on slices of its sequences.

    Returns what takes the place of its results: what steps make is put together at the end.
    """
    count = len(op.initial)
    state: Sequence[SSAValue] = op.initial
    made: dict[int, Sequence[SSAValue]] = {}
    for position in op.order:
        now = [_element(builder, sequence, position) for sequence in op.sequences]
        results = _step(builder, op, [*state, *now])
        state, made[position] = results[:count], results[count:]
    rows = [made[position] for position in range(op.num_steps)]
    return [*state, *(_joined(builder, each) for each in zip(*rows, strict=True))]


def without_scans(module: ModuleOp) -> ModuleOp:
    """Return a module whose scans are written out: itself where it has none."""
    if not any(isinstance(op, ScanOp) for op in module.walk()):
        return module
    written_out = module.clone()
    # From the inside out: what is in a body is then repeated with it.
    for op in reversed([op for op in written_out.walk() if isinstance(op, ScanOp)]):
        _replace_by_steps(op)
    return written_out


def _replace_by_steps(op: ScanOp) -> None:
    inserted: list[Operation] = []
    builder = Builder(InsertPoint.before(op))
    builder.operation_insertion_handler = [inserted.append]
    for old, new in zip(op.results, write_steps(builder, op), strict=True):
        old.replace_all_uses_with(new)
    for each in inserted:
        hand_on_location(op, each)
    op.detach()
    op.erase()


def _element(builder: Builder, sequence: SSAValue, position: int) -> SSAValue:
    _, *shape = tensor_shape(sequence)
    offsets = [position, *(0 for _ in shape)]
    row = builder.insert(SliceOp(sequence, offsets=offsets, sizes=[1, *shape])).output
    return builder.insert(ReshapeOp(row, shape=shape)).output


def _step(builder: Builder, op: ScanOp, taken: Sequence[SSAValue]) -> list[SSAValue]:
    values: dict[SSAValue, SSAValue] = dict(zip(op.body.block.args, taken, strict=True))
    for inner in op.body.block.ops:
        if inner is not op.body.block.last_op:
            builder.insert(inner.clone(values))
    return [values.get(value, value) for value in op.yielded]


def _joined(builder: Builder, values: Sequence[SSAValue]) -> SSAValue:
    rows = [
        builder.insert(ReshapeOp(value, shape=(1, *tensor_shape(value)))).output for value in values
    ]
    return builder.insert(CatOp(rows, dim=0)).output
