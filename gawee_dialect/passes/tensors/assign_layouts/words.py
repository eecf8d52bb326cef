"""Words of padded bytes as padded words, so that a tensor has the same words padded or not."""

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, TensorType, i64
from xdsl.ir import Block
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.rewriter import Rewriter

from gawee_dialect.analysis.kernel_kind import BYTES, Pad, bytes_of_words, zero_pad_of
from gawee_dialect.dialect.kernels.kernel import KernelOp, copy_kernel, element_of, shape_of
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel
from gawee_dialect.locations import hand_on_location

CHANNEL_AXIS = 1


def pad_words(block: Block) -> None:
    """Join the words of bytes before these are padded with zeros.

    words(pad(%x))  ->  pad(words(%x))
    """
    for op in list(block.ops):
        pad = _pad_of_words(op) if isinstance(op, KernelOp) and op.result is not None else None
        if pad is None:
            continue
        assert isinstance(op, KernelOp)
        sizes = _words(shape_of(pad.source))
        words = op.with_operands(
            [pad.source] * len(op.inputs), TensorType(element_of(op.target), sizes)
        )
        words.bounds = DenseArrayBase.from_list(i64, sizes)
        rank = len(sizes)
        padded = copy_kernel(
            words.target,
            shape_of(op.target),
            bounds=sizes,
            reads=AffineMap.identity(rank),
            writes=AffineMap(
                rank, 0, tuple(AffineDimExpr(dim) + low for dim, low in enumerate(pad.low))
            ),
        )
        for new in (words, padded):
            hand_on_location(op, new)
        Rewriter.replace_op(op, [words, padded], padded.results)


def _pad_of_words(op: KernelOp) -> Pad | None:
    """Return the padding of what a kernel joins words of along channels; None for other kernels."""
    indices = bytes_of_words(op)
    if indices is None or not op.covers_output() or len(set(op.inputs)) != 1:
        return None
    pad, rank = zero_pad_of(op.inputs[0]), len(op.sizes)
    if pad is None or not isinstance(pad.source.owner, StructuredKernel):
        return None
    if op.maps[-1] != AffineMap.identity(rank) or shape_of(pad.source)[CHANNEL_AXIS] % BYTES.value:
        return None
    for part, index in enumerate(indices):
        exprs = list(AffineMap.identity(rank).results)
        exprs[CHANNEL_AXIS] = exprs[CHANNEL_AXIS] * BYTES.value + part
        if list(op.maps[index].results) != exprs:
            return None
    return pad


def _words(sizes: Sequence[int]) -> list[int]:
    found = list(sizes)
    found[CHANNEL_AXIS] //= BYTES.value
    return found
