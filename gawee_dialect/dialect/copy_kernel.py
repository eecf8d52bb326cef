"""Kernels that move elements about unchanged: copies, transpositions, padding, packing."""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.rewriter import InsertPoint

from gawee_dialect.dialect.kernel import KernelOp, Number, YieldOp, element_of


def copy_kernel(
    source: SSAValue,
    shape: Sequence[int],
    *,
    bounds: Sequence[int],
    reads: AffineMap,
    writes: AffineMap,
    outside: Number | None = None,
) -> KernelOp:
    """Make a kernel that copies elements of a tensor to other places of a new one.

    Both maps are over `bounds`; what no point is about is `outside`, zero for None.
    """
    element = element_of(source)
    block = Block(arg_types=[element])
    Builder(InsertPoint.at_end(block)).insert(YieldOp(block.args[0]))
    return KernelOp(
        [source],
        TensorType(element, shape),
        bounds=bounds,
        maps=[reads, writes],
        finish=Region(block),
        outside=outside,
    )


def insert_copy(builder: Builder, kernel: KernelOp) -> SSAValue:
    """Insert a kernel on tensors; its result is named after the first input."""
    result = builder.insert(kernel).result
    assert result is not None
    result.name_hint = kernel.inputs[0].name_hint
    return result
