"""Fourier transforms as products with matrices."""

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.elementwise import AddOp, SubOp
from gawee_dialect.dialect.graph.matmul import MatMulOp
from gawee_dialect.dialect.graph.movement import CatOp
from gawee_dialect.dialect.graph.slicing import PadOp
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.op_mapping.emitter import Emitter, part, permuted
from gawee_dialect.frontends.op_mapping.registry import Refusal

LONGEST = 4096
"""Of transforms: their matrices are written into the graph."""


def transformed(
    emit: Emitter, x: SSAValue, axis: int, length: int, *, inverse: bool, onesided: bool
) -> SSAValue:
    """Return the discrete Fourier transform of an axis; the last one has real, imaginary parts.

    length: how much of the axis is taken; what it lacks is 0. The inverse divides by it. With
        `onesided` the half that says all of a real signal is made, or read to make that signal.

    A transform of n numbers is a product with a matrix: 2 n^2 products for a real signal, 4 n^2 for
    a complex one. Raises Refusal for a length above `LONGEST`.
    """
    if length > LONGEST:
        raise Refusal(
            f"unsupported Fourier transform of length {length}; supported: up to {LONGEST}"
        )
    shape = tensor_shape(x)
    real = part(emit, x, len(shape) - 1, 0, 1)
    imaginary = part(emit, x, len(shape) - 1, 1, 1) if shape[-1] == 2 else None
    parts = [
        None if each is None else _moved(emit, emit.reshape(each, shape[:-1]), axis, length)
        for each in (real, imaginary)
    ]
    if inverse and onesided:
        return _back(emit, _real_inverse(emit, parts, axis, length, shape[axis]), axis, None)
    rows = length // 2 + 1 if onesided else length
    angles = 2 * np.pi * np.outer(np.arange(rows), np.arange(length)) / length
    scale = 1 / length if inverse else 1.0
    cosine, sine = np.cos(angles) * scale, np.sin(angles) * (scale if inverse else -scale)
    first, second = parts
    assert first is not None
    out_real, out_imaginary = _product(emit, first, cosine), _product(emit, first, sine)
    if second is not None:
        out_real = emit(SubOp(out_real, _product(emit, second, sine)))
        out_imaginary = emit(AddOp(out_imaginary, _product(emit, second, cosine)))
    return _back(emit, out_real, axis, out_imaginary)


def _real_inverse(
    emit: Emitter, parts: list[SSAValue | None], axis: int, length: int, given: int
) -> SSAValue:
    """Return a real signal from the half of its transform that says all."""
    count = min(given, length // 2 + 1)
    weights = np.full(length, 0.0)
    weights[:count] = 2
    weights[0] = 1
    if length % 2 == 0 and count == length // 2 + 1:
        weights[length // 2] = 1
    angles = 2 * np.pi * np.outer(np.arange(length), np.arange(length)) / length
    real, imaginary = parts
    assert real is not None
    result = _product(emit, real, np.cos(angles) * weights / length)
    if imaginary is None:
        return result
    return emit(SubOp(result, _product(emit, imaginary, np.sin(angles) * weights / length)))


def _moved(emit: Emitter, x: SSAValue, axis: int, length: int) -> SSAValue:
    """Return a tensor with an axis last, cut or filled with zeros to a length."""
    rank = len(tensor_shape(x))
    moved = permuted(emit, x, [each for each in range(rank) if each != axis] + [axis])
    size = tensor_shape(x)[axis]
    if size > length:
        return part(emit, moved, rank - 1, 0, length)
    if size < length:
        none = [0] * (rank - 1)
        return emit(PadOp(moved, low=[*none, 0], high=[*none, length - size]))
    return moved


def _product(emit: Emitter, x: SSAValue, matrix: NDArray[np.float64]) -> SSAValue:
    return emit(MatMulOp(x, emit.array(matrix, element_type(x))))


def _back(emit: Emitter, real: SSAValue, axis: int, imaginary: SSAValue | None) -> SSAValue:
    parts = [real] if imaginary is None else [real, imaginary]
    rank = len(tensor_shape(real))
    order = [each for each in range(rank) if each != axis] + [axis]
    back = [permuted(emit, each, [order.index(i) for i in range(rank)]) for each in parts]
    joined = [emit.reshape(each, (*tensor_shape(each), 1)) for each in back]
    return joined[0] if len(joined) == 1 else emit(CatOp(joined, dim=rank))
