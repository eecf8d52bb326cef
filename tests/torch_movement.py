"""PyTorch's meaning of the ops that move elements, a part of the table in `torch_reference`."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Literal

import numpy as np
import torch
from xdsl.ir import Operation

from gawee_dialect.dialect.graph.constant import IotaOp, TriOp
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
    FlattenOp,
    IdentityOp,
    ReshapeOp,
    ReverseOp,
    TileOp,
    TransposeOp,
)
from gawee_dialect.dialect.graph.order import NonMaxSuppressionOp, SortOp, TopKOp
from gawee_dialect.dialect.graph.slicing import InsertSliceOp, PadOp, SliceOp

Tensor = torch.Tensor


def from_start(indices: Tensor, size: int) -> Tensor:
    indices = indices.long()
    return torch.where(indices < 0, indices + size, indices)


def torch_slice(op: SliceOp, x: Tensor) -> Tensor:
    boxes = zip(op.offsets.get_values(), op.sizes.get_values(), op.strides.get_values())
    for axis, (offset, size, stride) in enumerate(boxes):
        x = x.index_select(axis, torch.arange(size) * stride + offset) if x.dim() else x
    return x


def torch_insert_slice(op: InsertSliceOp, x: Tensor, update: Tensor) -> Tensor:
    boxes = zip(op.offsets.get_values(), update.shape, op.strides.get_values(), strict=True)
    where = tuple(slice(offset, offset + size * step, step) for offset, size, step in boxes)
    result = x.clone()
    result[where] = update
    return result


MODES: dict[str, Literal["reflect", "edge", "wrap"]] = {
    "reflect": "reflect",
    "replicate": "edge",
    "circular": "wrap",
}


def torch_pad(op: PadOp, x: Tensor) -> Tensor:
    amounts = list(zip(op.low.get_values(), op.high.get_values(), strict=True))
    if op.value is not None:
        flat = [amount for pair in reversed(amounts) for amount in pair]
        value = op.value.value.data
        return torch.nn.functional.pad(
            x, flat, value=bool(value) if x.dtype is torch.bool else value
        )
    # PyTorch has the other modes for the last axes of certain ranks only; NumPy has them for all.
    return torch.from_numpy(np.pad(x.numpy(), amounts, MODES[op.mode.data])) if amounts else x


def torch_gather(op: GatherOp, x: Tensor, indices: Tensor) -> Tensor:
    axis = op.axis.value.data % x.dim()
    flat = from_start(indices, x.shape[axis]).flatten()
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    return x.index_select(axis, flat).reshape(shape)


def torch_gather_elements(op: GatherElementsOp, x: Tensor, indices: Tensor) -> Tensor:
    axis = op.axis.value.data
    return x.gather(axis, from_start(indices, x.shape[axis]))


def torch_gather_nd(op: GatherNdOp, x: Tensor, indices: Tensor) -> Tensor:
    """One batch after the other: PyTorch's indexing by lists of indices."""
    batch = op.batch_dims.value.data
    indices = indices.long()
    parts = [
        x[point][tuple(indices[point].movedim(-1, 0))]
        for point in product(*map(range, x.shape[:batch]))
    ]
    shape = (*indices.shape[:-1], *x.shape[batch + indices.shape[-1] :])
    return torch.stack(parts).reshape(shape)


TORCH_REDUCTIONS = {"mul": "prod", "max": "amax", "min": "amin"}
COMBINE = {"mul": torch.mul, "max": torch.maximum, "min": torch.minimum}


def torch_scatter_elements(
    op: ScatterElementsOp, x: Tensor, indices: Tensor, updates: Tensor
) -> Tensor:
    axis = op.axis.value.data % x.dim()
    indices = from_start(indices, x.shape[axis])
    if op.reduction.data == "add":
        return x.scatter_add(axis, indices, updates)
    if op.reduction.data != "none":
        return x.scatter_reduce(axis, indices, updates, TORCH_REDUCTIONS[op.reduction.data])
    # PyTorch leaves open which of several updates of one element stays.
    result = x.clone()
    for point in product(*map(range, indices.shape)):
        target = list(point)
        target[axis] = int(indices[point])
        result[tuple(target)] = updates[point]
    return result


def torch_scatter_nd(op: ScatterNdOp, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    indices = indices.long()
    if op.reduction.data == "add":
        return x.index_put(tuple(indices.movedim(-1, 0)), updates, accumulate=True)
    result = x.clone()
    for point in product(*map(range, indices.shape[:-1])):
        place, update = tuple(indices[point]), updates[point]
        combine = COMBINE.get(op.reduction.data)
        result[place] = update if combine is None else combine(result[place], update)
    return result


def torch_iota(op: IotaOp) -> Tensor:
    from tests.torch_reference import TORCH_TYPES

    shape, axis = op.result.type.get_shape(), op.axis.value.data
    numbers = torch.arange(shape[axis], dtype=TORCH_TYPES[str(op.result.type.get_element_type())])
    wide = [1] * len(shape)
    wide[axis] = -1
    return numbers.reshape(wide).expand(shape).clone()


def torch_tri(op: TriOp, x: Tensor) -> Tensor:
    return (torch.triu if op.upper.value.data else torch.tril)(x, op.diagonal.value.data)


def torch_sort(op: SortOp, x: Tensor) -> Sequence[Tensor]:
    descending = bool(op.descending.value.data)
    return tuple(torch.sort(x, dim=op.axis.value.data, descending=descending, stable=True))


def torch_top_k(op: TopKOp, x: Tensor) -> Sequence[Tensor]:
    """PyTorch's topk leaves the order of equal elements open; its stable sort does not."""
    axis, k = op.axis.value.data, op.k.value.data
    ordered = torch.sort(x, dim=axis, descending=bool(op.largest.value.data), stable=True)
    return tuple(part.narrow(axis, 0, k).clone() for part in ordered)


def torch_non_max_suppression(
    op: NonMaxSuppressionOp, candidates: Tensor, overlaps: Tensor
) -> Tensor:
    """Each candidate is struck out by the best one that is left, which is then taken out of both."""
    left, kept = candidates.clone(), torch.zeros_like(candidates)
    for place in product(*map(range, candidates.shape[:-1])):
        while left[place].any():
            best = int(left[place].nonzero()[0])
            kept[place][best] = True
            left[place] &= ~overlaps[place][best]
            left[place][best] = False
    return kept


MOVEMENT: dict[type[Operation], Callable[..., Tensor | Sequence[Tensor]]] = {
    IdentityOp: lambda op, x: x,
    FlattenOp: lambda op, x: torch.flatten(x, op.start_dim.value.data, op.end_dim.value.data),
    ReshapeOp: lambda op, x: torch.reshape(x, op.shape.get_values()),
    CatOp: lambda op, *xs: torch.cat(xs, op.dim.value.data),
    TransposeOp: lambda op, x: x.permute(op.permutation.get_values()).contiguous(),
    BroadcastToOp: lambda op, x: x.expand(op.shape.get_values()).clone(),
    TileOp: lambda op, x: x.repeat(op.repeats.get_values()),
    ReverseOp: lambda op, x: x.flip(op.axes.get_values()),
    SliceOp: torch_slice,
    InsertSliceOp: torch_insert_slice,
    PadOp: torch_pad,
    GatherOp: torch_gather,
    GatherElementsOp: torch_gather_elements,
    GatherNdOp: torch_gather_nd,
    ScatterElementsOp: torch_scatter_elements,
    ScatterNdOp: torch_scatter_nd,
    IotaOp: torch_iota,
    TriOp: torch_tri,
    SortOp: torch_sort,
    TopKOp: torch_top_k,
    NonMaxSuppressionOp: torch_non_max_suppression,
}
"""What PyTorch function each op class stands for, given the op and its operands."""
