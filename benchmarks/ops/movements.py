"""Ops that move elements."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F

from benchmarks.ops.case import Case
from benchmarks.ops.operands import normal, orders, whole
from gawee_dialect.dialect.graph.constant import TriOp
from gawee_dialect.dialect.graph.indexing import (
    GatherElementsOp,
    GatherNdOp,
    GatherOp,
    ScatterElementsOp,
    ScatterNdOp,
)
from gawee_dialect.dialect.graph.movement import (
    BroadcastToOp,
    CatOp,
    ReverseOp,
    TileOp,
    TransposeOp,
)
from gawee_dialect.dialect.graph.slicing import InsertSliceOp, PadOp, SliceOp
from gawee_dialect.dialect.types import tensor_shape

PLANES = ((128, 128), (256, 256), (2048, 1024))
CUBES = ((4, 16, 32), (8, 64, 128), (16, 256, 512))


def copied(x: torch.Tensor) -> torch.Tensor:
    """Return the elements of a view in memory of their own."""
    return x.clone(memory_format=torch.contiguous_format)


def inserted(x: torch.Tensor, update: torch.Tensor) -> torch.Tensor:
    """Return a copy with the update in its middle rows."""
    result = x.clone()
    result[1 : 1 + update.shape[0]] = update
    return result


ARRANGED = [
    Case(
        "transpose of a matrix",
        lambda x: TransposeOp(x, permutation=[1, 0]),
        lambda x: copied(x.T),
        [[normal(*shape)] for shape in PLANES],
    ),
    Case(
        "transpose, first two axes",
        lambda x: TransposeOp(x, permutation=[1, 0, 2]),
        lambda x: copied(x.permute(1, 0, 2)),
        [[normal(*shape)] for shape in CUBES],
    ),
    Case(
        "transpose, last two axes",
        lambda x: TransposeOp(x, permutation=[0, 2, 1]),
        lambda x: copied(x.permute(0, 2, 1)),
        [[normal(*shape)] for shape in CUBES],
    ),
    Case(
        "broadcast_to",
        lambda x: BroadcastToOp(x, shape=[64, *tensor_shape(x)]),
        lambda x: copied(x.expand(64, *x.shape)),
        [[normal(each)] for each in (256, 4096, 32768)],
    ),
    Case(
        "tile",
        lambda x: TileOp(x, repeats=[3, 2]),
        lambda x: x.repeat(3, 2),
        [[normal(*shape)] for shape in ((32, 64), (128, 256), (512, 512))],
    ),
    Case(
        "reverse, last axis",
        lambda x: ReverseOp(x, axes=[1]),
        lambda x: x.flip(1),
        [[normal(*shape)] for shape in PLANES],
    ),
    Case(
        "slice",
        lambda x: SliceOp(x, offsets=[1, 3], sizes=[size - 7 for size in tensor_shape(x)]),
        lambda x: copied(x[1:-6, 3:-4]),
        [[normal(*shape)] for shape in PLANES],
    ),
    Case(
        "slice, every second",
        lambda x: SliceOp(
            x,
            offsets=[0, 0],
            sizes=[tensor_shape(x)[0], tensor_shape(x)[1] // 2],
            strides=[1, 2],
        ),
        lambda x: copied(x[:, ::2]),
        [[normal(*shape)] for shape in PLANES],
    ),
    Case(
        "insert_slice",
        lambda x, update: InsertSliceOp(x, update, offsets=[1, 0]),
        inserted,
        [[normal(*shape), normal(shape[0] // 2, shape[1])] for shape in PLANES],
    ),
    Case(
        "pad",
        lambda x: PadOp(x, low=[1, 2], high=[3, 4]),
        lambda x: F.pad(x, [2, 4, 1, 3]),
        [[normal(*shape)] for shape in PLANES],
    ),
    Case(
        "pad by reflection",
        lambda x: PadOp(x, low=[0, 0, 2, 2], high=[0, 0, 2, 2], mode="reflect"),
        lambda x: F.pad(x, [2] * 4, mode="reflect"),
        [[normal(*shape)] for shape in ((1, 3, 32, 32), (1, 16, 64, 64), (1, 64, 128, 128))],
    ),
    Case(
        "cat",
        lambda a, b: CatOp([a, b], dim=1),
        lambda a, b: torch.cat([a, b], 1),
        [[normal(*shape), normal(*shape)] for shape in PLANES],
    ),
    Case("tri", TriOp, torch.tril, [[normal(*shape)] for shape in PLANES]),
]

INDEXED = [
    Case(
        "gather of rows",
        GatherOp,
        lambda x, ids: F.embedding(ids, x),
        [
            [normal(rows, width), whole(rows, count)]
            for rows, width, count in ((1000, 64, 32), (10000, 256, 128), (30000, 768, 512))
        ],
    ),
    Case(
        "gather of columns",
        lambda x, ids: GatherOp(x, ids, axis=1),
        lambda x, ids: x.index_select(1, ids),
        [[normal(*shape), whole(shape[1], shape[1] // 2)] for shape in PLANES],
    ),
    Case(
        "gather_elements",
        lambda x, ids: GatherElementsOp(x, ids, axis=1),
        lambda x, ids: x.gather(1, ids),
        [[normal(*shape), whole(shape[1], *shape)] for shape in PLANES],
    ),
    Case(
        "gather_nd",
        GatherNdOp,
        lambda x, ids: x[ids[:, 0]],
        [
            [normal(rows, width), whole(rows, count, 1)]
            for rows, width, count in ((1000, 64, 32), (10000, 256, 128), (30000, 768, 512))
        ],
    ),
    Case(
        "scatter_elements",
        lambda x, ids, u: ScatterElementsOp(x, ids, u, axis=1),
        lambda x, ids, u: x.scatter(1, ids, u),
        [[normal(*shape), orders(*shape), normal(*shape)] for shape in PLANES],
    ),
    Case(
        "scatter_elements, adding",
        lambda x, ids, u: ScatterElementsOp(x, ids, u, axis=1, reduction="add"),
        lambda x, ids, u: x.scatter_add(1, ids, u),
        [[normal(*shape), whole(shape[1], *shape), normal(*shape)] for shape in PLANES],
    ),
    Case(
        "scatter_nd, adding",
        lambda x, ids, u: ScatterNdOp(x, ids, u, reduction="add"),
        lambda x, ids, u: x.index_put((ids[:, 0],), u, accumulate=True),
        [
            [normal(rows, width), whole(rows, count, 1), normal(count, width)]
            for rows, width, count in ((100, 64, 32), (1000, 256, 128), (2000, 768, 512))
        ],
    ),
]

CASES: Sequence[Case] = (*ARRANGED, *INDEXED)
