"""Ops of graphs on exact numbers.

Ops that say what they compute by NumPy's functions mean the same of exact numbers. Here are those
whose meaning makes arrays of its own: windows, paddings, constants.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import product
from math import prod

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.dialect import GAWEE
from gawee_dialect.dialect.cast import BitcastOp, CastOp
from gawee_dialect.dialect.computed import ComputedOp
from gawee_dialect.dialect.constant import ConstantOp
from gawee_dialect.dialect.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.equation import EquationOp
from gawee_dialect.dialect.movement import MovementOp
from gawee_dialect.dialect.pool import AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.resize import InterpolateOp
from gawee_dialect.dialect.slicing import PadOp
from gawee_dialect.dialect.types import tensor_shape, tensor_type
from gawee_dialect.dialect.window import padding_pairs, window_extent, window_shape
from gawee_dialect.instruments.prove.arithmetic import add, divide, matmul, maximum
from gawee_dialect.instruments.prove.from_integers import of_bits, of_integers
from gawee_dialect.instruments.prove.functions import erf
from gawee_dialect.instruments.prove.numbers import (
    Numbers,
    as_array,
    constant,
    filled,
    is_float,
    numbers,
)
from gawee_dialect.interpreter.arrays import Array, dtype_of
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.gawee.resize import counted, interpolate
from gawee_dialect.interpreter.gawee.windows import conv as conv_of_arrays
from gawee_dialect.interpreter.gawee.windows import conv_transpose as conv_transpose_of_arrays
from gawee_dialect.interpreter.gawee.windows import max_pool as max_pool_of_arrays
from gawee_dialect.interpreter.gawee.windows import padded, window_lengths, windows

COLUMN_ELEMENTS = 1 << 21
"""The most numbers that are gathered into matrix columns at once (64 MB)."""


def surrounded(
    input: Numbers,
    padding: Sequence[int],
    outside: float,
    window: tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[int]] | None = None,
) -> Numbers:
    """Surround (n, c, spatial...) with zeros, or with an infinity (see `padded`)."""
    value = padded(input.value, padding, outside, window)
    residues = (padded(part, padding, 0, window) for part in input.residues)
    return Numbers(np.stack([value, *residues]).astype(np.float64, copy=False), input.dtype)


def numbers_in_windows(
    input: Numbers, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Numbers:
    """View (n, c, spatial...) as (n, c, out..., kernel...)."""
    together = input.data.reshape(4 * input.shape[0], *input.shape[1:])
    view = windows(together, kernel, strides, dilations).view(np.float64)
    return Numbers(view.reshape(4, input.shape[0], *view.shape[1:]), input.dtype)


def conv(
    input: Numbers,
    weight: Numbers,
    bias: Numbers | None = None,
    *,
    strides: Sequence[int],
    padding: Sequence[int],
    dilations: Sequence[int],
    groups: int,
) -> Numbers:
    """Convolve (n, g*c, spatial...) with (g*f, c, kernel...) to (n, g*f, out...)."""
    axes = len(strides)
    kernel = weight.shape[2:]
    view = numbers_in_windows(surrounded(input, padding, 0), kernel, strides, dilations)
    batch, out = view.shape[0], view.shape[2 : 2 + axes]
    features, depth = weight.shape[0], prod(weight.shape[1:])
    by_group = view.reshape(batch, groups, weight.shape[1], *view.shape[2:])
    order = (0, 1, 2, *range(3 + axes, 3 + 2 * axes), *range(3, 3 + axes))
    ordered = by_group.transpose(order)
    matrix = weight.reshape(groups, features // groups, depth)
    rows = max(1, COLUMN_ELEMENTS // max(1, batch * groups * depth * prod(out[1:])))
    result = Numbers(np.empty((4, batch, groups, features // groups, *out)), input.dtype)
    for start in range(0, out[0], rows):
        part = ordered[(*(slice(None),) * (3 + axes), slice(start, start + rows))]
        sums = matmul(matrix, part.reshape(batch, groups, depth, -1))
        result[:, :, :, start : start + rows] = sums.reshape(*sums.shape[:3], -1, *out[1:])
    return _with_bias(result.reshape(batch, features, *out), bias)


def _with_bias(result: Numbers, bias: Numbers | None) -> Numbers:
    if bias is None:
        return result
    return add(result, bias.reshape(-1, *(1 for _ in result.shape[2:])))


def conv_transpose(
    input: Numbers,
    weight: Numbers,
    bias: Numbers | None = None,
    *,
    strides: Sequence[int],
    padding: Sequence[int],
    output_padding: Sequence[int],
    dilations: Sequence[int],
    groups: int,
) -> Numbers:
    """Convolve transposed (n, g*c, spatial...) with (g*c, f, kernel...) to (n, g*f, out...)."""
    batch, channels, *spatial = input.shape
    filters, kernel = weight.shape[1], weight.shape[2:]
    columns = input.reshape(batch, groups, channels // groups, prod(spatial))
    by_group = weight.reshape(groups, channels // groups, filters, *kernel)
    along = zip(spatial, kernel, strides, dilations, output_padding, strict=True)
    full = [
        (size - 1) * stride + window_extent(window, dilation) + extra
        for size, window, stride, dilation, extra in along
    ]
    canvas = Numbers(np.zeros((4, batch, groups * filters, *full)), input.dtype)
    for offsets in product(*map(range, kernel)):
        made = matmul(by_group[(..., *offsets)].transpose(0, 2, 1), columns)
        places = zip(offsets, dilations, spatial, strides, strict=True)
        reached = (
            slice(offset * dilation, offset * dilation + (size - 1) * stride + 1, stride)
            for offset, dilation, size, stride in places
        )
        target = canvas[(slice(None), slice(None), *reached)]
        target[...] = add(target, made.reshape(target.shape))
    sides = zip(full, padding_pairs(padding), strict=True)
    kept = (slice(before, size - after) for size, (before, after) in sides)
    return _with_bias(canvas[(slice(None), slice(None), *kept)], bias)


def _pooled(
    op: MaxPoolOp | AvgPoolOp,
    input: Numbers,
    dilations: Sequence[int],
    outside: float,
    combine: Callable[..., Numbers],
) -> Numbers:
    """Combine the numbers of every window of (n, c, spatial...)."""
    kernel, strides, padding = (each.get_values() for each in (op.kernel, op.strides, op.padding))
    ceil = bool(op.ceil_mode.value.data)
    counts = window_shape(input.shape[2:], kernel, strides, padding, dilations, ceil)
    full = surrounded(input, padding, outside, (counts, kernel, strides, dilations))
    view = numbers_in_windows(full, kernel, strides, dilations)
    first = view[(slice(None), slice(None), *map(slice, counts))]
    places = product(*map(range, kernel))
    result = first[(..., *next(places))].copy()
    for offsets in places:
        result = combine(result, first[(..., *offsets)])
    return result


def _erf(input: Array) -> Array:
    return as_array(erf(input))


FUNCTIONS: Mapping[str, Callable[..., Array]] = {"erf": _erf}
"""Functions of equations that are no functions of NumPy."""


def _computed(
    functions: OpFunctions, interpreter: Interpreter, op: Operation, args: PythonValues
) -> PythonValues:
    assert isinstance(op, ComputedOp)
    dtype = dtype_of(op.results[0].type)
    if is_float(dtype) and not any(isinstance(each, Numbers) for each in args):
        return (_of_integers(op, args, dtype),)
    wide = [_wide(each) for each in args]
    by_equation = isinstance(op, EquationOp)
    result = op.compute_all(wide, FUNCTIONS) if by_equation else op.compute_all(wide)
    return (result.astype(dtype, copy=False),)


def _wide(array: Array) -> Array:
    """Return numbers as those of the type that ops compute f16 in: no constant is rounded to it."""
    return array.astype(np.float32) if array.dtype == np.float16 else array


def _of_integers(op: ComputedOp, args: PythonValues, dtype: np.dtype[np.generic]) -> Array:
    """Return the numbers that an op makes of integers alone."""
    if isinstance(op, CastOp):
        return of_integers(args[0], dtype)
    result = op.compute_all(args)
    return of_bits(result) if isinstance(op, BitcastOp) else as_array(numbers(result))


def _moved(
    functions: OpFunctions, interpreter: Interpreter, op: Operation, args: PythonValues
) -> PythonValues:
    assert isinstance(op, MovementOp)
    try:
        return (op.evaluate(*args),)
    except IndexError as error:
        raise InterpretationError(str(error)) from error


def _generic() -> type[OpFunctions]:
    members: dict[str, Callable[..., PythonValues]] = {}
    for op in GAWEE.operations:
        if issubclass(op, ComputedOp):
            members[op.__name__] = impl(op)(_computed)
        elif issubclass(op, MovementOp):
            members[op.__name__] = impl(op)(_moved)
    return register_impls(type("ExactGraphOps", (OpFunctions,), members))


ExactGraphOps = _generic()


@register_impls
class ExactGraphOpsWithArrays(OpFunctions):
    """Ops whose meaning makes arrays of its own; integers have the interpreter's."""

    @impl(ConstantOp)
    def constant(
        self, interpreter: Interpreter, op: ConstantOp, args: PythonValues
    ) -> PythonValues:
        return (constant(op.value, op.result.type),)

    @impl(arith.ConstantOp)
    def scalar_constant(
        self, interpreter: Interpreter, op: arith.ConstantOp, args: PythonValues
    ) -> PythonValues:
        return (constant(op.value, op.result.type),)

    @impl(InterpolateOp)
    def interpolate(
        self, interpreter: Interpreter, op: InterpolateOp, args: PythonValues
    ) -> PythonValues:
        result = interpolate(
            args[0],
            size=op.size.get_values(),
            mode=op.mode.data,
            align_corners=op.align_corners is not None,
            scales=None if op.scales is None else op.scales.get_values(),
            float_positions=op.float_positions is not None,
            outputs=lambda count: as_array(Numbers.constants(counted(count))),
        )
        return (result,)

    @impl(PadOp)
    def pad(self, interpreter: Interpreter, op: PadOp, args: PythonValues) -> PythonValues:
        value = op.value
        if value is None:
            return (op.evaluate(args[0]),)
        assert isinstance(value, FloatAttr | IntegerAttr)
        type = tensor_type(op.result)
        result = filled(tensor_shape(op.result), value.value.data, dtype_of(type))
        offsets, sizes = op.kept()
        target = [max(0, before) for before, _ in op.amounts()]
        source = tuple(slice(o, o + n) for o, n in zip(offsets, sizes, strict=True))
        result[tuple(slice(o, o + n) for o, n in zip(target, sizes, strict=True))] = args[0][source]
        return (result,)

    @impl(ConvOp)
    def conv(self, interpreter: Interpreter, op: ConvOp, args: PythonValues) -> PythonValues:
        options = {
            "strides": op.strides.get_values(),
            "padding": op.padding.get_values(),
            "dilations": op.dilations.get_values(),
        }
        groups = op.groups.value.data
        if not isinstance(args[0], Numbers):
            return (conv_of_arrays(*args, **options, groups=groups),)
        return (conv(*map(numbers, args), **options, groups=groups),)

    @impl(ConvTransposeOp)
    def conv_transpose(
        self, interpreter: Interpreter, op: ConvTransposeOp, args: PythonValues
    ) -> PythonValues:
        options = {
            "strides": op.strides.get_values(),
            "padding": op.padding.get_values(),
            "output_padding": op.output_padding.get_values(),
            "dilations": op.dilations.get_values(),
        }
        groups = op.groups.value.data
        if not isinstance(args[0], Numbers):
            return (conv_transpose_of_arrays(*args, **options, groups=groups),)
        return (conv_transpose(*map(numbers, args), **options, groups=groups),)

    @impl(MaxPoolOp)
    def max_pool(self, interpreter: Interpreter, op: MaxPoolOp, args: PythonValues) -> PythonValues:
        dilations = op.dilations.get_values()
        if not isinstance(args[0], Numbers):
            options = {
                "kernel": op.kernel.get_values(),
                "strides": op.strides.get_values(),
                "padding": op.padding.get_values(),
                "dilations": dilations,
            }
            ceil = bool(op.ceil_mode.value.data)
            return (max_pool_of_arrays(args[0], **options, ceil_mode=ceil),)
        return (_pooled(op, args[0], dilations, -np.inf, maximum),)

    @impl(AvgPoolOp)
    def avg_pool(self, interpreter: Interpreter, op: AvgPoolOp, args: PythonValues) -> PythonValues:
        input, kernel = numbers(args[0]), op.kernel.get_values()
        sums = _pooled(op, input, (1,) * len(kernel), 0.0, add)
        counted = bool(op.count_include_pad.value.data)
        pads = padding_pairs(op.padding.get_values())
        strides = op.strides.get_values()
        along = zip(input.shape[2:], sums.shape[2:], kernel, strides, pads, strict=True)
        lengths = [window_lengths(*axis, counted) for axis in along]
        return (divide(sums, reduce(np.multiply, np.ix_(*lengths))),)
