"""PyTorch's meaning of every gawee op: an oracle that shares no code with the package's own.

`evaluate(module, arguments)` runs `@main` (after `@prepare`, where there is one) op by op.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import torch
import torch.nn.functional as F
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect.constant import ConstantOp
from gawee_dialect.dialect.conv import ConvOp
from gawee_dialect.dialect.elementwise import AddOp, DivOp, MulOp, ReluOp, SqrtOp, SubOp
from gawee_dialect.dialect.entry import (
    MAIN,
    PREPARE,
    ArgumentKind,
    entry_arguments,
    find_function,
    output_names,
)
from gawee_dialect.dialect.matmul import MatMulOp
from gawee_dialect.dialect.normalization import BatchNormOp
from gawee_dialect.dialect.pool import AdAvgPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.resize import InterpolateOp
from gawee_dialect.dialect.shape import CatOp, FlattenOp, IdentityOp, ReshapeOp
from tests.torch_movement import MOVEMENT

Tensor: TypeAlias = torch.Tensor

TORCH_TYPES = {
    "f32": torch.float32,
    "f16": torch.float16,
    "f64": torch.float64,
    "i64": torch.int64,
    "i32": torch.int32,
    "i8": torch.int8,
    "ui8": torch.uint8,
    "i1": torch.bool,
}


def torch_constant(value: DenseIntOrFPElementsAttr) -> Tensor:
    element = str(value.get_element_type())
    numbers = [v != 0 for v in value.get_values()] if element == "i1" else value.get_values()
    return torch.tensor(numbers, dtype=TORCH_TYPES[element]).reshape(value.get_shape())


def padded(x: Tensor, padding: tuple[int, ...], fill: float) -> Tensor:
    top, left, bottom, right = padding
    return F.pad(x, (left, right, top, bottom), value=fill)


def torch_conv(op: ConvOp, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    return F.conv2d(
        padded(x, op.padding.get_values(), 0),
        weight,
        bias,
        stride=op.strides.get_values(),
        dilation=op.dilations.get_values(),
        groups=op.groups.value.data,
    )


def torch_batch_norm(
    op: BatchNormOp, x: Tensor, mean: Tensor, variance: Tensor, *rest: Tensor
) -> Tensor:
    affine = list(rest)
    scale = affine.pop(0) if op.scale is not None else None
    bias = affine.pop(0) if op.bias is not None else None
    return F.batch_norm(x, mean, variance, scale, bias, training=False, eps=op.eps.value.data)


def symmetric(padding: tuple[int, ...]) -> tuple[int, int]:
    """The padding as PyTorch's pools take it; skip what they can't say."""
    top, left, bottom, right = padding
    assert (top, left) == (bottom, right), "PyTorch pools pad alike on both sides"
    return top, left


def torch_max_pool(op: MaxPoolOp, x: Tensor) -> Tensor:
    padding, input = op.padding.get_values(), x
    if padding[:2] == padding[2:] and all(
        p * 2 <= k for p, k in zip(padding[:2], op.kernel.get_values(), strict=True)
    ):
        torch_padding = symmetric(padding)
    else:
        lowest = -float("inf") if x.is_floating_point() else torch.iinfo(x.dtype).min
        input, torch_padding = padded(x, padding, lowest), (0, 0)
    return F.max_pool2d(
        input,
        op.kernel.get_values(),
        op.strides.get_values(),
        torch_padding,
        op.dilations.get_values(),
        bool(op.ceil_mode.value.data),
    )


def torch_avg_pool(op: AvgPoolOp, x: Tensor) -> Tensor:
    return F.avg_pool2d(
        x,
        op.kernel.get_values(),
        op.strides.get_values(),
        symmetric(op.padding.get_values()),
        bool(op.ceil_mode.value.data),
        bool(op.count_include_pad.value.data),
    )


def torch_interpolate(op: InterpolateOp, x: Tensor, *_size: Tensor) -> Tensor:
    scales = None if op.scales is None else tuple(op.scales.get_values())
    align = op.align_corners is not None if op.mode.data == "bilinear" else None
    sized = {"size": op.size.get_values()} if scales is None else {"scale_factor": scales}
    result = F.interpolate(x, mode=op.mode.data, align_corners=align, **sized)
    assert result.shape[2:] == torch.Size(op.size.get_values())
    return result


MEANING: dict[type[Operation], Callable[..., Tensor | Sequence[Tensor]]] = {
    ConvOp: torch_conv,
    MatMulOp: lambda op, x, weight, bias=None: F.linear(x, weight, bias),
    BatchNormOp: torch_batch_norm,
    ReluOp: lambda op, x: F.relu(x),
    SqrtOp: lambda op, x: torch.sqrt(x),
    AddOp: lambda op, a, b: a + b,
    SubOp: lambda op, a, b: a - b,
    MulOp: lambda op, a, b: a * b,
    DivOp: lambda op, a, b: a / b,
    MaxPoolOp: torch_max_pool,
    AvgPoolOp: torch_avg_pool,
    AdAvgPoolOp: lambda op, x: F.adaptive_avg_pool2d(x, op.output_size.get_values()),
    InterpolateOp: torch_interpolate,
    IdentityOp: lambda op, x: x,
    FlattenOp: lambda op, x: torch.flatten(x, op.start_dim.value.data, op.end_dim.value.data),
    ReshapeOp: lambda op, x: torch.reshape(x, op.shape.get_values()),
    CatOp: lambda op, *xs: torch.cat(xs, op.dim.value.data),
    ConstantOp: lambda op: torch_constant(op.value),
    **MOVEMENT,
}
"""What PyTorch function each op class stands for, given the op and its operands."""


def evaluate_function(function: FuncOp, arguments: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Run one function of gawee ops; arguments and results by their entry names."""
    values: dict[SSAValue, Tensor] = {
        function.body.block.args[argument.index]: arguments[argument.name]
        for argument in entry_arguments(function)
    }
    for op in function.body.block.ops:
        operands = [values[operand] for operand in op.operands]
        if isinstance(op, ReturnOp):
            return dict(zip(output_names(function), operands, strict=True))
        results = MEANING[type(op)](op, *operands)
        results = (results,) if isinstance(results, Tensor) else results
        for value, result in zip(op.results, results, strict=True):
            shape = "".join(f"{n}x" for n in result.shape)
            assert str(value.type).startswith(f"tensor<{shape}")
            values[value] = result
    raise AssertionError("the function has no return")


def evaluate(module: ModuleOp, arguments: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Run `@prepare`, if there is one, then `@main`; NumPy arrays in and out, by name."""
    tensors = {name: torch.from_numpy(array) for name, array in arguments.items()}
    main, prepare = find_function(module, MAIN), find_function(module, PREPARE)
    assert main is not None
    if prepare is not None:
        prepared = list(evaluate_function(prepare, tensors).values())
        for argument in entry_arguments(main):
            if argument.kind is ArgumentKind.PREPARED:
                tensors[argument.name] = prepared[int(argument.name)]
    results = evaluate_function(main, tensors)
    return {name: tensor.numpy() for name, tensor in results.items()}
