"""Every mapping of an ATen op against PyTorch, on random arguments."""

from importlib import import_module
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("torch")
from gawee_dialect.frontends.npu_ir.aten.registry import ATEN, STORAGE, find_mapping
from tests.effort import FULL
from tests.frontends.aten.calls import CASES, Call, Draw, check, find_overload

pytestmark = pytest.mark.usefixtures("unoptimized")

for _file in sorted(Path(__file__).parent.glob("cases_*.py")):
    import_module(f"tests.frontends.aten.{_file.stem}")

CALLS = 6 if FULL else 3


@pytest.mark.parametrize("op", sorted(CASES))
def test_a_call_computes_what_pytorch_does(op: str) -> None:
    for number in range(CALLS):
        check(op, CASES[op](Draw(Random(f"{op} {number}"))))


COMPILED = (
    *("aten.add.Tensor", "aten.arange.start_step", "aten.cat.default", "aten.cumsum.default"),
    *("aten.div.Tensor_mode", "aten.einsum.default", "aten.gather.default", "aten.index.Tensor"),
    *(
        "aten.index_put.default",
        "aten.lstm.input",
        "aten.masked_fill.Scalar",
        "aten.matmul.default",
    ),
    *("aten.pow.Tensor_Scalar", "aten.topk.default", "aten.var.correction", "aten.where.self"),
    *("aten.as_strided.default", "aten.constant_pad_nd.default", "aten.roll.default"),
    *("aten.native_group_norm.default", "aten.clamp.default", "aten.fmax.default"),
    *("aten.sinh.default", "aten.asinh.default", "aten.acosh.default", "aten.atanh.default"),
    *("aten.asin.default", "aten.bitwise_left_shift.Tensor", "aten.bitwise_right_shift.Tensor"),
    *("aten.cumprod.default", "aten.cummax.default", "aten.searchsorted.Tensor"),
    *("aten.median.dim", "aten.histc.default", "aten.diagonal.default"),
    *("aten.scatter_reduce.two", "aten.masked_scatter.default", "aten._embedding_bag.default"),
    *("aten._cdist_forward.default", "aten._upsample_bicubic2d_aa.default"),
    *("aten.fake_quantize_per_channel_affine_cachemask.default", "aten.grid_sampler_3d.default"),
    *("aten._grouped_mm.default", "aten.linalg_inv_ex.default", "aten._linalg_solve_ex.default"),
    *("aten.erfc.default", "aten.erfinv.default", "aten.lgamma.default", "aten.digamma.default"),
    *("aten.view.dtype", "aten.mode.default", "aten.index_reduce.default"),
    *("aten._transformer_encoder_layer_fwd.default", "aten._native_multi_head_attention.default"),
    *("aten.mkldnn_rnn_layer.default", "aten._native_batch_norm_legit_functional.default"),
    *("transformers.grouped_mm_fallback.default", "aten._int_mm.default"),
    *("aten.max_pool2d_with_indices.default", "aten.adaptive_max_pool2d.default"),
    *("aten.grid_sampler_2d.default", "aten.bucketize.Tensor", "aten.instance_norm.default"),
    *("aten._upsample_bilinear2d_aa.default", "aten.fake_quantize_per_tensor_affine.default"),
    "quantized_decomposed.quantize_per_tensor.default",
    "quantized_decomposed.quantize_per_tensor.tensor",
    "quantized_decomposed.dequantize_per_tensor.default",
    "quantized_decomposed.dequantize_per_tensor.tensor",
    "quantized_decomposed.quantize_per_channel.default",
    "quantized_decomposed.dequantize_per_channel.default",
)
"""A sample: the ops of the dialect have tests of their own at every level."""


@pytest.mark.parametrize("op", COMPILED)
def test_a_call_computes_the_same_as_machine_code(op: str) -> None:
    check(op, CASES[op](Draw(Random(op))), "llvm")


NOTHING_TO_COMPARE = {
    # Without a result.
    "aten._linalg_check_errors",
    *("aten._assert_async", "aten._assert_scalar", "aten._assert_tensor_metadata"),
    *("aten._functional_assert_async", "aten._functional_assert_scalar"),
    # Whatever is in memory.
    *("aten.empty.memory_format", "aten.empty_like", "aten.new_empty"),
    "aten.empty_permuted",
    # PyTorch has it for other devices alone.
    "aten._conv_depthwise2d",
}


@pytest.mark.parametrize(
    ("name", "axes"),
    [
        *(("nearest1d", 1), ("nearest2d", 2), ("nearest3d", 3)),
        *(("linear1d", 1), ("bilinear2d", 2), ("trilinear3d", 3), ("bicubic2d", 2)),
    ],
)
def test_a_scale_that_leaves_a_size_as_it_is(name: str, axes: int) -> None:
    import torch

    value = torch.rand(2, 3, *[5, 4, 3][:axes], generator=torch.Generator().manual_seed(0))
    blends = [] if name.startswith("nearest") else [False]

    # 4e-6 is some roundings of the weights of four neighbours.
    call = Call([value, None, *blends, [1.1, 1.2, 1.3][:axes]], rtol=1e-5, atol=4e-6)
    check(f"aten.upsample_{name}.vec", call)


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize(
    ("before", "masked", "values"),
    [
        (0, (3, 4, 2), ()),
        (0, (3, 4, 2), (1,)),
        (0, (3, 4), (2,)),
        (0, (3,), (1, 4, 1)),
        (1, (4,), (3, 1, 1)),
        (1, (4, 2), (3, 1)),
        (2, (2,), ()),
    ],
)
def test_a_mask_is_given_the_same_values(
    before: int, masked: tuple[int, ...], values: tuple[int, ...], accumulate: bool
) -> None:
    d = Draw(Random(before))
    indices = [*[None] * before, d.bools(*masked)]
    call = Call([d.ints(3, 4, 2), indices, d.ints(*values), accumulate])
    check("aten.index_put.default", call)


def test_every_mapping_has_a_case() -> None:
    tested = {mapping.name for op in CASES if (mapping := find_mapping(op)) is not None}

    assert sorted({mapping.name for mapping in ATEN} - tested - NOTHING_TO_COMPARE) == []


def schema_names(op: str) -> list[str]:
    names = (argument.name for argument in find_overload(op)._schema.arguments)
    return [name for name in names if name not in STORAGE]


def test_arguments_are_those_of_the_schemas() -> None:
    for op in sorted(CASES):
        mapping = find_mapping(op)
        assert mapping is not None, op
        parameters = [each for one in mapping.parameters for each in one.group or (one,)]
        declared = [parameter.name for parameter in parameters]
        optional = {parameter.name for parameter in parameters if not parameter.required}
        names = schema_names(op)

        assert [name for name in declared if name in names] == names, op
        assert {name for name in declared if name not in names} <= optional, op
