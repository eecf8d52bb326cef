"""Random ops that are products of matrices."""

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation

from gawee_dialect.dialect.attention import AttentionOp
from gawee_dialect.dialect.matmul import BatchMatMulOp, MatMulOp
from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.random_ops.values import FLOATS, NUMBERS, value


def matmul(draw: Draw) -> Operation:
    """Draw a linear layer."""
    element, lead, features, out = draw.one_of(FLOATS), draw.shape(), draw.size(), draw.size()
    bias = value(element, [out]) if draw.chance() else None
    return MatMulOp(value(element, [*lead, features]), value(element, [out, features]), bias)


def batch_matmul(draw: Draw) -> Operation:
    """Draw products of matrices, whose second operand may have fewer of them."""
    element, leading = draw.one_of(NUMBERS), draw.shape(draw.integer(0, 2))
    rows, inner, features = draw.shape(3)
    transpose_a, transpose_b = draw.chance(), draw.chance()
    a = [inner, rows] if transpose_a else [rows, inner]
    b = [features, inner] if transpose_b else [inner, features]
    return BatchMatMulOp(
        value(element, [*leading, *a]),
        value(element, [*leading[draw.integer(0, 2) :], *b]),
        transpose_a=transpose_a,
        transpose_b=transpose_b,
    )


def attention(draw: Draw) -> Operation:
    """Draw an attention, with or without a mask, heads of which may share keys."""
    element = draw.one_of(FLOATS)
    batch, heads, own, queries, keys, width, out = draw.shape(7)
    masks = [value(element, [queries, keys]), value(i1, [batch, 1, 1, keys]), None]
    return AttentionOp(
        value(element, [batch, heads * own, queries, width]),
        value(element, [batch, heads, keys, width]),
        value(element, [batch, heads, keys, out]),
        draw.one_of(masks),
        scale=draw.real(0.01, 100) if draw.chance() else None,
        causal=draw.chance(),
    )
