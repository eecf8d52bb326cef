"""Random reductions, and ops that go along one axis."""

from collections.abc import Callable, Sequence

from xdsl.ir import Attribute, Operation

from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.random_ops.values import Maker, value


def reduction(kind: Callable[..., Operation], elements: Sequence[Attribute]) -> Maker:
    """Return what draws a reduction over some axes, or over none."""

    def make(draw: Draw) -> Operation:
        dims = draw.shape()
        axes = draw.permuted(range(len(dims)))[draw.integer(0, len(dims)) :]
        signed = [axis - draw.one_of((0, len(dims))) for axis in axes]
        return kind(value(draw.one_of(elements), dims), axes=signed, keep_dims=draw.chance())

    return make


def along_axis(kind: Callable[..., Operation], elements: Sequence[Attribute], *flags: str) -> Maker:
    """Return what draws an op along one axis, with flags set or not."""

    def make(draw: Draw) -> Operation:
        dims = draw.shape(least=1)
        given = {flag: draw.chance() for flag in flags}
        return kind(value(draw.one_of(elements), dims), axis=draw.axis(dims), **given)

    return make
