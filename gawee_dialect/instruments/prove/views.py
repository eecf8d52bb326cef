"""Operands of loop nests with one axis per loop: the parts of a number are one loop more."""

from collections.abc import Sequence

import numpy as np
from xdsl.ir.affine import AffineExpr, AffineMap

from gawee_dialect.instruments.prove.numbers import Numbers, as_array
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.loop_views import element_indices, loop_view, operand_view


def _with_parts(affine_map: AffineMap) -> AffineMap:
    dims = [AffineExpr.dimension(dim + 1) for dim in range(affine_map.num_dims)]
    results = (result.replace_dims_and_symbols(dims, []) for result in affine_map.results)
    return AffineMap(affine_map.num_dims + 1, 0, (AffineExpr.dimension(0), *results))


def view_by_loops(array: object, affine_map: AffineMap, ranges: Sequence[int]) -> Array:
    """Return an operand with one axis per loop, a view where the map is linear."""
    if not isinstance(array, Numbers):
        return operand_view(np.asarray(array), affine_map, ranges)
    data = np.asarray(operand_view(array.data, _with_parts(affine_map), (4, *ranges)), np.float64)
    return as_array(Numbers(data, array.dtype))


def target_by_loops(array: object, affine_map: AffineMap, ranges: Sequence[int]) -> Array | None:
    """View an output with one axis per loop; None where the map is not linear."""
    if not isinstance(array, Numbers):
        return loop_view(np.asarray(array), affine_map, ranges)
    view = loop_view(array.data, _with_parts(affine_map), (4, *ranges))
    return None if view is None else as_array(Numbers(view.view(np.float64), array.dtype))


def write(result: Array, affine_map: AffineMap, sizes: Sequence[int], output: Array) -> None:
    """Store the element of every parallel point in its place."""
    view = target_by_loops(output, affine_map, sizes)
    if view is not None:
        view[...] = result
        return
    indices = element_indices(affine_map, sizes, output.shape)
    points = np.broadcast_shapes(*(index.shape for index in indices), (1,) * len(sizes))
    places = tuple(np.broadcast_to(index.astype(np.int64), points) for index in indices)
    output[places] = np.broadcast_to(result, points)
