"""Models of every kind against PyTorch, by each engine; what verification says where they differ."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.npu_ir.extract import extract_ir
from gawee_dialect.frontends.npu_ir.ir import NPU_IR, OpNode, TensorMeta
from gawee_dialect.frontends.npu_ir.ops import register_executor
from gawee_dialect.pytorch import execute_ir, verify_ir
from gawee_dialect.pytorch.verify import compare
from tests.pytorch.zoo import MODELS, make

# Sums in another order; machine code also computes several elements at once.
TOLERANCE = {"aten": 1e-6, "interpreter": 1e-5, "native": 1e-4}


@pytest.mark.parametrize("decompose", [True, False], ids=["decomposed", "raw"])
@pytest.mark.parametrize("name", MODELS)
def test_every_engine_computes_what_the_model_does(name: str, decompose: bool) -> None:
    model, inputs = make(name)
    ir = extract_ir(model, inputs, strict=False, decompose=decompose)

    for engine, tolerance in TOLERANCE.items():
        if engine == "native" and not decompose:
            continue  # the same ops below the graph; compiling them twice takes long
        ok, report = verify_ir(
            ir, model.state_dict(), model, inputs, tolerance, tolerance, engine=engine
        )
        assert ok, f"{engine}: {report}"
        assert str(report).startswith("Verification PASSED")


def test_a_graph_is_the_same_after_it_was_a_file(tmp_path: Path) -> None:
    model, inputs = make("lifted_tensors")
    extract_ir(model, inputs, strict=False).save(tmp_path / "ir.json")

    ok, report = verify_ir(
        NPU_IR.load(tmp_path / "ir.json"), None, model, inputs, engine="interpreter"
    )

    assert ok, str(report)


def test_a_model_on_the_meta_device_runs_with_the_weights_that_are_given() -> None:
    model, inputs = make("multi_task_head")
    ir = extract_ir(model, inputs, strict=False)
    with torch.device("meta"):
        empty = MODELS["multi_task_head"]()[0].eval()

    ok, report = verify_ir(ir, model.state_dict(), empty, inputs, engine="interpreter")
    assert ok, str(report)

    ok, report = verify_ir(ir, None, empty, inputs, engine="interpreter")
    assert not ok
    assert "expected weights for a model on the meta device, got none" in str(report)


def test_other_weights_are_found_out() -> None:
    model, inputs = make("recurrent_unroll")
    ir = extract_ir(model, inputs, strict=False)
    state = {name: value.clone() for name, value in model.state_dict().items()}
    state["step.bias"][0] += 1

    ok, report = verify_ir(ir, state, model, inputs, engine="interpreter", locate_difference=True)

    assert not ok
    assert report.max_diff > 0.1
    assert str(report).startswith("Verification FAILED")
    assert "every node alone agrees with PyTorch's ATen ops" in str(report)


def test_the_first_node_that_differs_is_named() -> None:
    from gawee_dialect.frontends.npu_ir.aten import registry

    model, inputs = make("deep_resnet")
    ir = extract_ir(model, inputs, strict=False)
    right = registry.find_mapping("aten.relu.default")
    assert right is not None

    @registry.register_op("aten.relu")
    def wrong(emit, self):
        return emit.cast(self, self.type.element_type)

    try:
        ok, report = verify_ir(
            ir, None, model, inputs, engine="interpreter", locate_difference=True
        )
    finally:
        registry.register_op("aten.relu")(right.function)

    assert not ok
    assert report.first_difference is not None
    assert report.first_difference.node == "relu"
    assert "first different at node 'relu', aten.relu.default" in str(report)


def test_what_goes_wrong_is_in_the_report() -> None:
    model, inputs = make("recurrent_unroll")
    ir = extract_ir(model, inputs, strict=False)

    _, report = verify_ir(ir, None, model, (*inputs, *inputs), engine="interpreter")
    assert "expected 1 inputs, got 2" in str(report)

    state = model.state_dict()
    _, report = verify_ir(ir, state, lambda x: (model(x), x), inputs, engine="interpreter")
    assert report.error_message == "expected 2 outputs, got 1"

    _, report = verify_ir(ir, state, lambda x: model(x)[:1], inputs, engine="interpreter")
    assert report.max_diff == float("inf")
    assert "shape (3, 32), not (1, 32)" in str(report)

    _, report = verify_ir(ir, {}, model, inputs, engine="interpreter")
    assert "expected weights to have 'step.weight'" in str(report)


def test_comparing_is_exact_about_types_and_what_is_not_a_number() -> None:
    nan, inf = float("nan"), float("inf")
    one = np.array([1.0, nan, inf], np.float32)

    assert compare(one, one.copy(), 0, 0).is_close
    assert compare(one, np.array([1.0, 0, inf], np.float32), 1, 1).max_diff == inf
    assert not compare(one, np.array([1.0, nan, -inf], np.float32), 1, 1).is_close
    assert not compare(np.array([2**60]), np.array([2**60 + 1]), 1, 1).is_close
    assert not compare(np.array([1.0]), np.array([1.0], np.float32), 1, 1).is_close
    assert compare(np.array([1.0]), np.array([1.0 + 1e-9]), 0, 1e-8).is_close
    assert not compare(np.array([1.0]), np.array([1.0 + 1e-9]), 0, 1e-10).is_close
    assert compare(np.zeros((0, 2)), np.zeros((0, 2)), 0, 0).is_close


def test_inputs_are_not_changed_by_a_graph_that_writes_in_place() -> None:
    class InPlace(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x * 1.0
            y.relu_()
            return y + 1

    x = torch.randn(2, 3)
    before = x.clone()
    ir = extract_ir(InPlace().eval(), (x,), strict=False, decompose=False)

    for engine in ("aten", "interpreter"):
        (y,) = execute_ir(ir, [x], engine=engine)
        torch.testing.assert_close(y, torch.relu(before) + 1)
        torch.testing.assert_close(x, before)


def test_outputs_are_of_the_kind_of_the_inputs() -> None:
    model, inputs = make("recurrent_unroll")
    ir = extract_ir(model, inputs, strict=False)
    state = model.state_dict()

    for engine in ("aten", "interpreter"):
        (tensor,) = execute_ir(ir, inputs, state, engine=engine)
        (array,) = execute_ir(ir, {"x": inputs[0].numpy()}, state, engine=engine)
        assert isinstance(tensor, torch.Tensor)
        assert isinstance(array, np.ndarray)
        np.testing.assert_allclose(tensor.numpy(), array)


def test_weights_and_constants_that_are_missing_are_named() -> None:
    model, inputs = make("recurrent_unroll")
    ir = extract_ir(model, inputs, strict=False)

    with pytest.raises(GaweeError, match="expected 2 weights for 'RecurrentUnroll'"):
        execute_ir(ir, inputs)
    with pytest.raises(GaweeError, match="unknown constant 'mask'"):
        execute_ir(ir, inputs, model.state_dict(), constants={"mask": np.zeros(3)})
    with pytest.raises(GaweeError, match=r"expected constant 'step\.bias' of shape 32, got 3"):
        execute_ir(ir, inputs, model.state_dict(), constants={"step.bias": np.zeros(3)})
    with pytest.raises(GaweeError, match="expected inputs x, got y"):
        execute_ir(ir, {"y": inputs[0]}, model.state_dict())
    with pytest.raises(GaweeError, match="unsupported engine 'fast'; supported: native"):
        execute_ir(ir, inputs, model.state_dict(), engine="fast")
    with pytest.raises(GaweeError, match="expected input 'x' to be an array or a tensor, got list"):
        execute_ir(ir, [[1.0]], model.state_dict(), engine="interpreter")


def test_given_constants_come_before_those_of_the_graph() -> None:
    model, inputs = make("lifted_tensors")
    ir = extract_ir(model, inputs, strict=False)
    bias = next(name for name, each in ir.constants.items() if each.data.shape == (1, 4))
    zeros = {bias: np.zeros((1, 4), np.float32)}

    for engine in ("interpreter", "aten"):
        (y,) = execute_ir(ir, inputs, model.state_dict(), constants=zeros, engine=engine)
        want = model(inputs[0]) - torch.tensor([[0.5, -1.0, 2.0, 0.0]])
        torch.testing.assert_close(y, want.detach(), rtol=1e-5, atol=1e-5)


def test_ops_of_the_user_run_by_functions_of_the_user() -> None:
    meta = TensorMeta("x", (2,), "float32")
    out = TensorMeta("y", (2,), "float32")
    ir = NPU_IR([OpNode("y", "scale_by_k", [meta], [out], {"k": 3})], [meta], [out], [])

    with pytest.raises(GaweeError, match="which nothing is registered to run"):
        execute_ir(ir, [torch.ones(2)], engine="aten")

    @register_executor("scale_by_k")
    def run(inputs, attrs):
        return [inputs[0] * attrs["k"]]

    (y,) = execute_ir(ir, [torch.ones(2)], engine="aten")
    torch.testing.assert_close(y, torch.full((2,), 3.0))

    ir.nodes[0].outputs.append(TensorMeta("z", (2,), "float32"))
    with pytest.raises(GaweeError, match="expected 2 outputs, 'scale_by_k' node made 1 tensors"):
        execute_ir(ir, [torch.ones(2)], engine="aten")


def test_what_pytorch_refuses_is_said_with_the_node() -> None:
    meta = TensorMeta("x", (2,), "float32")
    node = OpNode("y", "aten.mm.default", [meta, meta], [meta])
    ir = NPU_IR([node], [meta], [TensorMeta("x", (2,), "float32")], [])
    node.outputs = [TensorMeta("y", (2,), "float32")]
    ir.graph_outputs = node.outputs

    with pytest.raises(GaweeError, match=r"'aten\.mm\.default' node: .*matrix"):
        execute_ir(ir, [torch.ones(2)], engine="aten")
