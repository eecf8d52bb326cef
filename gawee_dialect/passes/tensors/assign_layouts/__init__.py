"""Store channels in blocks and zeros around positions, where kernels gain by it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    ModuleOp,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from gawee_dialect.analysis.padding import Pad, zero_pad_of
from gawee_dialect.dialect.affine_range import is_linear
from gawee_dialect.dialect.graph.scan import kernel_blocks
from gawee_dialect.dialect.kernels.kernel import copy_kernel
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel, element_of, shape_of
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.tensors.assign_layouts.decide import CHANNEL_AXIS, Layout, Layouts
from gawee_dialect.passes.tensors.assign_layouts.maxima import pad_maxima_with_zeros
from gawee_dialect.target.machine import TargetPass


@dataclass(frozen=True)
class AssignLayouts(TargetPass):
    """Store channels in blocks and zeros around positions, where kernels gain by it.

    1. What mixes channels (a convolution) writes blocks of as many channels as a vector has
       lanes, or of 8 where that divides them; one in groups as many as divide a group's channels.
       What treats each channel for itself keeps the block of what it reads. Tensors that are
       concatenated are stored like the whole.
    2. A tensor that is padded with zeros is stored with a halo as wide as its widest padding, which
       the kernel that makes it writes. The padding itself disappears. Below a maximum of what is
       never negative, zeros do for minus infinity.
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

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        processor = self.processor
        for function in op.ops:
            if not isinstance(function, FuncOp) or not function.body.blocks:
                continue
            for block in kernel_blocks(function):
                pad_maxima_with_zeros(block)
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
        for index, value in enumerate(op.inputs):
            op.operands[index], maps[index] = self._read(op, value, maps[index])
        if layout.is_plain:
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
            dest = self._insert(op, tensor.EmptyOp((), TensorType(element_of(op.result), shape)))
        within = len(shape) - len(op.static_offsets.get_values())
        offsets = [*op.static_offsets.get_values(), *[0] * within]
        offsets[CHANNEL_AXIS] //= layout.block
        strides = [*op.static_strides.get_values(), *[1] * within]
        new = tensor.InsertSliceOp.from_static_parameters(
            source, dest, offsets, shape_of(source), strides
        )
        self.stored[op.result] = self._insert(op, new)
        dead.append(op)


def _composed(map: AffineMap, layout: Layout) -> AffineMap:
    return AffineMap(map.num_dims, 0, layout.place(map.results))


def _simplified(map: AffineMap) -> AffineMap:
    """Add up the offsets of padding and halo: (h + i) + -1 + 1 -> h + i."""
    exprs: list[AffineExpr] = [
        expr.simplify(map.num_dims, 0) if is_linear(AffineMap(map.num_dims, 0, (expr,))) else expr
        for expr in map.results
    ]
    return AffineMap(map.num_dims, 0, tuple(exprs))
