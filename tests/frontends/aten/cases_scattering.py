"""Calls that scatter, collect rows in bags, measure distances and round to quantized numbers."""

import torch
import torch.ao.quantization.fx._decomposed  # registers quantized_decomposed

from tests.frontends.aten.calls import Call, Draw, case

REDUCTIONS = ("sum", "mean", "prod", "amax", "amin")


@case("aten.scatter_reduce.two")
def scatter_reduce(d: Draw) -> Call:
    dtype = d.choice(torch.float32, torch.float64, torch.int64)
    value, source = d.tensor(3, 5, dtypes=(dtype,)), d.tensor(4, 6, dtypes=(dtype,))
    if value.is_floating_point() and d.bool():
        source[1, 2] = float("nan")
    dim = d.choice(0, 1, -1)
    index = d.ints(*((4, 5) if dim == 0 else (3, 6)), low=0, high=2)
    return Call([value, dim, index, source, d.choice(*REDUCTIONS)], {"include_self": d.bool()})


@case("aten.scatter.reduce")
def scatter_by_name(d: Draw) -> Call:
    value = d.tensor(3, 5)
    index = d.ints(4, 5, low=0, high=2)
    return Call([value, 0, index, d.tensor(4, 6, dtypes=(value.dtype,))], {"reduce": old_name(d)})


@case("aten.scatter.value_reduce")
def scatter_value_by_name(d: Draw) -> Call:
    index = d.ints(3, 6, low=0, high=4)
    return Call([d.tensor(3, 5), d.choice(1, -1), index, d.int(-2, 3)], {"reduce": old_name(d)})


def old_name(d: Draw) -> str:
    return d.choice("add", "multiply")


@case("aten.index_reduce.default")
def index_reduce(d: Draw) -> Call:
    dtype = d.choice(torch.float32, torch.float64, torch.int64)
    dim = d.choice(0, 1, -1)
    source = d.tensor(*((6, 5) if dim == 0 else (3, 6)), dtypes=(dtype,))
    index = d.ints(6, low=0, high=2, dtype=d.choice(torch.int64, torch.int32))
    reduction = d.choice(*REDUCTIONS[1:])
    options = {"include_self": d.bool()}
    return Call([d.tensor(3, 5, dtypes=(dtype,)), dim, index, source, reduction], options)


@case("aten.masked_scatter.default")
def masked_scatter(d: Draw) -> Call:
    shape = d.choice((3, 5), (2, 3, 4), (), (7,))
    count = torch.Size(shape).numel()
    mask = d.bools(*shape)
    return Call([d.floats(*shape), mask, d.floats(count + d.int(0, 2))])


@case("aten._embedding_bag.default", "aten._embedding_bag_forward_only.default")
def embedding_bag(d: Draw) -> Call:
    mode, last = d.int(0, 2), d.bool()
    whole = d.choice(torch.int64, torch.int32)
    offsets = torch.tensor([0, 3, 3, 5, *([9] if last else [])], dtype=whole)
    weights = d.floats(9) if mode == 0 and d.bool() else None
    indices = d.ints(9, low=0, high=6, dtype=whole)
    options = [False, mode, False, weights, last, d.choice(-1, 2)]
    return Call([d.floats(7, 5), indices, offsets, *options], outputs=[0])


@case("aten._cdist_forward.default", "aten.cdist.default")
def cdist(d: Draw) -> Call:
    p = d.choice(0.0, 1.0, 2.0, 3.0, 0.5, float("inf"))
    lead = d.choice((), (2,))
    return Call([d.floats(*lead, 3, 5), d.floats(*lead, 4, 5), p, None], rtol=1e-4, atol=1e-5)


@case("aten._pdist_forward.default")
def pdist(d: Draw) -> Call:
    p = d.choice(0.0, 1.0, 2.0, 3.0, 0.5, float("inf"))
    return Call([d.floats(d.int(2, 5), 3), p], rtol=1e-4, atol=1e-5)


@case("aten.dist.default")
def dist(d: Draw) -> Call:
    p = d.choice(0.0, 1.0, 2.0, 3.0, 0.5, float("inf"))
    shape = d.shape()
    return Call([d.floats(*shape), d.floats(*d.broadcastable(shape)), p], rtol=1e-4, atol=1e-5)


@case("aten._euclidean_dist.default")
def euclidean_dist(d: Draw) -> Call:
    # PyTorch subtracts squares, which loses digits.
    return Call([d.floats(3, 5), d.floats(4, 5)], rtol=1e-3, atol=1e-3)


LEVELS = ((0, 255), (-128, 127), (-8, 7))


@case("aten.fake_quantize_per_tensor_affine.default")
@case("aten.fake_quantize_per_tensor_affine_cachemask.default")
def fake_quantize(d: Draw) -> Call:
    low, high = d.choice(*LEVELS)
    return Call([d.floats(3, 5, low=-40, high=40), 0.25, d.int(low, high), low, high])


@case("aten.fake_quantize_per_tensor_affine.tensor_qparams")
def fake_quantize_by_tensors(d: Draw) -> Call:
    low, high = d.choice(*LEVELS)
    zero = torch.tensor([d.int(low, high)], dtype=torch.int32)
    return Call([d.floats(3, 5, low=-40, high=40), torch.tensor([0.25]), zero, low, high])


@case("aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default")
def fake_quantize_if_enabled(d: Draw) -> Call:
    value, scale, zero, low, high = fake_quantize_by_tensors(d).args
    return Call([value, scale, zero, torch.tensor([d.int(0, 1)]), low, high])


@case("aten.fake_quantize_per_channel_affine.default")
@case("aten.fake_quantize_per_channel_affine_cachemask.default")
def fake_quantize_per_channel(d: Draw) -> Call:
    low, high = d.choice(*LEVELS)
    zeros = d.ints(3, low=low, high=high, dtype=torch.int32)
    scales = torch.tensor([0.25, 0.5, 2.0])
    return Call([d.floats(2, 3, 5, low=-40, high=40), scales, zeros, 1, low, high])


QUANTIZED = ((torch.uint8, 0, 255), (torch.int8, -128, 127), (torch.int16, -(2**15), 2**15 - 1))
"""Element types of quantized tensors with the range of each."""


@case("quantized_decomposed.quantize_per_tensor.default")
def quantize_per_tensor(d: Draw) -> Call:
    dtype, low, high = d.choice(*QUANTIZED)
    value, zero = d.floats(3, 5, low=-60, high=60), d.int(max(low, -128), min(high, 255))
    return Call([value, d.choice(0.25, 0.3, 1 / 7), zero, low, high, dtype], rtol=0, atol=0)


@case("quantized_decomposed.quantize_per_tensor.tensor")
def quantize_per_tensor_by_tensors(d: Draw) -> Call:
    value, scale, zero, *rest = quantize_per_tensor(d).args
    return Call([value, torch.tensor(scale), torch.tensor(zero), *rest], rtol=0, atol=0)


@case("quantized_decomposed.dequantize_per_tensor.default")
def dequantize_per_tensor(d: Draw) -> Call:
    dtype, low, high = d.choice(*QUANTIZED)
    value, zero = d.ints(3, 5, low=low, high=high, dtype=dtype), d.int(max(low, -128), 127)
    return Call([value, d.choice(0.25, 0.3, 1 / 7), zero, low, high, dtype], rtol=0, atol=0)


@case("quantized_decomposed.dequantize_per_tensor.tensor")
def dequantize_per_tensor_by_tensors(d: Draw) -> Call:
    value, scale, zero, *rest = dequantize_per_tensor(d).args
    return Call([value, torch.tensor(scale), torch.tensor(zero), *rest], rtol=0, atol=0)


SCALES = (0.25, 0.3, 1 / 7)
"""Scales of three channels; two of them are no power of two."""


@case("quantized_decomposed.quantize_per_channel.default")
def quantize_per_channel(d: Draw) -> Call:
    dtype, low, high = d.choice(*QUANTIZED)
    zeros = d.ints(3, low=0, high=min(high, 127))
    value, scales = (
        d.floats(2, 3, 5, low=-60, high=60),
        torch.tensor(SCALES, dtype=d.choice(torch.float32, torch.float64)),
    )
    return Call([value, scales, zeros, 1, low, high, dtype], rtol=0, atol=0)


@case("quantized_decomposed.dequantize_per_channel.default")
def dequantize_per_channel(d: Draw) -> Call:
    dtype, low, high = d.choice(*QUANTIZED)
    zeros = d.choice(None, d.ints(3, low=0, high=min(high, 127)))
    value, scales = (
        d.ints(2, 3, 5, low=low, high=high, dtype=dtype),
        torch.tensor(SCALES, dtype=d.choice(torch.float32, torch.float64)),
    )
    return Call([value, scales, zeros, 1, low, high, dtype], rtol=0, atol=0)
