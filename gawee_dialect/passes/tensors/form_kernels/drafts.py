"""Putting kernels together: what they read, and regions made of other regions."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.rewriter import InsertPoint

from gawee_dialect.dialect.kernels.kernel import KernelOp, Number, YieldOp, element_of, scalar_flops
from gawee_dialect.dialect.open_size import UnknownSize
from gawee_dialect.dialect.types import AnyTensor, tensor_type

Read = tuple[SSAValue, AffineMap]
"""A tensor, and which element of it a point is about."""

Write = Callable[[Builder, Sequence[SSAValue]], SSAValue]
"""Computes what a region yields from its arguments."""


def reads_of(op: KernelOp) -> list[Read]:
    """Return what a kernel reads."""
    return list(zip(op.inputs, op.maps, strict=False))


def place(reads: list[Read], read: Read) -> int:
    """Return the position of a read in a list, at the end of which it is put if it is new."""
    if read not in reads:
        reads.append(read)
    return reads.index(read)


def region(reads: Sequence[Read], accumulator: Attribute | None, write: Write) -> Region:
    """Make a region that takes an element of every input and, if there is one, the accumulator."""
    types = [element_of(value) for value, _ in reads]
    block = Block(arg_types=types if accumulator is None else [*types, accumulator])
    builder = Builder(InsertPoint.at_end(block))
    builder.insert(YieldOp(write(builder, block.args)))
    return Region(block)


def spliced(
    builder: Builder, block: Block, arguments: Sequence[SSAValue], *, moves: bool = False
) -> SSAValue:
    """Repeat the ops of a region on other arguments, and return what it would yield.

    The builder is at the end of a block. Constants from outside are repeated too, so that a region
    reads nothing but its arguments. Where it `moves` the ops, theirs is left without, to be erased.
    """
    here = builder.insertion_point.block
    assert builder.insertion_point.insert_before is None

    def local(value: SSAValue) -> SSAValue:
        op = value.owner
        if type(op) is not arith.ConstantOp or op.parent is here:
            return value
        return builder.insert(op.clone()).results[0]

    new: dict[SSAValue, SSAValue] = {
        argument: local(value)
        for argument, value in zip(block.args, arguments, strict=True)
        if argument.first_use is not None
    }
    last = block.last_op
    assert last is not None
    for op in block.ops:
        for value in op.operands:
            if value not in new:
                new[value] = local(value)
        if op is last:
            break
        if moves:
            op.detach()
            for index, value in enumerate(tuple(op.operands)):
                if (taken := new[value]) is not value:
                    op.operands[index] = taken
            here.add_op(op)
        else:
            # A clone with regions sets operands twice: bodies have none.
            here.add_op(op.clone(new) if op.regions else op.clone_without_regions(new))
    (value,) = last.operands
    return new[value]


def argument(index: int) -> Write:
    """Return what computes nothing: one of a region's arguments."""
    return lambda builder, arguments: arguments[index]


class Output(NamedTuple):
    """What a kernel writes."""

    type: AnyTensor
    map: AffineMap
    outside: Number | None = None


def output_of(op: KernelOp) -> Output:
    """Return what a kernel on tensors writes."""
    return Output(tensor_type(op.target), op.maps[-1], op.outside)


def kernel(
    reads: Sequence[Read],
    output: Output,
    *,
    bounds: Sequence[int],
    finish: Region,
    reductions: int = 0,
    initial: Number | None = None,
    accumulate: Region | None = None,
) -> KernelOp:
    """Make a kernel that reads only what its regions use; their other arguments are erased."""
    regions = [finish] if accumulate is None else [finish, accumulate]
    kept: list[Read] = []
    for index in reversed(range(len(reads))):
        arguments = [region.block.args[index] for region in regions]
        if any(argument.first_use is not None for argument in arguments):
            kept.insert(0, reads[index])
            continue
        for region, argument in zip(regions, arguments, strict=True):
            region.block.erase_arg(argument)
    return KernelOp(
        [value for value, _ in kept],
        output.type,
        bounds=bounds,
        maps=[*(map for _, map in kept), output.map],
        finish=finish,
        reductions=reductions,
        initial=initial,
        accumulate=accumulate,
        outside=output.outside,
    )


def rebuilt(
    op: KernelOp,
    reads: Sequence[Read],
    elements: Sequence[Write],
    output: Output | None = None,
    then: Callable[[Builder, Sequence[SSAValue], SSAValue], SSAValue] | None = None,
    *,
    moves: bool = False,
) -> KernelOp:
    """Return a kernel with the loops of another.

    It reads `reads`; `elements` make of them what the other's regions take for its inputs. `then`
    goes on with what its `finish` yields. Where it `moves` the other's ops, that is to be erased.
    """
    accumulator, inputs = op.accumulator_type, op.inputs

    def write(block: Block) -> Write:
        def write_region(builder: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
            taken = [
                value if old.first_use is None else element(builder, arguments)
                for value, old, element in zip(inputs, block.args, elements, strict=False)
            ]
            return spliced(builder, block, [*taken, *arguments[len(reads) :]], moves=moves)

        return write_region

    def write_finish(builder: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
        value = write(op.finish.block)(builder, arguments)
        return value if then is None else then(builder, arguments, value)

    new = kernel(
        reads,
        output_of(op) if output is None else output,
        bounds=op.sizes,
        finish=region(reads, accumulator, write_finish),
        reductions=op.reductions.value.data,
        initial=op.initial,
        accumulate=None
        if accumulator is None
        else region(reads, accumulator, write(op.accumulate.block)),
    )
    hand_on_identity(op, new)
    return new


def hand_on_identity(source: KernelOp, op: KernelOp) -> None:
    """Give a kernel the location and the name of the one whose work it does."""
    op.location = source.location
    op.target.name_hint = source.target.name_hint


def worker(reader: KernelOp, producer: KernelOp) -> KernelOp:
    """Return which of two kernels that become one does its work: the reader if they do as much, or
    if sizes decide it."""
    try:
        return max((reader, producer), key=_own_flops)
    except UnknownSize:
        return reader


def _own_flops(op: KernelOp) -> int:
    """Return the FLOPs of the node that a kernel is named by, without what was fused with it.

    Where nothing in a kernel has its location, as in IR written by hand, they are all its FLOPs.
    """
    own, found, location = 0, False, op.location
    for block, points in op.bodies():
        for inner in block.ops:
            if inner.location is location or inner.location == location:
                own, found = own + points * scalar_flops(inner), True
    return own if found else op.flops


def rewired(op: KernelOp, reads: Sequence[Read], output: Output | None = None) -> KernelOp:
    """Return a kernel that computes the same of other reads, one for each input.

    It has the ops of the other one's regions: that is to be erased.
    """
    merged: list[Read] = []
    places = [place(merged, read) for read in reads]
    return rebuilt(op, merged, [argument(index) for index in places], output, moves=True)
