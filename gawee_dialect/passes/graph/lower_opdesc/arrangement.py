"""Slices, joins, orders and grids."""

from collections.abc import Mapping, Sequence
from math import prod
from random import Random

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.arrangement import TransposeOp
from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.gather import GatherOp
from gawee_dialect.dialect.graph.order import SortOp
from gawee_dialect.dialect.graph.reduction import ArgMaxOp, ReduceMaxOp
from gawee_dialect.dialect.graph.resize import InterpolateOp
from gawee_dialect.dialect.graph.shape import CatOp, ReshapeOp
from gawee_dialect.dialect.graph.slicing import PadOp, SliceOp
from gawee_dialect.passes.graph.lower_opdesc.site import Meaning, NoMeaning, Site


def _reshape(site: Site) -> Sequence[SSAValue]:
    return [site.add(ReshapeOp(site.input("src"), shape=site.integers("dims")))]


def _transpose(site: Site) -> Sequence[SSAValue]:
    return [site.add(TransposeOp(site.input("src"), permutation=site.integers("axes")))]


def _slice(site: Site) -> Sequence[SSAValue]:
    sizes = list(site.shape("src"))
    offsets = [0] * len(sizes)
    axis = site.integer("axis")
    offsets[axis], sizes[axis] = site.integer("start"), site.integer("len")
    return [site.add(SliceOp(site.input("src"), offsets=offsets, sizes=sizes))]


def _concat(site: Site) -> Sequence[SSAValue]:
    return [site.add(CatOp([site.input("src1"), site.input("src2")], dim=site.integer("axis")))]


def _resize(site: Site) -> Sequence[SSAValue]:
    """Return a resampling over the axes behind batch and channels, which keep their sizes."""
    before, after = site.shape("src"), site.result_type().get_shape()
    if len(before) not in (3, 4, 5) or before[:2] != after[:2]:
        raise NoMeaning(
            f"expected a tensor of rank 3 to 5 whose first two sizes stay, got {list(before)} "
            f"to {list(after)}"
        )
    linear = {3: "linear", 4: "bilinear", 5: "trilinear"}[len(before)]
    mode = "nearest" if site.text("mode") == "TL_NEAREST" else linear
    return [site.add(InterpolateOp(site.input("src"), size=after[2:], mode=mode))]


def _maxreduce(site: Site) -> Sequence[SSAValue]:
    axis = site.integer("axis")
    return [site.add(ReduceMaxOp(site.input("src"), axes=[axis], keep_dims=True))]


def _maxreduce_arg(site: Site) -> Sequence[SSAValue]:
    where = site.add(ArgMaxOp(site.input("src"), axis=site.integer("axis"), keep_dims=True))
    return [*_maxreduce(site), site.add(CastOp(where, i32))]


def _sorted(site: Site) -> SortOp:
    descending = site.text("dir") == "TL_SORT_DIR_DESCENDING"
    op = SortOp(site.input("src_key"), axis=0, descending=descending)
    site.add(op)
    return op


def _sort1d(site: Site) -> Sequence[SSAValue]:
    return [_sorted(site).results[0]]


def _sort1d_by_key(site: Site) -> Sequence[SSAValue]:
    keys, order = _sorted(site).results
    return [keys, site.add(GatherOp(site.input("src_val"), order, axis=0))]


def _pick1d(site: Site) -> Sequence[SSAValue]:
    stride, count = site.integer("stride"), site.integer("len")
    groups = site.shape("src")[0] // stride
    whole = SliceOp(site.input("src"), offsets=[0], sizes=[groups * stride])
    table = site.add(ReshapeOp(site.add(whole), shape=[groups, stride]))
    chosen = site.add(SliceOp(site.input("src_index"), offsets=[0], sizes=[count]))
    picked = site.add(GatherOp(table, chosen, axis=0))
    return [site.add(ReshapeOp(picked, shape=[count * stride]))]


def _ldmr(site: Site) -> Sequence[SSAValue]:
    more = site.result_type().get_shape()[1] - site.shape("src")[1]
    return [site.add(PadOp(site.input("src"), low=[0, 0], high=[0, more]))]


ARRANGEMENT: Mapping[str, Meaning] = {
    "reshape": _reshape,
    "transpose": _transpose,
    "slice": _slice,
    "concat": _concat,
    "resize": _resize,
    "upsample": _resize,
    "maxreduce": _maxreduce,
    "maxreduce_arg": _maxreduce_arg,
    "sort1d": _sort1d,
    "sort1d_by_key": _sort1d_by_key,
    "pick1d": _pick1d,
    "ldmr": _ldmr,
}


# Tensors of data that a description says.

MAX_ELEMENTS = 1_000_000
"""Of a constant with data of its own; more come from a file."""


def _filled(site: Site, values: Sequence[float]) -> Sequence[SSAValue]:
    type_ = site.result_type()
    return [site.constant(values, type_.get_shape(), type_.element_type)]


def _zeros(site: Site) -> Sequence[SSAValue]:
    return _filled(site, [0])


def _create(site: Site) -> Sequence[SSAValue]:
    """Return random data where a range is given, the same in every run; else the data itself."""
    if site.params["from_file"] is True:
        raise NoMeaning(
            "expected its data in the IR, got a file; a graph has it as an argument of @main"
        )
    low, high = site.numbers("ran")
    data, count = site.numbers("data"), prod(site.result_type().get_shape())
    if low < high:
        if count > MAX_ELEMENTS:
            raise NoMeaning(f"expected at most {MAX_ELEMENTS} random elements, got {count}")
        random = Random(0)
        data = [random.uniform(low, high) for _ in range(count)]
    if len(data) != count and data != [0]:
        raise NoMeaning(f"expected data of {count} elements, got {len(data)}")
    return _filled(site, data)


def _arange(site: Site) -> Sequence[SSAValue]:
    count = site.result_type().get_shape()[0]
    if count > MAX_ELEMENTS:
        raise NoMeaning(f"expected at most {MAX_ELEMENTS} elements, got {count}")
    start, step = site.number("start"), site.number("step")
    return _filled(site, [start + step * index for index in range(count)])


CREATION: Mapping[str, Meaning] = {
    "create": _create,
    "zeros": _zeros,
    "arange": _arange,
    "rearange": _arange,
}
