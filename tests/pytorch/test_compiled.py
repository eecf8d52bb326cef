"""Models compiled from inside PyTorch: one call, and torch.compile."""

import tomllib
from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch

import gawee_dialect
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.pytorch import compile_torch, gawee_backend
from gawee_dialect.pytorch.tensors import array_of_tensor, tensor_of_array
from tests.pytorch.zoo import make

# Float32 sums in another order, several elements at once.
CLOSE = {"rtol": 1e-4, "atol": 1e-5}


def test_one_call_compiles_a_model() -> None:
    model, (x,) = make("multi_task_head")
    compiled = gawee_dialect.compile_torch(model, (x,))

    outputs = compiled(x + 1)

    assert isinstance(outputs, tuple)
    torch.testing.assert_close(list(outputs), model(x + 1), **CLOSE)


def test_weights_are_bound_again_without_compiling() -> None:
    model, (x,) = make("recurrent_unroll")
    compiled = compile_torch(model, (x,))
    native = compiled.native
    with torch.no_grad():
        model.step.weight.mul_(-0.5)

    compiled.rebind(model.state_dict())

    assert compiled.native is native
    torch.testing.assert_close(compiled(x), model(x), **CLOSE)


def test_wrong_inputs_are_refused() -> None:
    model, (x,) = make("recurrent_unroll")
    compiled = compile_torch(model, (x,))

    with pytest.raises(GaweeError, match="expected shape 3x32, got 4x32"):
        compiled(torch.randn(4, 32))
    with pytest.raises(GaweeError, match="expected 1 inputs, got 2"):
        compiled(x, x)
    with pytest.raises(GaweeError, match="expected input 'x' to have data"):
        compiled(x.to("meta"))


def test_tensors_and_arrays_share_memory() -> None:
    tensor = torch.arange(6.0).reshape(2, 3)
    array = array_of_tensor(tensor)
    array[0, 0] = 7
    assert tensor[0, 0] == 7
    assert tensor_of_array(array).data_ptr() == tensor.data_ptr()

    array.flags.writeable = False  # weights are mapped read-only
    assert tensor_of_array(array).data_ptr() != tensor.data_ptr()
    with pytest.raises(GaweeError, match="unsupported dtype bfloat16 of tensor"):
        array_of_tensor(tensor.bfloat16())


@pytest.mark.parametrize("name", ["multi_task_head", "lifted_tensors"])
def test_torch_compile_computes_what_the_model_does(name: str) -> None:
    torch._dynamo.reset()
    model, inputs = make(name)
    compiled = torch.compile(model, backend=gawee_backend)

    with torch.no_grad():
        torch.testing.assert_close(compiled(*inputs), model(*inputs), **CLOSE)


def test_torch_compile_follows_weights_and_shapes() -> None:
    torch._dynamo.reset()
    model, (x,) = make("recurrent_unroll")
    compiled = torch.compile(model, backend=gawee_backend)

    with torch.no_grad():
        torch.testing.assert_close(compiled(x), model(x), **CLOSE)
        model.step.bias.add_(1)
        torch.testing.assert_close(compiled(x), model(x), **CLOSE)
        for batch in (5, 2, 5):
            other = torch.randn(batch, 32)
            torch.testing.assert_close(compiled(other), model(other), **CLOSE)


def test_graphs_that_gradients_flow_through_stay_with_pytorch() -> None:
    torch._dynamo.reset()
    model, (x,) = make("recurrent_unroll")

    torch.compile(model, backend=gawee_backend)(x).sum().backward()

    gradient = model.step.weight.grad.clone()
    model.zero_grad()
    model(x).sum().backward()
    torch.testing.assert_close(gradient, model.step.weight.grad)


def test_what_is_not_supported_is_said() -> None:
    torch._dynamo.reset()

    class Unsupported(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.special.bessel_j0(x)

    with (
        torch.no_grad(),
        pytest.raises(Exception, match=r"unsupported op 'aten\.special_bessel_j0"),
    ):
        torch.compile(Unsupported(), backend=gawee_backend)(torch.randn(3))


def test_pytorch_finds_the_backend_by_name() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    entry = project["project"]["entry-points"]["torch_dynamo_backends"]["gawee"]
    module, _, function = entry.partition(":")

    assert getattr(import_module(module), function) is gawee_backend
