"""Random normalizations, with scale and bias or without."""

from xdsl.ir import Operation

from gawee_dialect.dialect.normalization import BatchNormOp, GroupNormOp, LayerNormOp, RmsNormOp
from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.random_ops.values import FLOATS, value


def _epsilon(draw: Draw) -> float:
    return draw.one_of((0.0, 1e-5, 1e-3, draw.real(0, 1), draw.real(0, 1e6)))


def batch_norm(draw: Draw) -> Operation:
    """Draw a normalization by statistics that are weights."""
    element, channels = draw.one_of(FLOATS), draw.size()
    mean, variance, scale, bias = (value(element, [channels]) for _ in range(4))
    return BatchNormOp(
        value(element, [draw.size(), channels, *draw.shape()]),
        mean,
        variance,
        scale if draw.chance() else None,
        bias if draw.chance() else None,
        eps=_epsilon(draw),
    )


def layer_norm(draw: Draw) -> Operation:
    """Draw a normalization of the last axes."""
    element, dims = draw.one_of(FLOATS), draw.shape(least=1)
    rank = draw.integer(1, len(dims))
    scale, bias = (value(element, dims[-rank:]) if draw.chance() else None for _ in range(2))
    input = value(element, dims)
    return LayerNormOp(input, scale, bias, normalized_rank=rank, eps=_epsilon(draw))


def rms_norm(draw: Draw) -> Operation:
    """Draw a normalization by the mean of squares."""
    element, dims = draw.one_of(FLOATS), draw.shape(least=1)
    rank = draw.integer(1, len(dims))
    scale = value(element, dims[-rank:]) if draw.chance() else None
    return RmsNormOp(value(element, dims), scale, normalized_rank=rank, eps=_epsilon(draw))


def group_norm(draw: Draw) -> Operation:
    """Draw a normalization of groups of channels."""
    element, groups, channels = draw.one_of(FLOATS), draw.size(), draw.size()
    size = [groups * channels]
    scale, bias = (value(element, size) if draw.chance() else None for _ in range(2))
    input = value(element, [draw.size(), groups * channels, *draw.shape()])
    return GroupNormOp(input, scale, bias, groups=groups, eps=_epsilon(draw))
