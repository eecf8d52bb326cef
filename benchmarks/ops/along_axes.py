"""Ops that combine elements along axes, normalize them, or put them in order."""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from xdsl.ir import Operation

from benchmarks.ops.case import Case, Operand
from benchmarks.ops.operands import flags, normal, positive, unit
from gawee_dialect.dialect.graph import normalization, order, reduction

PLANES = ((128, 128), (256, 1000), (2048, 1024))
CUBES = ((4, 127, 33), (8, 511, 64), (16, 2047, 65))


def rows(name: str, op: Callable[..., Operation], eager: Callable[..., object]) -> Case:
    """Return an op along the last axis."""
    return Case(name, op, eager, [[normal(*shape)] for shape in PLANES])


def reduced(
    name: str,
    op: type[reduction.ReduceOp],
    eager: Callable[..., object],
    make: Callable[..., Operand] = normal,
) -> Sequence[Case]:
    """Return a reduction along the last axis, and along one in the middle."""
    return [
        Case(
            f"{name}, last axis",
            lambda x: op(x, axes=[1]),
            lambda x: eager(x, 1),
            [[make(*shape)] for shape in PLANES],
        ),
        Case(
            f"{name}, middle axis",
            lambda x: op(x, axes=[1]),
            lambda x: eager(x, 1),
            [[make(*shape)] for shape in CUBES],
        ),
    ]


def argument(name: str, op: type[reduction.ArgOp], eager: Callable[..., object]) -> Sequence[Case]:
    """Return a search for a position along the last axis, and along the first."""
    return [
        rows(f"{name}, last axis", lambda x: op(x, axis=1), lambda x: eager(x, 1)),
        rows(f"{name}, first axis", lambda x: op(x, axis=0), lambda x: eager(x, 0)),
    ]


REDUCTIONS = [
    *reduced("reduce_sum", reduction.ReduceSumOp, torch.sum),
    *reduced("reduce_mean", reduction.ReduceMeanOp, torch.mean),
    *reduced("reduce_max", reduction.ReduceMaxOp, torch.amax),
    *reduced("reduce_min", reduction.ReduceMinOp, torch.amin),
    *reduced("reduce_prod", reduction.ReduceProdOp, torch.prod, unit),
    *reduced("reduce_any", reduction.ReduceAnyOp, torch.any, flags),
    *reduced("reduce_all", reduction.ReduceAllOp, torch.all, flags),
    *argument("arg_max", reduction.ArgMaxOp, torch.argmax),
    *argument("arg_min", reduction.ArgMinOp, torch.argmin),
]

LINES = [
    rows("cumsum, last axis", lambda x: reduction.CumSumOp(x, axis=1), lambda x: x.cumsum(1)),
    rows("cumsum, first axis", lambda x: reduction.CumSumOp(x, axis=0), lambda x: x.cumsum(0)),
    rows("softmax", reduction.SoftmaxOp, lambda x: F.softmax(x, -1)),
    rows("softmax, first axis", lambda x: reduction.SoftmaxOp(x, axis=0), lambda x: x.softmax(0)),
    Case(
        "softmax, long rows",
        reduction.SoftmaxOp,
        lambda x: F.softmax(x, -1),
        [[normal(2, 16384)], [normal(2, 98304)], [normal(2, 393216)]],
    ),
    rows("log_softmax", reduction.LogSoftmaxOp, lambda x: F.log_softmax(x, -1)),
]

ORDERED = [
    rows("sort", order.SortOp, lambda x: torch.sort(x)),
    rows("sort, first axis", lambda x: order.SortOp(x, axis=0), lambda x: torch.sort(x, dim=0)),
    rows("top_k of 5", lambda x: order.TopKOp(x, k=5), lambda x: torch.topk(x, 5)),
    rows("top_k of 50", lambda x: order.TopKOp(x, k=50), lambda x: torch.topk(x, 50)),
]

TOKENS = ((32, 128), (128, 768), (512, 3072))
IMAGES = ((1, 32, 14, 14), (1, 64, 56, 56), (4, 128, 56, 56))


def channels(shape: Sequence[int]) -> list[Operand]:
    """Return mean, variance, scale and bias of each channel."""
    return [normal(shape[1]), positive(shape[1]), normal(shape[1]), normal(shape[1])]


NORMALIZATIONS = [
    Case(
        "layer_norm",
        lambda x, w, b: normalization.LayerNormOp(x, w, b),
        lambda x, w, b: F.layer_norm(x, w.shape, w, b),
        [[normal(*shape), normal(shape[1]), normal(shape[1])] for shape in TOKENS],
        weights=2,
    ),
    Case(
        "rms_norm",
        lambda x, w: normalization.RmsNormOp(x, w, eps=1e-6),
        lambda x, w: F.rms_norm(x, w.shape, w, eps=1e-6),
        [[normal(*shape), normal(shape[1])] for shape in TOKENS],
        weights=1,
    ),
    Case(
        "group_norm",
        lambda x, w, b: normalization.GroupNormOp(x, w, b, groups=8),
        lambda x, w, b: F.group_norm(x, 8, w, b),
        [[normal(*shape), normal(shape[1]), normal(shape[1])] for shape in IMAGES],
        weights=2,
    ),
    Case(
        "batch_norm",
        lambda x, m, v, w, b: normalization.BatchNormOp(x, m, v, w, b),
        lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b),
        [[normal(*shape), *channels(shape)] for shape in IMAGES],
        weights=4,
    ),
]

CASES: Sequence[Case] = (*REDUCTIONS, *LINES, *ORDERED, *NORMALIZATIONS)
