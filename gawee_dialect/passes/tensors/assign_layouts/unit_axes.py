"""Tensors without last axes of one element, so that vectors lie along the last one."""

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, TensorType
from xdsl.ir import Block
from xdsl.ir.affine import AffineMap
from xdsl.rewriter import Rewriter

from gawee_dialect.dialect.kernels.kernel import KernelOp, element_of, shape_of
from gawee_dialect.locations import hand_on_location


def drop_unit_axes(block: Block) -> None:
    """Store what kernels compute, and kernels alone read, without last axes of one element.

    tensor<64x1x1xf32>  ->  tensor<64xf32>
    """
    for op in list(block.ops):
        if not isinstance(op, KernelOp) or op.result is None or op.shape is not None:
            continue
        shape = list(shape_of(op.result))
        while len(shape) > 1 and shape[-1] == 1:
            shape.pop()
        readers = dict.fromkeys(use.operation for use in op.result.uses)
        if len(shape) == len(shape_of(op.result)) or not readers:
            continue
        if not all(isinstance(each, KernelOp) and each.parent is block for each in readers):
            continue
        type = TensorType(element_of(op.result), shape)
        maps = [*op.maps[:-1], _first(op.maps[-1], len(shape))]
        new = op.with_operands(op.inputs, type, maps=maps)
        hand_on_location(op, new)
        for reader in readers:
            assert isinstance(reader, KernelOp)
            maps = list(reader.maps)
            for index, value in enumerate(reader.inputs):
                if value is op.result:
                    maps[index] = _first(maps[index], len(shape))
            reader.indexing_maps = ArrayAttr(AffineMapAttr(map) for map in maps)
        Rewriter.replace_op(op, new)


def _first(map: AffineMap, count: int) -> AffineMap:
    return AffineMap(map.num_dims, 0, map.results[:count])
