"""Recurrent layers of many steps are loops: how large they get, and what they compute."""

import pytest

torch = pytest.importorskip("torch")

from xdsl.dialects.builtin import TensorType, f32  # noqa: E402
from xdsl.dialects.test import TestOp  # noqa: E402

from gawee_dialect import compile_torch, extract_ir, import_ir  # noqa: E402
from gawee_dialect.dialect.graph.scan import ScanOp  # noqa: E402
from gawee_dialect.frontends.npu_ir.aten.recurrent import Layers  # noqa: E402
from gawee_dialect.frontends.op_mapping.registry import Refusal  # noqa: E402
from tests.frontends.aten.calls import Call, check  # noqa: E402

pytestmark = pytest.mark.usefixtures("unoptimized")

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1}


def layers(name, steps, *, batch=2, features=4, hidden=3, count=2):
    """Return a call of some layers in both directions."""
    draw = torch.Generator().manual_seed(0)

    def numbers(*shape):
        return torch.rand(shape, generator=draw) - 0.5

    params = []
    for layer in range(count):
        for _ in range(2):
            rows, size = GATES[name] * hidden, features if layer == 0 else 2 * hidden
            params += [numbers(rows, size), numbers(rows, hidden), numbers(rows), numbers(rows)]
    states = [numbers(2 * count, batch, hidden) for _ in range(2 if name == "lstm" else 1)]
    flags = [True, count, 0.0, False, True, False]
    state = states if len(states) > 1 else states[0]
    # Some dozen sums of some products, through functions that are computed otherwise.
    return Call([numbers(steps, batch, features), state, params, *flags], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("level", ["gawee", "linalg", "kernels", "buffers", "loops", "llvm"])
@pytest.mark.parametrize("name", GATES)
def test_a_loop_over_time_computes_what_pytorch_does(name, level):
    check(f"aten.{name}.input", layers(name, 7), level)


@pytest.mark.parametrize("make", [torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN])
def test_a_graph_is_as_small_for_many_steps_as_for_few(make):
    model = make(4, 3, num_layers=2, bidirectional=True).eval()

    few, many = (
        list(import_ir(extract_ir(model, (torch.randn(steps, 2, 4),), strict=False)).walk())
        for steps in (9, 40)
    )

    assert len(few) == len(many)
    assert sum(isinstance(op, ScanOp) for op in many) == 4


def test_an_lstm_of_512_steps_as_native_code():
    model = torch.nn.LSTM(5, 37, num_layers=2, proj_size=11).eval()
    x = torch.randn(512, 3, 5, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        expected, (h, c) = model(x)

    made = compile_torch(model, (x,))(x)

    assert isinstance(made, tuple)
    # The state stays within 1 and forgets: errors of a step of f32 do not add up.
    for one, wanted in zip(made, (expected, h, c), strict=True):
        torch.testing.assert_close(one, wanted, rtol=1e-4, atol=1e-5)


def test_weights_that_are_neither_with_nor_without_projections_are_refused():
    two_ways = Layers(True, 1, train=False, dropout=0.0, bidirectional=True, batch_first=False)
    weights = TestOp(result_types=[TensorType(f32, (2, 3))] * 7).results

    with pytest.raises(Refusal, match="expected 8 weights, or 10 with projections, got 7"):
        two_ways.weights(weights)
