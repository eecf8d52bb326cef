"""Calls of running extremes, positions in sorted values, medians and histograms."""

import torch

from tests.frontends.aten.calls import Call, Draw, case
from tests.frontends.aten.cases_reduction import distinct

FLOATS = (torch.float32, torch.float64)


@case("aten.cumprod.default")
def cumprod(d: Draw) -> Call:
    shape = d.choice((7,), (3, 5), (2, 1, 4), ())
    value = d.tensor(*shape, dtypes=(*FLOATS, torch.int32, torch.bool))
    return Call([value, d.dim(shape or (1,))], {"dtype": d.choice(None, torch.float64)})


@case("aten.logcumsumexp.default")
def logcumsumexp(d: Draw) -> Call:
    value = 50 * d.floats(2, 5)
    value[0, :2] = -torch.inf
    return Call([value, d.choice(0, -1)], rtol=1e-5)


@case("aten.cummax.default", "aten.cummin.default")
def cummax(d: Draw) -> Call:
    shape = d.choice((7,), (3, 11), (2, 5, 3), ())
    value = d.ints(*shape, low=-3, high=3, dtype=d.choice(torch.int64, *FLOATS))
    if value.is_floating_point() and len(shape) == 2:
        value[1, 4] = value[1, 6] = float("nan")
    return Call([value, d.dim(shape or (1,))])


@case("aten.bucketize.Tensor")
def bucketize(d: Draw) -> Call:
    bounds = torch.tensor([-2.0, -1.0, 0.0, 0.0, 3.0]).to(d.choice(torch.float32, torch.int64))
    value = d.ints(*d.shape(0, 3), low=-3, high=4).to(d.choice(torch.float32, torch.int32))
    return Call([value, bounds], {"out_int32": d.bool(), "right": d.bool()})


@case("aten.bucketize.Scalar")
def bucketize_number(d: Draw) -> Call:
    return Call([d.choice(-3, 0.0, 2.5), torch.tensor([-1.0, 0.0, 2.5])], {"right": d.bool()})


@case("aten.searchsorted.Tensor")
def searchsorted(d: Draw) -> Call:
    options = d.choice({"right": True}, {"side": "right"}, {"side": "left"}, {"out_int32": True})
    if d.bool():
        value = d.floats(3, 4)
        value[1, 2] = float("nan")
        return Call([d.floats(5).sort().values, value], options)
    bounds = d.ints(2, 3, 5, low=-3, high=3).float()
    order = bounds.argsort(stable=True)
    given = {"sorter": order} if d.bool() else {}
    bounds = bounds if given else bounds.sort().values
    return Call([bounds, d.ints(2, 3, 4, low=-4, high=4).float()], options | given)


@case("aten.searchsorted.Scalar")
def searchsorted_number(d: Draw) -> Call:
    return Call([d.floats(5).sort().values, d.choice(0.5, -9, 9)], {"right": d.bool()})


@case("aten.median.dim", "aten.nanmedian.dim")
def median(d: Draw) -> Call:
    value = distinct(d, 3, 5, 4)
    if d.bool():
        value[1, 2, 3] = value[1, 3, 3] = float("nan")
    return Call([value, d.choice(0, 1, -1), d.bool()])


@case("aten.median.default", "aten.nanmedian.default")
def median_all(d: Draw) -> Call:
    value = distinct(d, 3, d.choice(3, 4)).to(d.choice(*FLOATS, torch.int64))
    if value.is_floating_point() and d.bool():
        value[1, 2] = float("nan")
    return Call([value])


@case("aten.mode.default")
def mode(d: Draw) -> Call:
    shape = d.choice((9,), (3, 11), (2, 5, 3), ())
    dtype = d.choice(torch.int64, torch.uint8, torch.bool, *FLOATS)
    value = d.ints(*shape, low=0, high=3).to(dtype)
    return Call([value, d.dim(shape or (1,)), d.bool()])


@case("aten.repeat_interleave.Tensor")
def repeat_interleave(d: Draw) -> Call:
    repeats = d.ints(5, low=0, high=3, dtype=d.choice(torch.int64, torch.int32))
    repeats[2] = 2
    return Call([repeats], {"output_size": int(repeats.sum())})


@case("aten.histc.default")
def histc(d: Draw) -> Call:
    # Sixteenths, so that what is at an edge of a bin is so in both.
    value = d.ints(3, 7, low=-32, high=32).to(d.choice(*FLOATS)) / 16
    return Call([value, d.choice(4, 8, 16)], d.choice({}, {"min": -1, "max": 1}))


@case("aten.diagonal_scatter.default")
def diagonal_scatter(d: Draw) -> Call:
    offset, value = d.choice(0, 1, -1, 3, -2), d.tensor(3, 2, 5, 4)
    dims = d.choice((1, 2), (-1, 0), (2, -4))
    return Call([value, d.floats(*value.diagonal(offset, *dims).shape), offset, *dims])


@case("aten.diagonal.default", "aten.diagonal_copy.default")
def diagonal(d: Draw) -> Call:
    offset = d.choice(0, 1, -1, 3, -2, -9)
    if d.bool():
        return Call([d.tensor(3, 5), offset])
    return Call([d.tensor(3, 2, 5, 4), offset, *d.choice((1, 2), (-1, 0), (2, -4))])
