"""Which tensors of a function are stored in which layout."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from gawee_dialect.dialect.kernel import KernelOp, Number, shape_of, used_dims
from gawee_dialect.dialect.winograd import WinogradOp
from gawee_dialect.passes.assign_layouts.layout import CHANNEL_AXIS, Layout
from gawee_dialect.target.description import Processor

SMALLEST_BLOCK = 8


@dataclass(frozen=True)
class Pad:
    """A kernel that copies a tensor into a larger one with zeros around it."""

    source: SSAValue
    low: tuple[int, ...]
    high: tuple[int, ...]


def number_of(attribute: Number | None) -> float:
    """Return the value of a number, zero for an absent one."""
    if attribute is None:
        return 0.0
    if isinstance(attribute, FloatAttr):
        return attribute.value.data
    assert isinstance(attribute, IntegerAttr)
    return attribute.value.data


def is_copy(op: KernelOp) -> bool:
    """Whether a kernel's elements are those of its one input."""
    return len(op.inputs) == 1 and op.yielded(op.finish) is op.finish.block.args[0]


def pad_of(op: Operation) -> Pad | None:
    """Return what a kernel pads with zeros; None where it does anything else."""
    if not isinstance(op, KernelOp) or op.result is None or not is_copy(op):
        return None
    if number_of(op.outside) != 0 or op.accumulate.blocks:
        return None
    sizes, shape = op.sizes, shape_of(op.result)
    source_map, result_map = op.maps
    if source_map != AffineMap.identity(len(sizes)) or shape_of(op.inputs[0]) != sizes:
        return None
    low = [_offset(expr, dim) for dim, expr in enumerate(result_map.results)]
    known = tuple(offset for offset in low if offset is not None)
    if len(known) != len(sizes) or len(sizes) <= CHANNEL_AXIS or any(known[: CHANNEL_AXIS + 1]):
        return None
    high = tuple(
        total - size - before for total, size, before in zip(shape, sizes, known, strict=True)
    )
    return None if any(high[: CHANNEL_AXIS + 1]) else Pad(op.inputs[0], known, high)


def _offset(expr: AffineExpr, dim: int) -> int | None:
    """Return k of the expression d<dim> + k."""
    match expr:
        case AffineDimExpr(position=position) if position == dim:
            return 0
        case AffineBinaryOpExpr(
            kind=AffineBinaryOpKind.Add,
            lhs=AffineDimExpr(position=position),
            rhs=AffineConstantExpr(value=value),
        ) if position == dim:
            return value
        case _:
            return None


def never_negative(value: SSAValue) -> bool:
    """Whether a kernel's last step is to take the maximum with a number that is not negative."""
    op = value.owner
    if not isinstance(op, KernelOp):
        return False
    last = op.yielded(op.finish).owner
    if not isinstance(last, arith.MaximumfOp | arith.MaxSIOp):
        return False
    bounds = (side.owner for side in last.operands)
    return any(
        isinstance(bound, arith.ConstantOp)
        and isinstance(bound.value, FloatAttr | IntegerAttr)
        and number_of(bound.value) >= 0
        for bound in bounds
    )


def divides(map: AffineMap) -> bool:
    """Whether a map has a quotient or remainder: blocks inside it would be divided again."""
    kinds = (AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.Mod, AffineBinaryOpKind.CeilDiv)
    return any(
        isinstance(expr, AffineBinaryOpExpr) and expr.kind in kinds
        for result in map.results
        for expr in result.dfs()
    )


@dataclass(eq=False)
class Group:
    """Tensors that are stored alike, since they are parts of one another."""

    layout: Layout
    members: list[SSAValue] = field(default_factory=list[SSAValue])


class Layouts:
    """The layouts of a function's tensors; those that are not mentioned are plain."""

    def __init__(self, function: FuncOp, processor: Processor):
        self.groups: dict[SSAValue, Group] = {}
        self.processor = processor
        ops = list(function.body.block.ops)
        for op in ops:
            if isinstance(op, KernelOp):
                self._block(op)
            elif isinstance(op, WinogradOp) and op.result is not None:
                block = self._largest_block(op.sizes[1])
                self._add(op.result, replace(Layout.plain(4), block=block))
            elif isinstance(op, tensor.InsertSliceOp):
                self._join(op)
        for op in ops:
            self._widen(op)

    def of(self, value: SSAValue) -> Layout:
        """Return the layout of a tensor."""
        group = self.groups.get(value)
        return Layout.plain(len(shape_of(value))) if group is None else group.layout

    # Blocks.

    def _block(self, op: KernelOp) -> None:
        if op.result is None or (pad_of(op) is not None and self._source_group(op) is not None):
            return
        shape = shape_of(op.result)
        channel = self._channel_dim(op, op.maps[-1], shape)
        if channel is None:
            return
        block = self._block_of_inputs(op, channel)
        if block is None:
            block = self._own_block(op, channel, shape[CHANNEL_AXIS])
        self._add(op.result, replace(Layout.plain(len(shape)), block=block))

    def _source_group(self, op: KernelOp) -> Group | None:
        pad = pad_of(op)
        return None if pad is None else self.groups.get(pad.source)

    def _add(self, value: SSAValue, layout: Layout) -> None:
        self.groups[value] = Group(layout, [value])

    def _channel_dim(self, op: KernelOp, map: AffineMap, shape: Sequence[int]) -> int | None:
        """Return the dimension that walks the channels of a tensor [n, c, ...] alone."""
        if len(shape) < 3 or divides(map):
            return None
        expr = map.results[CHANNEL_AXIS]
        return expr.position if isinstance(expr, AffineDimExpr) else None

    def _own_block(self, op: KernelOp, channel: int, channels: int) -> int:
        """Return the block for what a reduction over all channels makes of them, or 1."""
        if not op.accumulate.blocks or not self._mixes_channels(op, channel):
            return 1
        return self._largest_block(channels)

    def _largest_block(self, channels: int) -> int:
        lanes = self.processor.lanes
        while lanes >= SMALLEST_BLOCK or lanes == self.processor.lanes:
            if channels % lanes == 0:
                return lanes
            lanes //= 2
        return 1

    def _mixes_channels(self, op: KernelOp, channel: int) -> bool:
        """Whether one input has its own positions but none of the output's channels."""
        positions = used_dims(op.maps[-1]) - {channel}
        window = [used_dims(map) for map in op.maps[:-1]]
        return any(channel not in dims and len(dims & positions) > 1 for dims in window)

    def _block_of_inputs(self, op: KernelOp, channel: int) -> int | None:
        """Return the block of an input whose channels are the output's."""
        for value, map in zip(op.inputs, op.maps):
            source = self._through_pad(value)
            layout = self.of(source)
            same = self._channel_dim(op, map, shape_of(value)) == channel
            if same and layout.block > 1:
                return layout.block
        return None

    @staticmethod
    def _through_pad(value: SSAValue) -> SSAValue:
        pad = pad_of(value.owner) if isinstance(value.owner, Operation) else None
        return value if pad is None else pad.source

    # Concatenation: the parts are stored like the whole, at the start of a block each.

    def _join(self, op: tensor.InsertSliceOp) -> None:
        part, whole = self.groups.get(op.source), self._whole(op)
        if part is None or whole is None or not _is_channel_slice(op):
            return
        if whole is part:
            return
        block = min(part.layout.block, whole.layout.block or part.layout.block)
        if op.static_offsets.get_values()[CHANNEL_AXIS] % block:
            return
        part.layout = replace(part.layout, block=block)
        for member in whole.members:
            self.groups[member] = part
        part.members += [*whole.members, op.result]
        self.groups[op.result] = part

    def _whole(self, op: tensor.InsertSliceOp) -> Group | None:
        if isinstance(op.dest.owner, tensor.EmptyOp):
            layout = Layout.plain(len(shape_of(op.dest)))
            return Group(replace(layout, block=0))
        return self.groups.get(op.dest)

    # Halos.

    def _widen(self, op: Operation) -> None:
        pad = pad_of(op)
        group = None if pad is None else self.groups.get(pad.source)
        if pad is not None and group is not None:
            group.layout = group.layout.with_halo(pad.low, pad.high)


def _is_channel_slice(op: tensor.InsertSliceOp) -> bool:
    """Whether an op inserts whole positions of some channels."""
    source, dest = shape_of(op.source), shape_of(op.dest)
    if len(source) != len(dest) or len(dest) < 3:
        return False
    offsets, strides = op.static_offsets.get_values(), op.static_strides.get_values()
    rest = [axis for axis in range(len(dest)) if axis != CHANNEL_AXIS]
    whole = all(source[axis] == dest[axis] and offsets[axis] == 0 for axis in rest)
    return whole and all(stride == 1 for stride in strides)
