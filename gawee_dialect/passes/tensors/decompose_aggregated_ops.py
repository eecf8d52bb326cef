"""Write ops that stand for several as those."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    TensorType,
    i64,
)
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from gawee_dialect.dialect.types import AnyTensor, is_float, tensor_shape, tensor_type
from gawee_dialect.passes.graph.lower_to_linalg.along_axis import softmax
from gawee_dialect.passes.graph.lower_to_linalg.tensors import padded
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass
from gawee_dialect.upstream import linalg
from gawee_dialect.upstream.arith import index_constant
from gawee_dialect.upstream.linalg.pack import PackOp, SoftmaxOp, Tiling, UnpackOp
from gawee_dialect.upstream.tensor import GenerateOp, is_padding_computed


class DecomposeConcat(Pattern):
    """tensor.concat -> tensor.empty, a tensor.insert_slice for each input"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.ConcatOp, rewriter: PatternRewriter) -> None:
        type, parts = tensor_type(op.result), [_static(part) for part in op.inputs]
        if any(size < 0 for each in (op.result, *parts) for size in tensor_shape(each)):
            self.missed(op, f"expected static shapes, got '{type}'")
            return
        axis, offset = op.dim.value.data, 0
        value = rewriter.insert(tensor.EmptyOp((), type)).tensor
        for part in parts:
            sizes = tensor_shape(part)
            offsets = [offset if dim == axis else 0 for dim in range(len(sizes))]
            offset += sizes[axis]
            value = rewriter.insert(
                tensor.InsertSliceOp.from_static_parameters(part, value, offsets, sizes)
            ).result
        rewriter.replace(op, (), [value])


def _static(value: SSAValue) -> SSAValue:
    """Return what a cast forgot the shape of; any other value itself."""
    return value.owner.source if isinstance(value.owner, tensor.CastOp) else value


class DecomposeGenerate(Pattern):
    """tensor.generate { body of %i } -> linalg.generic { linalg.index; body }"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenerateOp, rewriter: PatternRewriter) -> None:
        type = tensor_type(op.result)
        if op.sizes:
            self.missed(op, f"expected a static shape, got '{type}'")
            return
        block = Block(arg_types=[type.element_type])
        builder = Builder(InsertPoint.at_end(block))
        values: dict[SSAValue, SSAValue] = {
            index: builder.insert(linalg.IndexOp(dim)).result
            for dim, index in enumerate(op.body.block.args)
        }
        for inner in op.body.block.ops:
            if isinstance(inner, tensor.YieldOp):
                builder.insert(linalg.YieldOp(*(values.get(v, v) for v in inner.operands)))
            else:
                builder.insert(inner.clone(values))
        init = rewriter.insert(tensor.EmptyOp((), type)).tensor
        rewriter.replace(op, _generic(init, Region(block)))


class DecomposePad(Pattern):
    """tensor.pad { body of %i } -> tensor.generate { body }, tensor.insert_slice

    Where the body is a value from outside or a constant, bufferize fills a buffer.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.PadOp, rewriter: PatternRewriter) -> None:
        if not is_padding_computed(op):
            self.missed(op, "expected a body that computes what it yields")
            return
        if op.low or op.high or min(tensor_shape(op.source), default=0) < 0:
            self.missed(op, f"expected a static shape, got '{op.source.type}'")
            return
        offsets, sizes = op.static_low.get_values(), tensor_shape(op.source)
        body = rewriter.move_region_contents_to_new_regions(op.region)
        around = rewriter.insert(GenerateOp((), op.result.type, body)).result
        rewriter.replace(
            op, tensor.InsertSliceOp.from_static_parameters(op.source, around, offsets, sizes)
        )


class DecomposeReshape(Pattern):
    """tensor.reshape -> tensor.collapse_shape to one axis, tensor.expand_shape"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.ReshapeOp, rewriter: PatternRewriter) -> None:
        source, result = tensor_type(op.source), tensor_type(op.result)
        if min((*source.get_shape(), *result.get_shape()), default=0) < 0:
            self.missed(op, f"expected static shapes, got '{source}' and '{result}'")
            return
        flat, value = TensorType(source.element_type, [prod(source.get_shape())]), op.source
        if source.get_num_dims() > 1:
            collapsed = _collapse(value, [range(source.get_num_dims())], flat)
            value = rewriter.insert(collapsed).results[0]
        elif source.get_num_dims() == 0:
            value = rewriter.insert(_expand(value, (), flat)).results[0]
        if result.get_num_dims() > 1:
            expanded = _expand(value, [range(result.get_num_dims())], result)
            value = rewriter.insert(expanded).results[0]
        elif result.get_num_dims() == 0:
            value = rewriter.insert(_collapse(value, (), result)).results[0]
        rewriter.replace(op, (), [value])


class DecomposeSwitch(Pattern):
    """scf.index_switch -> scf.if for each case, the next in its else branch"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.IndexSwitchOp, rewriter: PatternRewriter) -> None:
        types, otherwise = op.result_types, op.default_region
        cases = zip(op.cases.get_values(), op.case_regions, strict=True)
        for case, region in reversed(list(cases)):
            block = Block()
            builder = Builder(InsertPoint.at_end(block))
            wanted = builder.insert(index_constant(case)).result
            is_case = builder.insert(arith.CmpiOp(op.arg, wanted, "eq")).result
            then = rewriter.move_region_contents_to_new_regions(region)
            rest = rewriter.move_region_contents_to_new_regions(otherwise)
            chosen = builder.insert(scf.IfOp(is_case, types, then, rest))
            builder.insert(scf.YieldOp(*chosen.results))
            otherwise = Region(block)
        block = otherwise.block
        end = block.last_op
        assert isinstance(end, scf.YieldOp)
        values = end.operands
        rewriter.erase(end, safe_erase=False)
        rewriter.inline_block(block, InsertPoint.before(op))
        rewriter.replace(op, (), values)


class DecomposeSoftmax(Pattern):
    """linalg.softmax -> linalg.generic: maximum, exp(x - maximum), their sum, the division"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SoftmaxOp, rewriter: PatternRewriter) -> None:
        if op.result is None or not is_float(tensor_type(op.input).element_type):
            self.missed(op, "expected tensors of floats")
            return
        if min(tensor_shape(op.input), default=0) < 0:
            self.missed(op, f"expected a static shape, got '{op.input.type}'")
            return
        rewriter.replace(op, (), [softmax(rewriter, op.input, op.dimension.value.data)])


class DecomposePack(Pattern):
    """linalg.pack -> tensor.pad, tensor.expand_shape, linalg.transpose"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: PackOp, rewriter: PatternRewriter) -> None:
        reason = op.why_not_static()
        if reason is not None:
            self.missed(op, reason)
            return
        tiling = op.tiling()
        source = _padded_to(rewriter, op, tiling)
        split = tiling.split_shape(tensor_shape(source))
        groups = tiling.groups()
        type = TensorType(tensor_type(source).element_type, split)
        expanded = rewriter.insert(_expand(source, groups, type)).results[0]
        order = tiling.packed_order()
        init = rewriter.insert(tensor.EmptyOp((), tensor_type(op.dest))).tensor
        permutation = DenseArrayBase.from_list(i64, order)
        rewriter.replace(op, linalg.TransposeOp(expanded, init, permutation))


class DecomposeUnpack(Pattern):
    """linalg.unpack -> linalg.transpose, tensor.collapse_shape, tensor.extract_slice"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: UnpackOp, rewriter: PatternRewriter) -> None:
        reason = op.why_not_static()
        if reason is not None:
            self.missed(op, reason)
            return
        tiling, packed = op.tiling(), tensor_shape(op.source)
        order = tiling.packed_order()
        inverse = [order.index(dim) for dim in range(len(order))]
        element = tensor_type(op.source).element_type
        split = TensorType(element, [packed[dim] for dim in inverse])
        init = rewriter.insert(tensor.EmptyOp((), split)).tensor
        permutation = DenseArrayBase.from_list(i64, inverse)
        moved = rewriter.insert(linalg.TransposeOp(op.source, init, permutation)).res[0]
        groups = tiling.groups()
        whole = [prod(split.get_shape()[dim] for dim in group) for group in groups]
        collapsed = _collapse(moved, groups, TensorType(element, whole))
        joined = rewriter.insert(collapsed).results[0]
        wanted = tensor_shape(op.dest)
        rewriter.replace(
            op, tensor.ExtractSliceOp.from_static_parameters(joined, [0] * len(wanted), wanted)
        )


def _reassociation(groups: Sequence[Sequence[int]]) -> ArrayAttr[ArrayAttr[IntegerAttr]]:
    return ArrayAttr(ArrayAttr(IntegerAttr(dim, 64) for dim in group) for group in groups)


def _collapse(source: SSAValue, groups: Sequence[Sequence[int]], type: AnyTensor) -> Operation:
    return tensor.CollapseShapeOp.create(
        operands=[source],
        result_types=[type],
        properties={"reassociation": _reassociation(groups)},
    )


def _expand(source: SSAValue, groups: Sequence[Sequence[int]], type: AnyTensor) -> Operation:
    return tensor.ExpandShapeOp.create(
        operands=[source],
        result_types=[type],
        properties={
            "reassociation": _reassociation(groups),
            "static_output_shape": DenseArrayBase.from_list(i64, type.get_shape()),
        },
    )


def _padded_to(builder: Builder, op: PackOp, tiling: Tiling) -> SSAValue:
    """Return the source with every tiled axis a multiple of its tile."""
    shape = tensor_shape(op.source)
    high = tiling.missing(shape)
    if not any(high):
        return op.source
    assert op.padding is not None
    return padded(builder, op.source, [0] * len(shape), high, op.padding)


def _generic(init: SSAValue, body: Region) -> linalg.GenericOp:
    type = tensor_type(init)
    rank = type.get_num_dims()
    maps = [AffineMapAttr(AffineMap.identity(rank))]
    return linalg.GenericOp((), (init,), body, maps, [IteratorTypeAttr.parallel()] * rank, [type])


@dataclass(frozen=True)
class DecomposeAggregatedOps(RewritePass):
    """Write ops that stand for several as those.

    Those of dynamic shape are left alone.

    rewrite:
        linalg.softmax   ->   linalg.generic (maximum; exp(x - maximum); sum; quotient)
        linalg.pack      ->   tensor.pad; tensor.expand_shape; linalg.transpose
        linalg.unpack    ->   linalg.transpose; tensor.collapse_shape; tensor.extract_slice
        tensor.concat    ->   tensor.insert_slice of each input
        tensor.generate  ->   linalg.generic of linalg.index
        tensor.pad       ->   tensor.generate; tensor.insert_slice, where padding is computed
        tensor.reshape   ->   tensor.collapse_shape; tensor.expand_shape
        scf.index_switch ->   scf.if for each case
    """

    name = "decompose-aggregated-ops"
    numerics: ClassVar[Numerics] = EXACT
    special_values: ClassVar[bool] = True
    takes_open_sizes: ClassVar[bool] = True
    patterns = (
        DecomposeConcat,
        DecomposePad,
        DecomposeGenerate,
        DecomposeReshape,
        DecomposeSwitch,
        DecomposeSoftmax,
        DecomposePack,
        DecomposeUnpack,
    )
