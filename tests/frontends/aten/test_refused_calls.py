"""What of an op is not supported is said, with what is."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("hypothesis")

import torch

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.npu_ir.importer import import_ir
from tests.frontends.aten.calls import OneNode, find_overload

X = torch.zeros(3, 5)
INDEX = torch.zeros(3, 5, dtype=torch.int64)
OFFSETS = torch.tensor([0, 2])
BAGS = [torch.zeros(7, 5), INDEX[0], OFFSETS, False]
SCALED = [X.to(torch.uint8).reshape(1, 1, 3, 5), [2, 2], False]

GATES = torch.zeros(12, 4)
RECURRENT = [X.reshape(3, 1, 5), GATES, GATES, X, X, X, X, False]
HEADS = [X.reshape(1, 3, 5)] * 3
PROJECTIONS = [torch.zeros(15, 5), torch.zeros(15), torch.zeros(5, 5), torch.zeros(5)]

REFUSED = {
    "unsupported mode 3; supported: 2, an LSTM": (
        *("mkldnn_rnn_layer.default", [*RECURRENT, [], 3, 3, 1, True, False, False, False]),
    ),
    "unsupported batch_sizes [2, 1]; supported: none": (
        *("mkldnn_rnn_layer.default", [*RECURRENT, [2, 1], 2, 3, 1, True, False, False, False]),
    ),
    "unsupported mask_type 3; supported: 0, 1, 2": (
        "_native_multi_head_attention.default",
        [*HEADS, 5, 1, *PROJECTIONS, X, False, True, 3],
    ),
    "expected a mask of 1x3 for mask_type 1, got 3x5": (
        "_native_multi_head_attention.default",
        [*HEADS, 5, 1, *PROJECTIONS, X, False, True, 1],
    ),
    "expected square matrices of floats, got tensor<3x5xf32>": ("linalg_inv.default", [X]),
    "unsupported reduce 'amid'; supported: sum, mean, prod, amax, amin": (
        *("scatter_reduce.two", [X, 0, INDEX, X, "amid"]),
    ),
    "unsupported reduce 'amid'; supported: add, multiply": (
        *("scatter.reduce", [X, 0, INDEX, X, "amid"]),
    ),
    "unsupported call without output_size: its shape depends on data": (
        *("repeat_interleave.Tensor", [INDEX[0]]),
    ),
    "expected a last axis of a multiple of 2 elements, got 5": ("view.dtype", [X, torch.float64]),
    "unsupported side 'middle'; supported: left, right": (
        *("searchsorted.Tensor", [X[0], X[0], False, False, "middle"]),
    ),
    "expected integers, got 'i1'": ("bitwise_left_shift.Tensor", [X.bool(), X.bool()]),
    "unsupported mode 3; supported: 0, 1, 2": ("_embedding_bag.default", [*BAGS, 3]),
    "expected a tensor of floats, got 'ui8'": ("_upsample_bilinear2d_aa.default", SCALED),
    "unsupported bias; supported: none": ("_grouped_mm.default", [X, X.T, OFFSETS, X]),
    "expected argument 'offs', got none": ("_grouped_mm.default", [X, X.T]),
    "unsupported interpolation_mode 3; supported: 0, 1, 2": (
        *("grid_sampler_2d.default", [SCALED[0], torch.zeros(1, 3, 5, 2), 3, 0, False]),
    ),
    "unsupported padding_mode 3; supported: 0, 1, 2": (
        *("grid_sampler_2d.default", [SCALED[0], torch.zeros(1, 3, 5, 2), 0, 3, False]),
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_a_call_is_refused(message: str) -> None:
    op, args = REFUSED[message]
    results = [X] * len(find_overload(f"aten.{op}")._schema.returns)
    one = OneNode(f"aten.{op}", args, {})

    with pytest.raises(GaweeError) as raised:
        import_ir(one.graph(f"aten.{op}", results, len(results) == 1, [0]))

    assert message in str(raised.value)


def test_what_only_gradients_need_of_bags_is_refused() -> None:
    one = OneNode("aten._embedding_bag.default", BAGS, {})

    with pytest.raises(GaweeError, match="unsupported use of what only gradients need"):
        import_ir(one.graph("aten._embedding_bag.default", [X, INDEX, INDEX, INDEX], False, [0, 1]))
