"""Store channels in blocks and zeros around positions, where kernels gain by it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from gawee_dialect.analysis.kernel_kind import (
    BYTES,
    Pad,
    bytes_of_words,
    multiplied_inputs,
    zero_pad_of,
)
from gawee_dialect.dialect.affine_range import is_linear, used_dims
from gawee_dialect.dialect.graph.scan import kernel_blocks
from gawee_dialect.dialect.kernels.kernel import KernelOp, copy_kernel
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel, element_of, shape_of
from gawee_dialect.dialect.open_size import OpenSize, without_names
from gawee_dialect.dialect.types import is_byte
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.tensors.assign_layouts.maxima import pad_maxima_with_zeros
from gawee_dialect.passes.tensors.assign_layouts.unit_axes import drop_unit_axes
from gawee_dialect.passes.tensors.assign_layouts.words import pad_words
from gawee_dialect.passes.tensors.tensor_forms import with_forms
from gawee_dialect.target.description import Processor
from gawee_dialect.target.machine import TargetPass
from gawee_dialect.upstream.arith import index_constant

# Which tensors of a block are stored in which layout.


# How a tensor of channels and positions is stored: blocks of channels, a halo of zeros.

CHANNEL_AXIS = 1


@dataclass(frozen=True)
class Layout:
    """A way to store a tensor [n, c, ...]: [n, c / block, ... + halo, block].

    `block` is 1 where channels are not blocked. `low` and `high` are how many elements of halo are
    before and behind the tensor's own along each of its axes.
    """

    block: int
    low: tuple[int, ...]
    high: tuple[int, ...]

    @staticmethod
    def plain(rank: int) -> "Layout":
        """Return the layout of a tensor as it is."""
        return Layout(1, (0,) * rank, (0,) * rank)

    @property
    def is_plain(self) -> bool:
        """Whether the tensor is stored as it is."""
        return self.block == 1 and not any(self.low) and not any(self.high)

    def with_halo(self, low: Sequence[int], high: Sequence[int]) -> "Layout":
        """Widen the halo to at least so much."""
        return replace(
            self,
            low=tuple(map(max, self.low, low)),
            high=tuple(map(max, self.high, high)),
        )

    def shape(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """Return the stored shape of a tensor of these sizes."""
        stored = [a + size + b for a, size, b in zip(self.low, sizes, self.high, strict=True)]
        if self.block == 1:
            return tuple(stored)
        stored[CHANNEL_AXIS] = -(-stored[CHANNEL_AXIS] // self.block)
        return (*stored, self.block)

    def place(self, exprs: Sequence[AffineExpr]) -> tuple[AffineExpr, ...]:
        """Return where the element at some indices is stored."""
        stored = [
            expr + offset if offset else expr for expr, offset in zip(exprs, self.low, strict=True)
        ]
        if self.block == 1:
            return tuple(stored)
        blocks, rest = whole_blocks(stored[CHANNEL_AXIS], self.block)
        stored[CHANNEL_AXIS] = blocks + rest // self.block if blocks else rest // self.block
        return (*stored, rest % self.block)


def whole_blocks(channel: AffineExpr, block: int) -> tuple[AffineExpr | None, AffineExpr]:
    """Return how many blocks are before a channel of a group, and which one of those it is.

    32 * g + f is channel f behind 2 * g blocks of 16; None where the channel has no such form.
    """
    group = channel_in_group(channel)
    if group is None or group.size % block:
        return None, channel
    blocks: AffineExpr = AffineDimExpr(group.group)
    if group.size > block:
        blocks = blocks * (group.size // block)
    return blocks, AffineDimExpr(group.channel)


class ChannelInGroup(NamedTuple):
    """The form of a channel that is one of some in each group: size * group + channel."""

    size: int
    group: int
    channel: int


def channel_in_group(expr: AffineExpr) -> ChannelInGroup | None:
    """Return the dimensions of `d0 * 32 + d1`, None for other expressions."""
    match expr:
        case AffineBinaryOpExpr(
            AffineBinaryOpKind.Add,
            AffineBinaryOpExpr(
                AffineBinaryOpKind.Mul, AffineDimExpr() as group, AffineConstantExpr() as size
            ),
            AffineDimExpr() as channel,
        ):
            return ChannelInGroup(size.value, group.position, channel.position)
        case _:
            return None


SMALLEST_BLOCK = 8


@dataclass(eq=False)
class Group:
    """Tensors that are stored alike, since they are parts of one another."""

    layout: Layout
    members: list[SSAValue] = field(default_factory=list[SSAValue])
    is_interleaved: bool = False
    """Whether positions of one tensor lie between those of another."""

    @property
    def takes_halo(self) -> bool:
        """Whether what makes the tensors leaves zeros around its points."""
        if self.is_interleaved:
            return False
        makers = (member.owner for member in self.members)
        return all(op.has_zeros_outside for op in makers if isinstance(op, StructuredKernel))


class Layouts:
    """The layouts of a block's tensors; those that are not mentioned are plain."""

    def __init__(self, block: Block, processor: Processor):
        self.groups: dict[SSAValue, Group] = {}
        self.processor = processor
        ops = list(block.ops)
        for op in ops:
            if isinstance(op, StructuredKernel):
                self._block(op)
            elif isinstance(op, tensor.InsertSliceOp):
                self._join(op)
        for op in ops:
            self._widen(op)
        if processor.byte_tiles:
            for op in ops:
                self._share_halo(op)

    def of(self, value: SSAValue) -> Layout:
        """Return the layout of a tensor."""
        group = self.groups.get(value)
        return Layout.plain(len(shape_of(value))) if group is None else group.layout

    def absorbs(self, pad: Pad) -> bool:
        """Whether the halo of a padded tensor is wide enough to be read as the padding."""
        layout = self.of(pad.source)
        covers = zip((*layout.low, *layout.high), (*pad.low, *pad.high), strict=True)
        return pad.source in self.groups and all(own >= wanted for own, wanted in covers)

    # Blocks.

    def _block(self, op: StructuredKernel) -> None:
        padded = None if op.result is None else self._padded_group(op.result)
        if op.result is None or (padded is not None and not padded.is_interleaved):
            return
        shape = shape_of(op.result)
        channel = self._channel_dim(op.maps[-1], shape)
        if channel is None:
            return
        block = self._block_of_inputs(op, channel, shape[CHANNEL_AXIS])
        if block is None:
            group = channel_in_group(op.maps[-1].results[CHANNEL_AXIS])
            block = self._own_block(op, channel, group.size if group else shape[CHANNEL_AXIS])
        self._add(op.result, replace(Layout.plain(len(shape)), block=block))

    def _padded_group(self, value: SSAValue) -> Group | None:
        pad = zero_pad_of(value)
        return None if pad is None else self.groups.get(pad.source)

    def _add(self, value: SSAValue, layout: Layout) -> None:
        self.groups[value] = Group(layout, [value])

    def _channel_dim(self, map: AffineMap, shape: Sequence[int]) -> int | None:
        """Return the dimension that walks the channels of a tensor [n, c, ...], or of a group."""
        if len(shape) < 3 or not is_linear(map):
            return None
        expr = map.results[CHANNEL_AXIS]
        group = channel_in_group(expr)
        if group is not None:
            return group.channel
        return expr.position if isinstance(expr, AffineDimExpr) else None

    def _own_block(self, op: StructuredKernel, channel: int, channels: int) -> int:
        """Return the block for what a reduction over all channels makes of them, or 1."""
        if op.num_parallel == len(op.sizes) or not self._mixes_channels(op, channel):
            return 1
        return self._largest_block(channels, self._most(op))

    def _most(self, op: StructuredKernel) -> int:
        """Return the largest block of what a kernel makes: a vector's lanes, or a row of a tile."""
        lanes = self.processor.lanes
        is_row = (
            self.processor.byte_tiles and op.result is not None and _is_read_as_words(op.result)
        )
        return lanes * BYTES.value if is_row else lanes

    def _largest_block(self, channels: int, lanes: int) -> int:
        smallest = min(SMALLEST_BLOCK, self.processor.lanes)
        if isinstance(channels, OpenSize):
            return 1
        while lanes >= smallest:
            if channels % lanes == 0:
                return lanes
            lanes //= 2
        return 1

    def _mixes_channels(self, op: StructuredKernel, channel: int) -> bool:
        """Whether one input has its own positions but none of the output's channels."""
        positions = used_dims(op.maps[-1]) - {channel}
        window = [used_dims(map) for map in op.maps[:-1]]
        return any(channel not in dims and len(dims & positions) > 1 for dims in window)

    def _block_of_inputs(self, op: StructuredKernel, channel: int, channels: int) -> int | None:
        """Return the block of an input whose channels are the output's, or part of it."""
        factors = (multiplied_inputs(op) if isinstance(op, KernelOp) else None) or ()
        for index, (value, map) in enumerate(zip(op.inputs, op.maps, strict=False)):
            pad = zero_pad_of(value)
            layout = self.of(value if pad is None else pad.source)
            same = self._channel_dim(map, shape_of(value)) == channel
            if same and layout.block > 1:
                # A window of each channel's own pixels stores vectors side by side.
                most = layout.block if index in factors else max(layout.block, self._most(op))
                return self._largest_block(channels, most)
            if layout.block % BYTES.value == 0 and _joins_words(op):
                return layout.block // BYTES.value  # memory is the same then
        return None

    # Concatenation: the parts are stored like the whole, at the start of a block each.

    def _join(self, op: tensor.InsertSliceOp) -> None:
        part, whole = self.groups.get(op.source), self._whole(op)
        interleaves = _interleaves(op)
        if part is None or whole is None or not (interleaves or _is_channel_slice(op)):
            return
        block = min(part.layout.block, whole.layout.block or part.layout.block)
        if op.static_offsets.get_values()[CHANNEL_AXIS] % block:
            return
        part.layout = replace(part.layout, block=block)
        if whole is not part:
            part.members += whole.members
        part.is_interleaved |= whole.is_interleaved or interleaves
        part.members.append(op.result)
        for member in part.members:
            self.groups[member] = part

    def _whole(self, op: tensor.InsertSliceOp) -> Group | None:
        if isinstance(op.dest.owner, tensor.EmptyOp):
            layout = Layout.plain(len(shape_of(op.dest)))
            return Group(replace(layout, block=0))
        return self.groups.get(op.dest)

    # Halos.

    def _widen(self, op: Operation) -> None:
        pad = zero_pad_of(op.results[0]) if op.results else None
        group = None if pad is None else self.groups.get(pad.source)
        if pad is not None and group is not None and group.takes_halo:
            group.layout = group.layout.with_halo(pad.low, pad.high)

    def _share_halo(self, op: Operation) -> None:
        """Give bytes and their words one halo, so that both are the same memory."""
        if not isinstance(op, KernelOp) or op.result is None or not _joins_words(op):
            return
        groups = [self.groups.get(value) for value in (op.inputs[0], op.result)]
        known = [each for each in groups if each is not None and each.takes_halo]
        if len(known) < len(groups):
            return
        for one, other in (known, known[::-1]):
            one.layout = one.layout.with_halo(other.layout.low, other.layout.high)


def _joins_words(op: StructuredKernel) -> bool:
    return isinstance(op, KernelOp) and bytes_of_words(op) is not None


def _is_read_as_words(value: SSAValue) -> bool:
    """Whether a tensor is one of bytes that are joined to words, padded or not."""
    if not is_byte(element_of(value)):
        return False
    for use in value.uses:
        reader = use.operation
        if isinstance(reader, KernelOp) and bytes_of_words(reader) is not None:
            return True
        if reader.results and zero_pad_of(reader.results[0]) is not None:
            if _is_read_as_words(reader.results[0]):
                return True
    return False


def _interleaves(op: tensor.InsertSliceOp) -> bool:
    """Whether an op puts positions of all channels between others."""
    source, dest = shape_of(op.source), shape_of(op.dest)
    if len(source) != len(dest) or len(dest) < 3 or source[CHANNEL_AXIS] != dest[CHANNEL_AXIS]:
        return False
    return max(op.static_strides.get_values()) > 1


def _is_channel_slice(op: tensor.InsertSliceOp) -> bool:
    """Whether an op inserts whole positions of some channels."""
    source, dest = shape_of(op.source), shape_of(op.dest)
    if len(source) != len(dest) or len(dest) < 3:
        return False
    offsets, strides = op.static_offsets.get_values(), op.static_strides.get_values()
    rest = [axis for axis in range(len(dest)) if axis != CHANNEL_AXIS]
    whole = all(source[axis] == dest[axis] and offsets[axis] == 0 for axis in rest)
    return whole and all(stride == 1 for stride in strides)


@dataclass(frozen=True)
class AssignLayouts(TargetPass):
    """Store channels in blocks and zeros around positions, where kernels gain by it.

    1. What mixes channels (a convolution) writes blocks of as many channels as a vector has
       lanes, or of 8 where that divides them; one in groups as many as divide a group's channels.
       What treats each channel for itself keeps the block of what it reads. Bytes that are read as
       words are in blocks of four times as many where the processor multiplies tiles of them.
       Tensors that are concatenated are stored like the whole.
    2. A tensor that is padded with zeros is stored with a halo as wide as its widest padding, which
       the kernel that makes it writes. The padding itself disappears. Below a maximum of what is
       never negative, zeros do for minus infinity. Where tiles are multiplied, words have the halo
       of their bytes, so that all that reads them reads the same words.
    3. Kernels read and write any layout through their maps. Other ops get a copy without one.

    rewrite:
        %y = gawee.kernel ... maps [...,
          (n, f, h, w, c, i, j) -> (n, f, h, w)] : tensor<1x64x56x56xf32>
        ->
        %y = gawee.kernel ... maps [...,
          (n, f, h, w, c, i, j) -> (n, f floordiv 16, h + 1, w + 1, f mod 16)]
          : tensor<1x4x58x58x16xf32>
    """

    name = "assign-layouts"
    numerics: ClassVar[Numerics] = EXACT
    special_values: ClassVar[bool] = True
    takes_open_sizes: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        processor = self.processor
        with with_forms(op):
            for function in op.ops:
                if not isinstance(function, FuncOp) or not function.body.blocks:
                    continue
                for block in kernel_blocks(function):
                    pad_maxima_with_zeros(block)
                    if processor.byte_tiles:
                        pad_words(block)
                        drop_unit_axes(block)
                    _Rewriter(Layouts(block, processor)).run(block)


class _Rewriter:
    """Rewrites a block's kernels so that they read and write the layouts of its tensors."""

    def __init__(self, layouts: Layouts):
        self.layouts = layouts
        self.stored: dict[SSAValue, SSAValue] = {}
        """What holds the elements of a tensor that is not stored plain."""
        self.plain: dict[SSAValue, SSAValue] = {}
        """Copies of stored tensors for ops without layouts."""
        self.absorbed: dict[SSAValue, Pad] = {}
        """Padding that a halo takes the place of."""

    def run(self, block: Block) -> None:
        dead: list[Operation] = []
        for op in list(block.ops):
            if isinstance(op, StructuredKernel) and op.result is not None:
                self._kernel(op, dead)
            elif isinstance(op, tensor.InsertSliceOp) and not self._is_plain(op.result):
                self._insert_slice(op, dead)
            elif not isinstance(op, tensor.EmptyOp):
                self._other(op)
        for op in reversed(dead):
            # Padding stays where an op without layouts reads it.
            if not any(result.uses for result in op.results):
                op.detach()
                op.erase()

    def _is_plain(self, value: SSAValue) -> bool:
        return self.layouts.of(value).is_plain

    # Kernels.

    def _kernel(self, op: StructuredKernel, dead: list[Operation]) -> None:
        result = op.result
        assert result is not None
        layout = self.layouts.of(result)
        pad = zero_pad_of(result)
        if pad is not None and self.layouts.absorbs(pad):
            self.absorbed[result] = pad
            dead.append(op)
        maps = list(op.maps)
        are_read_elsewhere = False
        for index, value in enumerate(op.inputs):
            read, map = self._read(op, value, maps[index])
            if read is not value:
                op.operands[index], maps[index] = read, map
                are_read_elsewhere = True
        if layout.is_plain:
            if are_read_elsewhere:
                op.indexing_maps = ArrayAttr(AffineMapAttr(map) for map in maps)
            return
        maps[-1] = _composed(maps[-1], layout)
        new = self._new_kernel(op, layout, maps)
        self.stored[result] = new
        dead.append(op)

    def _new_kernel(
        self, op: StructuredKernel, layout: Layout, maps: Sequence[AffineMap]
    ) -> SSAValue:
        type = TensorType(element_of(op.target), layout.shape(shape_of(op.target)))
        return self._insert(op, op.with_operands(op.inputs, type, maps=maps))

    def _insert(self, before: Operation, new: Operation) -> SSAValue:
        block = before.parent
        assert block is not None
        hand_on_location(before, new)
        block.insert_op_before(new, before)
        new.results[0].name_hint = before.results[0].name_hint if before.results else None
        return new.results[0]

    def _read(self, op: Operation, value: SSAValue, map: AffineMap) -> tuple[SSAValue, AffineMap]:
        """Return what a kernel reads in the place of a tensor, and where."""
        pad = self.absorbed.get(value)
        source, exprs = value, map.results
        if pad is not None:
            source = pad.source
            exprs = tuple(
                expr + -before if before else expr
                for expr, before in zip(exprs, pad.low, strict=True)
            )
        if source not in self.stored:
            return value, map
        layout = self.layouts.of(source)
        if layout.block > 1 and not is_linear(AffineMap(map.num_dims, 0, (exprs[CHANNEL_AXIS],))):
            return value if pad is not None else self._plain_copy(value), map
        read = AffineMap(map.num_dims, 0, layout.place(exprs))
        return self.stored[source], _simplified(read)

    # Other ops.

    def _other(self, op: Operation) -> None:
        for reader in op.walk():  # bodies may read whole tensors
            for index, value in enumerate(reader.operands):
                if value in self.stored:
                    reader.operands[index] = self._plain_copy(value)

    def _plain_copy(self, value: SSAValue) -> SSAValue:
        if value not in self.plain:
            stored, layout = self.stored[value], self.layouts.of(value)
            assert isinstance(stored.owner, Operation)
            shape = shape_of(value)
            identity = AffineMap.identity(len(shape))
            reads = _composed(identity, layout)
            copy = copy_kernel(stored, shape, bounds=shape, reads=reads, writes=identity)
            hand_on_location(stored.owner, copy)
            # Right behind the original: wherever that was known, the copy is.
            assert stored.owner.parent is not None
            stored.owner.parent.insert_op_after(copy, stored.owner)
            assert copy.result is not None
            copy.result.name_hint = stored.name_hint
            self.plain[value] = copy.result
        return self.plain[value]

    def _insert_slice(self, op: tensor.InsertSliceOp, dead: list[Operation]) -> None:
        """Insert a part into a whole that is stored in the same layout."""
        layout = self.layouts.of(op.result)
        shape = layout.shape(shape_of(op.result))
        source = self.stored[op.source]
        dest = self.stored.get(op.dest)
        if dest is None:
            assert isinstance(op.dest.owner, tensor.EmptyOp)
            open_sizes = self._open_sizes(op, op.dest.owner.dynamic_sizes, layout)
            type = TensorType(element_of(op.result), shape)
            dest = self._insert(op, tensor.EmptyOp(open_sizes, type))
        within = len(shape) - len(op.static_offsets.get_values())
        offsets = [*op.static_offsets.get_values(), *[0] * within]
        offsets[CHANNEL_AXIS] //= layout.block
        strides = [*op.static_strides.get_values(), *[1] * within]
        static, open_sizes = without_names(shape_of(source)), self._open_sizes(op, op.sizes, layout)
        new = tensor.InsertSliceOp.get(source, dest, static, offsets, strides, sizes=open_sizes)
        self.stored[op.result] = self._insert(op, new)
        dead.append(op)

    def _open_sizes(
        self, op: tensor.InsertSliceOp, sizes: Sequence[SSAValue], layout: Layout
    ) -> Sequence[SSAValue]:
        """Return the open sizes of a tensor with its halo: none is that of channels in blocks."""
        axes = [axis for axis, size in enumerate(shape_of(op.source)) if isinstance(size, OpenSize)]
        halos = [layout.low[axis] + layout.high[axis] for axis in axes]
        return [
            self._insert(op, arith.AddiOp(size, self._insert(op, index_constant(halo))))
            if halo
            else size
            for size, halo in zip(sizes, halos, strict=True)
        ]


def _composed(map: AffineMap, layout: Layout) -> AffineMap:
    return AffineMap(map.num_dims, 0, layout.place(map.results))


def _simplified(map: AffineMap) -> AffineMap:
    """Add up the offsets of padding and halo: (h + i) + -1 + 1 -> h + i."""
    exprs: list[AffineExpr] = [
        expr.simplify(map.num_dims, 0) if is_linear(AffineMap(map.num_dims, 0, (expr,))) else expr
        for expr in map.results
    ]
    return AffineMap(map.num_dims, 0, tuple(exprs))
