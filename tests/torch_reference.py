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
from xdsl.ir import Block, Operation, SSAValue

from gawee_dialect.dialect.entry import (
    MAIN,
    PREPARE,
    ArgumentKind,
    entry_arguments,
    find_function,
    output_names,
)
from gawee_dialect.dialect.graph.attention import AttentionOp
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, ReluOp, SqrtOp, SubOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp, MatMulOp
from gawee_dialect.dialect.graph.normalization import BatchNormOp
from gawee_dialect.dialect.graph.pool import (
    AdaptivePoolOp,
    AdAvgPoolOp,
    AdMaxPoolOp,
    AvgPoolOp,
    MaxPoolOp,
)
from gawee_dialect.dialect.graph.resize import GridSampleOp, InterpolateOp
from gawee_dialect.dialect.graph.scan import ScanOp
from gawee_dialect.dialect.kernels.kernel import YieldOp
from tests.torch_computed import COMPUTED
from tests.torch_movement import MOVEMENT

Tensor: TypeAlias = torch.Tensor

TORCH_TYPES = {
    "f32": torch.float32,
    "f16": torch.float16,
    "f64": torch.float64,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "ui16": torch.uint16,
    "ui8": torch.uint8,
    "i1": torch.bool,
}


def torch_constant(value: DenseIntOrFPElementsAttr) -> Tensor:
    element = str(value.get_element_type())
    numbers = [v != 0 for v in value.get_values()] if element == "i1" else value.get_values()
    return torch.tensor(numbers, dtype=TORCH_TYPES[element]).reshape(value.get_shape())


def padded(x: Tensor, padding: tuple[int, ...], fill: float) -> Tensor:
    axes = len(padding) // 2
    sides = zip(reversed(padding[:axes]), reversed(padding[axes:]), strict=True)
    return F.pad(x, [size for pair in sides for size in pair], value=fill)


CONV = {3: F.conv1d, 4: F.conv2d, 5: F.conv3d}
TRANSPOSED = {3: F.conv_transpose1d, 4: F.conv_transpose2d, 5: F.conv_transpose3d}
MAX_POOL = {3: F.max_pool1d, 4: F.max_pool2d, 5: F.max_pool3d}
AVG_POOL = {3: F.avg_pool1d, 4: F.avg_pool2d, 5: F.avg_pool3d}
AD_AVG_POOL = {3: F.adaptive_avg_pool1d, 4: F.adaptive_avg_pool2d, 5: F.adaptive_avg_pool3d}
AD_MAX_POOL = {3: F.adaptive_max_pool1d, 4: F.adaptive_max_pool2d, 5: F.adaptive_max_pool3d}


def torch_conv(op: ConvOp, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    return CONV[x.dim()](
        padded(x, op.padding.get_values(), 0),
        weight,
        bias,
        stride=op.strides.get_values(),
        dilation=op.dilations.get_values(),
        groups=op.groups.value.data,
    )


def torch_conv_transpose(
    op: ConvTransposeOp, x: Tensor, weight: Tensor, bias: Tensor | None = None
) -> Tensor:
    padding = op.padding.get_values()
    full = TRANSPOSED[x.dim()](
        x,
        weight,
        bias,
        stride=op.strides.get_values(),
        output_padding=op.output_padding.get_values(),
        dilation=op.dilations.get_values(),
        groups=op.groups.value.data,
    )
    axes = len(padding) // 2
    for axis, (before, after) in enumerate(zip(padding[:axes], padding[axes:], strict=True), 2):
        full = full.narrow(axis, before, full.shape[axis] - before - after)
    return full


def torch_batch_matmul(op: BatchMatMulOp, a: Tensor, b: Tensor) -> Tensor:
    return torch.matmul(a.mT if op.transpose_a else a, b.mT if op.transpose_b else b)


def torch_attention(
    op: AttentionOp, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> Tensor:
    scores = (*q.shape[:-1], k.shape[-2])
    if mask is not None:
        mask = mask.expand(scores)
    if op.causal and mask is not None:
        hidden = torch.ones(scores[-2:], dtype=torch.bool).tril().logical_not()
        mask = mask & ~hidden if mask.dtype == torch.bool else mask.masked_fill(hidden, -torch.inf)
    return F.scaled_dot_product_attention(
        q,
        k,
        v,
        mask,
        is_causal=op.causal is not None and mask is None,
        scale=op.scale.value.data,
        enable_gqa=q.dim() > 2,
    )


def torch_grid_sample(op: GridSampleOp, x: Tensor, grid: Tensor) -> Tensor:
    return F.grid_sample(x, grid, op.mode.data, op.padding_mode.data, op.align_corners is not None)


def torch_adaptive_pool(op: AdaptivePoolOp, x: Tensor) -> Tensor:
    pool = AD_AVG_POOL if isinstance(op, AdAvgPoolOp) else AD_MAX_POOL
    return pool[x.dim()](x, op.output_size.get_values())


def torch_batch_norm(
    op: BatchNormOp, x: Tensor, mean: Tensor, variance: Tensor, *rest: Tensor
) -> Tensor:
    affine = list(rest)
    scale = affine.pop(0) if op.scale is not None else None
    bias = affine.pop(0) if op.bias is not None else None
    return F.batch_norm(x, mean, variance, scale, bias, training=False, eps=op.eps.value.data)


def symmetric(padding: tuple[int, ...]) -> tuple[int, ...]:
    """The padding as PyTorch's pools take it; skip what they can't say."""
    axes = len(padding) // 2
    assert padding[:axes] == padding[axes:], "PyTorch pools pad alike on both sides"
    return padding[:axes]


def torch_max_pool(op: MaxPoolOp, x: Tensor) -> Tensor:
    padding, input = op.padding.get_values(), x
    axes = len(padding) // 2
    if padding[:axes] == padding[axes:] and all(
        p * 2 <= k for p, k in zip(padding[:axes], op.kernel.get_values(), strict=True)
    ):
        torch_padding = symmetric(padding)
    else:
        lowest = -float("inf") if x.is_floating_point() else torch.iinfo(x.dtype).min
        input, torch_padding = padded(x, padding, lowest), (0,) * axes
    return MAX_POOL[x.dim()](
        input,
        op.kernel.get_values(),
        op.strides.get_values(),
        torch_padding,
        op.dilations.get_values(),
        bool(op.ceil_mode.value.data),
    )


def torch_avg_pool(op: AvgPoolOp, x: Tensor) -> Tensor:
    return AVG_POOL[x.dim()](
        x,
        op.kernel.get_values(),
        op.strides.get_values(),
        symmetric(op.padding.get_values()),
        bool(op.ceil_mode.value.data),
        bool(op.count_include_pad.value.data),
    )


def torch_interpolate(op: InterpolateOp, x: Tensor, *_size: Tensor) -> Tensor:
    scales = None if op.scales is None else list(op.scales.get_values())
    align = None if op.mode.data in op.CHOOSING else op.align_corners is not None
    size = op.size.get_values() if scales is None else None
    mode = "trilinear" if op.mode.data == "linear" and x.dim() == 5 else op.mode.data
    result = F.interpolate(x, size, scales, mode.replace("_", "-"), align)
    assert result.shape[2:] == torch.Size(op.size.get_values())
    return result


def torch_scan(
    op: ScanOp, *operands: Tensor, around: Mapping[SSAValue, Tensor] | None = None
) -> Sequence[Tensor]:
    """Run the body a step at a time; `around` is what it may read from outside."""
    count = len(op.initial)
    state, sequences = list(operands[:count]), operands[count:]
    made: dict[int, Sequence[Tensor]] = {}
    positions = list(range(op.num_steps))
    for position in reversed(positions) if op.reverse is not None else positions:
        values = dict(around or {})
        now = [each[position] for each in sequences]
        values.update(zip(op.body.block.args, [*state, *now], strict=True))
        results = evaluate_block(op.body.block, values)
        state, made[position] = list(results[:count]), results[count:]
    rows = [made[position] for position in positions]
    return [*state, *(torch.stack(each) for each in zip(*rows, strict=True))]


def torch_integer(compute: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """PyTorch stores uint16, and computes none of it: what wraps around in 16 bits does in 32."""

    def run(op: Operation, *operands: Tensor) -> Tensor:
        if operands[0].dtype != torch.uint16:
            return compute(*operands)
        return compute(*(operand.to(torch.int32) for operand in operands)).to(torch.uint16)

    return run


MEANING: dict[type[Operation], Callable[..., Tensor | Sequence[Tensor]]] = {
    **MOVEMENT,
    **COMPUTED,
    ConvOp: torch_conv,
    ConvTransposeOp: torch_conv_transpose,
    BatchMatMulOp: torch_batch_matmul,
    AttentionOp: torch_attention,
    GridSampleOp: torch_grid_sample,
    MatMulOp: lambda op, x, weight, bias=None: F.linear(x, weight, bias),
    BatchNormOp: torch_batch_norm,
    ReluOp: torch_integer(F.relu),
    SqrtOp: lambda op, x: torch.sqrt(x),
    AddOp: torch_integer(lambda a, b: a + b),
    SubOp: torch_integer(lambda a, b: a - b),
    MulOp: torch_integer(lambda a, b: a * b),
    DivOp: lambda op, a, b: a / b,
    MaxPoolOp: torch_max_pool,
    AvgPoolOp: torch_avg_pool,
    AdAvgPoolOp: torch_adaptive_pool,
    AdMaxPoolOp: torch_adaptive_pool,
    InterpolateOp: torch_interpolate,
    ConstantOp: lambda op: torch_constant(op.value),
    ScanOp: torch_scan,
}
"""What PyTorch function each op class stands for, given the op and its operands."""


def evaluate_function(function: FuncOp, arguments: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Run one function of gawee ops; arguments and results by their entry names."""
    values: dict[SSAValue, Tensor] = {
        function.body.block.args[argument.index]: arguments[argument.name]
        for argument in entry_arguments(function)
    }
    results = evaluate_block(function.body.block, values)
    return dict(zip(output_names(function), results, strict=True))


def evaluate_block(block: Block, values: dict[SSAValue, Tensor]) -> Sequence[Tensor]:
    """Run the ops of a block; returns what it ends with."""
    for op in block.ops:
        operands = [values[operand] for operand in op.operands]
        if isinstance(op, ReturnOp | YieldOp):
            return operands
        if isinstance(op, ScanOp):
            results = torch_scan(op, *operands, around=values)
        else:
            results = MEANING[type(op)](op, *operands)
        results = (results,) if isinstance(results, Tensor) else results
        for value, result in zip(op.results, results, strict=True):
            shape = "".join(f"{n}x" for n in result.shape)
            assert str(value.type).startswith(f"tensor<{shape}")
            values[value] = result
    raise AssertionError("the block has no end")


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
