"""Attention in one pass over keys, whose scores are never all there at the same time.

    options = CodeOptions(passes=(Insertion.at("before=fuse-attention", (AttentionByKeys(),)),))
    sch = schedule(model, options)

Dao et al., FlashAttention, 2022; Milakov and Gimelshein, Online normalizer calculation for softmax,
2018. A step of a scan computes the scores of some keys. What was mixed so far is that by the
greatest score so far: it is scaled when a greater one comes. Heads are computed one after the
other, each in all its blocks of keys.
"""

from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np
from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, UnitAttr
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from gawee_dialect.dialect.dense import dense_of
from gawee_dialect.dialect.graph.arithmetic import ExpOp, MaximumOp
from gawee_dialect.dialect.graph.attention import AttentionOp
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, SubOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp
from gawee_dialect.dialect.graph.movement import ReshapeOp, TransposeOp
from gawee_dialect.dialect.graph.reduction import ReduceMaxOp, ReduceSumOp
from gawee_dialect.dialect.graph.scan import BATCH_MARK, ScanOp, element_of_sequence
from gawee_dialect.dialect.kernels.kernel import YieldOp
from gawee_dialect.dialect.types import AnyTensor, tensor_shape, tensor_type
from gawee_dialect.passes.numerics import Numerics, approximates

LEAST = 4
"""A block of keys is at least this part of what is asked for."""


def filled(builder: Builder, type: AnyTensor, number: float) -> SSAValue:
    """Insert a tensor of one number."""
    array = np.full(type.get_shape(), number, np.float32)
    return builder.insert(ConstantOp(dense_of(array, type))).result


def in_blocks(builder: Builder, value: SSAValue, keys: int) -> SSAValue:
    """Cut (..., all, width) into blocks of keys: (blocks, ..., keys, width)."""
    *leading, count, width = tensor_shape(value)
    shape, rank = (*leading, count // keys, keys, width), len(leading)
    cut = builder.insert(ReshapeOp(value, shape=shape)).results[0]
    order = (rank, *range(rank), rank + 1, rank + 2)
    return builder.insert(TransposeOp(cut, permutation=order)).results[0]


def one_block(builder: Builder, q: SSAValue, arguments: tuple[SSAValue, ...]) -> YieldOp:
    """Insert a step: what is known of the keys so far, and of those of another block."""
    most, total, mixed, k, v = arguments

    def insert(op: BatchMatMulOp | MaximumOp | ReduceMaxOp | ReduceSumOp) -> SSAValue:
        return builder.insert(op).results[0]

    def times(a: SSAValue, b: SSAValue) -> SSAValue:
        return builder.insert(MulOp(a, b)).results[0]

    def power(of: SSAValue, below: SSAValue) -> SSAValue:
        return builder.insert(ExpOp(builder.insert(SubOp(of, below)).results[0])).results[0]

    scores = insert(BatchMatMulOp(q, k, transpose_b=True))
    greatest = insert(MaximumOp(most, insert(ReduceMaxOp(scores, axes=[-1], keep_dims=True))))
    weights, less = power(scores, greatest), power(most, greatest)
    here = insert(ReduceSumOp(weights, axes=[-1], keep_dims=True))
    new_total = builder.insert(AddOp(times(total, less), here)).results[0]
    new_mixed = builder.insert(AddOp(times(mixed, less), insert(BatchMatMulOp(weights, v))))
    return YieldOp(greatest, new_total, new_mixed.results[0])


def by_keys(builder: Builder, op: AttentionOp, keys: int) -> SSAValue:
    """Insert a scan over blocks of keys that computes an attention; return what it mixes."""
    type, result = tensor_type(op.q), tensor_type(op.result)
    scale = filled(builder, TensorType(type.element_type, ()), op.scale.value.data)
    q = builder.insert(MulOp(op.q, scale)).results[0]
    row = TensorType(type.element_type, (*type.get_shape()[:-1], 1))
    types, numbers = (row, row, result), (-np.inf, 0.0, 0.0)
    starts = [filled(builder, each, number) for each, number in zip(types, numbers, strict=True)]
    blocks = [in_blocks(builder, value, keys) for value in (op.k, op.v)]
    taken = [element_of_sequence(tensor_type(value)) for value in blocks]
    body = Block(arg_types=[*types, *taken])
    inner = Builder(InsertPoint.at_end(body))
    inner.insert(one_block(inner, q, tuple(body.args)))
    steps = tensor_shape(op.k)[-2] // keys
    scan = builder.insert(ScanOp(starts, blocks, Region(body), steps=steps))
    _, total, mixed = scan.results
    return builder.insert(DivOp(mixed, total)).results[0]


def by_heads(op: AttentionOp, keys: int) -> None:
    """Replace an attention by one head after the other, each by a scan over blocks of keys.

    So what is known of one head's queries stays in a cache, and no head waits for another one.
    """
    builder = Builder(InsertPoint.before(op))
    heads = prod(tensor_shape(op.q)[:-2])
    sequences: list[SSAValue] = []
    for value in (op.q, op.k, op.v):
        shape = (heads, *tensor_shape(value)[-2:])
        sequences.append(builder.insert(ReshapeOp(value, shape=shape)).results[0])
    body = Block(arg_types=[element_of_sequence(tensor_type(value)) for value in sequences])
    inner = Builder(InsertPoint.at_end(body))
    one = inner.insert(AttentionOp(*body.args, scale=op.scale.value.data))
    inner.insert(YieldOp(by_keys(inner, one, keys)))
    Rewriter.erase_op(one)
    scan = builder.insert(ScanOp([], sequences, Region(body), steps=heads))
    scan.attributes[BATCH_MARK] = UnitAttr()  # no head reads what another one makes
    Rewriter.replace_op(op, ReshapeOp(scan.results[0], shape=tensor_shape(op.result)))


@dataclass(frozen=True)
class AttentionByKeys(ModulePass):
    """Compute attention in one pass over keys, so many at a time or, where these divide, fewer.

    One with a mask, with shared heads, with few keys, or with many that nothing divides stays as
    it is.
    """

    name = "attention-by-keys"
    numerics: ClassVar[Numerics] = approximates(64)

    keys: int = 256

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if isinstance(each, AttentionOp)]:
            q, k = tensor_shape(each.q), tensor_shape(each.k)
            if each.mask is None and each.causal is None and q[:-2] == k[:-2]:
                keys = max(part for part in range(1, self.keys + 1) if k[-2] % part == 0)
                if k[-2] > self.keys <= LEAST * keys:
                    by_heads(each, keys)
