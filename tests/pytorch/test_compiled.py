"""Models compiled from inside PyTorch: one call, and torch.compile."""

import tomllib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
from torch import nn

import gawee_dialect
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.npu_ir.extract import extract_ir
from gawee_dialect.pytorch import compile_torch, gawee_backend
from gawee_dialect.pytorch.tensors import array_of_tensor, tensor_of_array
from tests.closeness import Tolerances
from tests.pytorch.zoo import make

# Float32 sums in another order, several elements at once.
CLOSE = Tolerances(rtol=1e-4, atol=1e-5)


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
        model.get_parameter("step.weight").mul_(-0.5)

    compiled.rebind(model.state_dict())

    assert compiled.native is native
    torch.testing.assert_close(compiled(x), model(x), **CLOSE)


class Scaled(torch.nn.Module):
    def forward(self, x: torch.Tensor, factor: float, shift: dict[str, torch.Tensor | bool]):
        return x * factor + shift["by"] if shift["on"] else x


def test_numbers_among_the_inputs_may_be_given_again_or_left_out() -> None:
    x, by = torch.randn(3, 5), torch.randn(5)
    compiled = compile_torch(Scaled().eval(), (x, 3.14, {"by": by, "on": True}))
    expected = (x + 1) * 3.14 + by

    torch.testing.assert_close(compiled(x + 1, 3.14, {"by": by, "on": True}), expected)
    torch.testing.assert_close(compiled(x + 1, by), expected)
    with pytest.raises(GaweeError, match=r"expected argument 2 to be 3\.14, as in the example "):
        compiled(x, 2.5, {"by": by, "on": True})
    with pytest.raises(GaweeError, match="expected 2 inputs, got 3"):
        compiled(x, x, x)
    with pytest.raises(GaweeError, match="expected input 'shift_by' to be a tensor, got 5"):
        compiled(x, 5)


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


@pytest.mark.parametrize("name", ["multi_task_head", "lifted_tensors"])
def test_torch_compile_computes_what_the_model_does(name: str) -> None:
    torch._dynamo.reset()
    model, inputs = make(name)
    compiled = torch.compile(model, backend=gawee_backend)

    with torch.no_grad():
        torch.testing.assert_close(compiled(*inputs), model(*inputs), **CLOSE)


class Recurrent(torch.nn.Module):
    """Its state is a constant that every call writes."""

    def __init__(self) -> None:
        super().__init__()
        self.state = torch.zeros(3, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.state.copy_(torch.tanh(x + self.state)) * 2


class Assigned(torch.nn.Module):
    """Its state is an attribute, a new tensor after every call; others are never read."""

    def __init__(self) -> None:
        super().__init__()
        self.state, self.seen, self.grid = torch.zeros(3, 5), None, torch.zeros(0)
        self.cell = torch.nn.GRUCell(5, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen, self.grid = x * 2, x + 1
        self.state = self.cell(x, self.state)
        return self.state


class Counted(torch.nn.Module):
    """Its state is a buffer, and one of a module inside."""

    count: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.inner = Recurrent()

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        self.count.add_(1)
        return self.inner(x) * self.count, self.count


@pytest.mark.parametrize("make", [Recurrent, Assigned, Counted])
def test_state_that_forward_changes_is_kept_in_the_model(make: type[torch.nn.Module]) -> None:
    model, other, x = make().eval(), make().eval(), torch.randn(3, 5)
    other.load_state_dict(model.state_dict())
    attributes = set(vars(model))
    compiled = compile_torch(model, (x,))

    assert set(vars(model)) == attributes
    assert set(model.state_dict()) == set(other.state_dict())
    with torch.no_grad():
        for _ in range(3):
            torch.testing.assert_close(compiled(x), other(x), **CLOSE)
            torch.testing.assert_close(model.state_dict(), other.state_dict())
        torch.testing.assert_close(model(x), other(x), **CLOSE)
    with pytest.raises(GaweeError, match="expected 1 inputs, got 2"):
        compiled(x, x)


class Cell:
    """An object with a tensor, as caches of transformers are."""

    def __init__(self, value: torch.Tensor) -> None:
        self.value = value


class Holding(torch.nn.Module):
    """Its state is a buffer that it reads and changes by way of an object."""

    total: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.cell = Cell(torch.zeros(3))
        self.register_buffer("total", self.cell.value, persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.cell.value.add_(x) * 2


def test_a_program_keeps_the_state_that_it_was_exported_with() -> None:
    model, x = Holding().eval(), torch.randn(3)
    program = torch.export.export(model, (x,), strict=True)
    compiled = compile_torch(program)

    with torch.no_grad():
        for count in range(1, 4):
            torch.testing.assert_close(compiled(x), x * 2 * count)
            torch.testing.assert_close(dict(program.named_buffers())["total"], x * count)
    with pytest.raises(GaweeError, match="got changes of 'lifted_tensor_0'") as raised:
        compile_torch(model, (x,), cache=False)
    assert "compile_torch takes such a program" in str(raised.value)


class Added(torch.nn.Module):
    """Its state is an attribute to which every call adds."""

    def __init__(self) -> None:
        super().__init__()
        self.total = torch.zeros(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.total.add_(1) + x


def test_a_trace_that_is_refused_leaves_state_as_it_was() -> None:
    model, x = Added().eval(), torch.randn(3)

    compiled = compile_torch(model, (x,), cache=False)

    torch.testing.assert_close(model.total, torch.zeros(3))
    torch.testing.assert_close(compiled(x), x + 1)


@pytest.mark.parametrize("make", [Recurrent, Assigned, Counted])
def test_a_graph_that_changes_state_is_refused(make: type[torch.nn.Module]) -> None:
    model, x = make().eval(), torch.randn(3, 5)
    message = "expected a model that changes no buffer, constant or input, got changes of"
    with pytest.raises(GaweeError, match=message) as raised:
        extract_ir(model, (x,), strict=False)
    assert "compile_torch and torch.compile(model, backend='gawee') write it back" in str(
        raised.value
    )
    with pytest.raises(GaweeError, match=message):
        compile_torch(model, (x,), decompose=False)


def negated(*shape: int) -> torch.Tensor:
    """Return a view whose memory has the opposite sign, which DLPack does not tell."""
    view = torch.view_as_complex(torch.randn(*shape, 2)).conj().imag
    assert view.is_neg()
    return view


@pytest.mark.parametrize("what", ["input", "weight"])
def test_a_view_that_is_negated_when_it_is_read(what: str) -> None:
    torch._dynamo.reset()
    model, x = torch.nn.Linear(5, 2).eval(), torch.randn(3, 5)
    if what == "weight":
        model.weight = torch.nn.Parameter(negated(2, 5), requires_grad=False)
    else:
        x = negated(3, 5)

    with torch.no_grad():
        torch.testing.assert_close(compile_torch(model, (x,))(x), model(x))
        torch.testing.assert_close(torch.compile(model, backend="gawee")(x), model(x))


def test_a_negated_view_that_is_a_constant() -> None:
    table = negated(5)

    class Added(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + table

    x = torch.randn(3, 5)
    torch.testing.assert_close(compile_torch(Added().eval(), (x,), cache=False)(x), x + table)


def test_a_sparse_tensor_is_refused() -> None:
    compiled = compile_torch(torch.nn.ReLU().eval(), (torch.randn(3, 5),))
    with pytest.raises(GaweeError, match="expected input 'input' to have strides") as raised:
        compiled(torch.randn(3, 5).to_sparse())
    assert "hint: x.to_dense()" in str(raised.value)


class WritesItsInput(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.add_(1) * 2


def test_a_model_that_changes_its_input_is_told_what_takes_it() -> None:
    with pytest.raises(GaweeError, match="got changes of 'x'") as raised:
        compile_torch(WritesItsInput().eval(), (torch.randn(3, 5),), cache=False)
    hint = (
        "hint: forward may change a copy: x = x.clone(); or torch.compile(model, backend='gawee') "
    )
    assert hint in str(raised.value)


def test_torch_compile_keeps_state() -> None:
    torch._dynamo.reset()
    x = torch.randn(3, 5)
    model, compiled = Recurrent(), torch.compile(Recurrent(), backend=gawee_backend)
    with torch.no_grad():
        for _ in range(3):
            torch.testing.assert_close(compiled(x), model(x), **CLOSE)


def test_a_check_of_data_among_the_ops_is_left_out() -> None:
    class Inverse(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.linalg.inv(x) @ torch.linalg.inv(x + 1)

    x = torch.randn(2, 3, 3) + 4 * torch.eye(3)
    compiled = compile_torch(Inverse().eval(), (x,))

    assert [each.name for each in compiled.ir.graph_inputs] == ["x"]
    torch.testing.assert_close(compiled(x), Inverse()(x), **CLOSE)


class Function(torch.nn.Module):
    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: torch.Tensor) -> torch.Tensor:
        return self.function(*args)


INFINITE = float("inf")

FUNCTIONS = {
    "a scalar beside one element": (lambda x, y: x.squeeze(0) + y, [(1,), ()]),
    "a scalar beside an axis of one": (torch.mul, [(1, 1), ()]),
    "no upper limit": (lambda x: x.clamp(0.0, INFINITE) + x.clamp(-INFINITE, 1.0), [(3, 5)]),
    "no limit": (lambda x: x.clamp(-INFINITE, INFINITE), [(2, 7, 3)]),
    "statistics of instances": (torch.nn.functional.instance_norm, [(2, 3, 5, 7)]),
    "memory in another order": (
        *(lambda x: torch.empty_permuted(x.shape, (1, 0)).copy_(x) * 2, [(3, 5)]),
    ),
    "random numbers that nothing reads": (lambda x: (torch.randn(3), x + 1)[1], [(3, 5)]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_computes_what_it_does_in_pytorch(name: str) -> None:
    function, shapes = FUNCTIONS[name]
    inputs = [torch.randn(shape) for shape in shapes]

    compiled = compile_torch(Function(function).eval(), inputs)

    torch.testing.assert_close(compiled(*inputs), function(*inputs), **CLOSE)


class Noisy(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.randn(3, 5) * torch.rand_like(x)


def test_random_numbers_are_refused_where_they_are_drawn() -> None:
    with pytest.raises(GaweeError) as raised:
        compile_torch(Noisy().eval(), (torch.randn(3, 5),))

    for name in ("randn.default", "rand_like.default"):
        assert f"unsupported op 'aten.{name}'" in str(raised.value)
    assert "test_compiled.py:" in str(raised.value)
    assert "a graph computes the same in every call" in str(raised.value)
    assert "give random numbers to forward as an input" in str(raised.value)


def test_what_pytorch_takes_apart_wrongly_is_refused() -> None:
    class Loss(nn.Module):
        def forward(self, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
            return nn.functional.multilabel_margin_loss(x, labels)

    x, labels = torch.randn(2, 4), torch.tensor([[3, 0, -1, 1], [1, -1, 2, 2]])
    program = torch.export.export(Loss(), (x, labels)).run_decompositions()
    assert not torch.allclose(program.module()(x, labels), Loss()(x, labels))

    with pytest.raises(GaweeError, match="multilabel_margin_loss_forward"):
        compile_torch(Loss().eval(), (x, labels))


def test_torch_compile_follows_weights_and_shapes() -> None:
    torch._dynamo.reset()
    model, (x,) = make("recurrent_unroll")
    compiled = torch.compile(model, backend=gawee_backend)

    with torch.no_grad():
        torch.testing.assert_close(compiled(x), model(x), **CLOSE)
        model.get_parameter("step.bias").add_(1)
        torch.testing.assert_close(compiled(x), model(x), **CLOSE)
        for batch in (5, 2, 5):
            other = torch.randn(batch, 32)
            torch.testing.assert_close(compiled(other), model(other), **CLOSE)


def test_graphs_that_gradients_flow_through_stay_with_pytorch() -> None:
    torch._dynamo.reset()
    model, (x,) = make("recurrent_unroll")

    torch.compile(model, backend=gawee_backend)(x).sum().backward()

    weight = model.get_parameter("step.weight")
    gradient = weight.grad
    model.zero_grad()
    model(x).sum().backward()
    assert gradient is not None
    torch.testing.assert_close(gradient, weight.grad)


def test_what_is_not_supported_is_said() -> None:
    torch._dynamo.reset()

    class Unsupported(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.special.bessel_j0(x)

    model = torch.compile(Unsupported(), backend=gawee_backend, options={"fallback": False})
    with pytest.raises(Exception, match=r"unsupported op 'aten\.special_bessel_j0"):
        model(torch.randn(3))
    with pytest.raises(GaweeError, match=r"unsupported op 'aten\.special_bessel_j0") as raised:
        compile_torch(Unsupported(), (torch.randn(3),))
    assert "torch.compile(model, backend='gawee') leaves to PyTorch what" in str(raised.value)


def test_pytorch_finds_the_backend_by_name() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    entry = project["project"]["entry-points"]["torch_dynamo_backends"]["gawee"]
    module, _, function = entry.partition(":")

    assert getattr(import_module(module), function) is gawee_backend


def test_threads_compile_one_model_and_several() -> None:
    models = [nn.Linear(5, 3).eval(), nn.Sequential(nn.Linear(5, 4), nn.ReLU()).eval()]
    x = torch.randn(2, 5)
    expected = [model(x) for model in models]
    order = [0, 0, 1, 0]

    with ThreadPoolExecutor(len(order)) as pool:
        made = list(pool.map(lambda index: compile_torch(models[index], (x,), cache=False), order))

    for index, compiled in zip(order, made, strict=True):
        torch.testing.assert_close(compiled(x), expected[index])
