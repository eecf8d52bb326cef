"""Calls of reductions and of what is made of them."""

import torch

from tests.frontends.aten.calls import Call, Draw, case

NUMBERS = (torch.float32, torch.float64, torch.int64, torch.int32, torch.int16)


def dims(d: Draw, rank: int):
    return d.choice(None, [], [0], [-1], list(range(rank)), [0, -1] if rank > 1 else [0])


@case("aten.sum.dim_IntList")
def sum_dims(d: Draw) -> Call:
    shape = d.shape(1, 4)
    dtype = d.choice(None, torch.float64)
    value = d.tensor(*shape, dtypes=(*NUMBERS, torch.bool))
    return Call([value, dims(d, len(shape)), d.bool()], {"dtype": dtype})


@case("aten.mean.dim")
def mean_dims(d: Draw) -> Call:
    shape = d.shape(1, 4)
    return Call([d.floats(*shape), dims(d, len(shape)), d.bool()])


@case("aten.sum.default", "aten.prod.default")
def sum_all(d: Draw) -> Call:
    return Call([d.tensor(*d.shape(0, 3), dtypes=(*NUMBERS, torch.bool))], rtol=1e-4)


@case("aten.mean.default")
def mean_all(d: Draw) -> Call:
    return Call([d.floats(*d.shape(0, 3))])


@case("aten.max.default", "aten.min.default")
def max_all(d: Draw) -> Call:
    return Call([d.tensor(*d.shape(0, 3), dtypes=(*NUMBERS, torch.bool))])


@case("aten.prod.dim_int")
def prod_dim(d: Draw) -> Call:
    shape = d.shape(1, 3)
    return Call([d.tensor(*shape), d.dim(shape), d.bool()])


@case("aten.amax.default", "aten.amin.default")
def amax(d: Draw) -> Call:
    shape = d.shape(1, 3)
    return Call(
        [d.tensor(*shape, dtypes=(*NUMBERS, torch.bool)), dims(d, len(shape)) or [], d.bool()]
    )


@case("aten.max.dim", "aten.min.dim")
def max_dim(d: Draw) -> Call:
    shape = d.shape(1, 3)
    return Call([d.floats(*shape), d.dim(shape), d.bool()])


@case("aten.argmax.default", "aten.argmin.default")
def argmax(d: Draw) -> Call:
    shape = d.shape(1, 3)
    return Call([d.floats(*shape), d.choice(None, d.dim(shape)), d.bool()])


@case("aten.any.dim", "aten.all.dim")
def any_dim(d: Draw) -> Call:
    shape = d.shape(1, 3)
    value = d.tensor(*shape, dtypes=(torch.bool, torch.int64, torch.float32, torch.uint8))
    return Call([value, d.dim(shape), d.bool()])


@case("aten.any.dims", "aten.all.dims")
def any_dims(d: Draw) -> Call:
    return Call([d.bools(2, 3, 4), d.choice(None, [0, 2], [1]), d.bool()])


@case("aten.any.default", "aten.all.default")
def any_all(d: Draw) -> Call:
    return Call([d.tensor(*d.shape(0, 2), dtypes=(torch.bool, torch.uint8))])


@case("aten.cumsum.default")
def cumsum(d: Draw) -> Call:
    shape = d.shape(1, 3)
    value = d.tensor(*shape, dtypes=(*NUMBERS, torch.bool))
    return Call([value, d.dim(shape)], {"dtype": d.choice(None, torch.float64)})


@case("aten.logsumexp.default")
def logsumexp(d: Draw) -> Call:
    value = d.floats(2, 3, 4)
    if d.bool():
        value[0, 0] = -float("inf")
    return Call([value, d.choice([2], [0, -1]), d.bool()])


@case("aten.linalg_vector_norm.default")
def vector_norm(d: Draw) -> Call:
    order = d.choice(2, 1, float("inf"), -float("inf"), 0, 3, 2.0, 0.5)
    return Call([d.floats(2, 3, 4), order, d.choice(None, [1], [0, -1]), d.bool()], rtol=1e-4)


@case("aten.norm.ScalarOpt_dim")
def norm(d: Draw) -> Call:
    return Call([d.floats(2, 3), d.choice(None, 1, 2), [1], d.bool()])


@case("aten.norm.Scalar")
def norm_all(d: Draw) -> Call:
    return Call([d.floats(2, 3), d.choice(1, 2)])


def distinct(d: Draw, *shape: int) -> torch.Tensor:
    count = torch.Size(shape).numel()
    order = torch.randperm(count, generator=torch.Generator().manual_seed(d.int(0, 999)))
    return order.reshape(shape).float() - 5


@case("aten.topk.default")
def topk(d: Draw) -> Call:
    if d.bool():
        return Call([d.floats(), 1, d.choice(0, -1), d.bool()])
    return Call([distinct(d, 3, 5), d.int(1, 3), d.choice(0, 1, -1), d.bool()])


@case("aten.sort.default")
def sort(d: Draw) -> Call:
    return Call([d.choice(distinct(d, 3, 5), d.floats()), d.choice(0, -1), d.bool()])


@case("aten.sort.stable")
def sort_stable(d: Draw) -> Call:
    value = d.ints(3, 5, low=0, high=2)
    return Call([value], {"stable": True, "dim": d.choice(0, -1), "descending": d.bool()})


@case("aten.kthvalue.default")
def kthvalue(d: Draw) -> Call:
    return Call([distinct(d, 3, 5), d.int(1, 3), d.choice(0, 1, -1), d.bool()])


@case("aten.argsort.default")
def argsort(d: Draw) -> Call:
    return Call([distinct(d, 3, 5), d.choice(0, -1), d.bool()])


@case(*(f"aten.{name}.correction" for name in ("var", "std", "var_mean", "std_mean")))
def var(d: Draw) -> Call:
    correction = d.choice(None, 0, 1, 2)
    return Call(
        [d.floats(3, 4, 5), d.choice(None, [0], [1, -1])],
        {"correction": correction, "keepdim": d.bool()},
        rtol=1e-4,
    )


@case("aten.var.dim", "aten.std.dim")
def var_dim(d: Draw) -> Call:
    return Call([d.floats(3, 4), [d.choice(0, 1)], d.bool(), d.bool()], rtol=1e-4)


@case("aten.var.default", "aten.std.default")
def var_all(d: Draw) -> Call:
    return Call([d.floats(3, 4), d.bool()], rtol=1e-4)
