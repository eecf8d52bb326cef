"""Graphs of PyTorch models found again without tracing them: only where they are the same."""

import functools
import math
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from gawee_dialect.pytorch import compile_torch, compiled
from gawee_dialect.pytorch.call_record import NotRecorded, record_of_call
from tests.closeness import Tolerances
from tests.pytorch.zoo import make

pytestmark = pytest.mark.usefixtures("unoptimized")

CLOSE = Tolerances(rtol=1e-4, atol=1e-5)

FACTOR = 2.0


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[nn.Module]:
    """Return the models that were traced, with a cache of this test's own."""
    monkeypatch.setenv("GAWEE_CACHE_DIR", str(tmp_path / "cache"))
    models: list[nn.Module] = []
    extract = compiled.extract_with_state

    def listened(
        model: nn.Module, inputs: Sequence[object], *, decompose: bool, dynamic_shapes: object
    ) -> object:
        models.append(model)
        return extract(model, inputs, decompose=decompose, dynamic_shapes=dynamic_shapes)

    monkeypatch.setattr(compiled, "extract_with_state", listened)
    return models


class Net(nn.Module):
    """Reads what Python has: attributes, globals, a function, data of its own."""

    mask: torch.Tensor
    scale: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(5, 5)
        self.power, self.shift, self.function = 2, torch.arange(5.0), torch.relu
        self.parts = [torch.zeros(5)]
        self.register_buffer("mask", torch.ones(5), persistent=False)
        self.register_buffer("scale", torch.ones(5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.function(self.layer(x)) ** self.power + self.shift * FACTOR + self.parts[0]
        return y * self.mask * self.scale * torch.tensor([1.0, 2.0, 3.0, 4.0, math.pi])


def net() -> Net:
    torch.manual_seed(11)
    return Net().eval()


def check(model: nn.Module, *inputs: torch.Tensor) -> None:
    with torch.no_grad():
        torch.testing.assert_close(compile_torch(model, inputs)(*inputs), model(*inputs), **CLOSE)


@pytest.mark.parametrize("name", ["multi_task_head", "lifted_tensors", "recurrent_unroll"])
def test_a_model_is_traced_once(name: str, traced: list[nn.Module]) -> None:
    model, inputs = make(name)

    for _ in range(3):
        check(model, *inputs)

    assert len(traced) == 1


def test_other_weights_have_the_same_graph(traced: list[nn.Module]) -> None:
    x = torch.randn(3, 5)
    check(net(), x)
    model = net()
    with torch.no_grad():
        model.layer.weight.mul_(-2)
        model.scale.mul_(3)

    check(model, x)

    assert len(traced) == 1


def halved(x: torch.Tensor) -> torch.Tensor:
    return x / 2


def less_one(_module: nn.Module, _inputs: object, made: torch.Tensor) -> torch.Tensor:
    return made - 1


class Doubled(nn.Linear):
    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return super().forward(input) * 2


CHANGES: dict[str, Callable[[Net], object]] = {
    "a number": lambda model: setattr(model, "power", 3),
    "a function": lambda model: setattr(model, "function", halved),
    "data of an attribute": lambda model: model.shift.add_(1),
    "data in a list": lambda model: model.parts[0].add_(1),
    "data that no state_dict has": lambda model: model.mask.mul_(2),
    "the class of a layer": lambda model: setattr(model.layer, "__class__", Doubled),
    "a hook": lambda model: model.layer.register_forward_hook(less_one),
    "a method": lambda model: setattr(
        model.layer, "forward", functools.partial(torch.mul, torch.tensor(3.0))
    ),
    "a layer": lambda model: setattr(model, "layer", nn.Sequential(model.layer, nn.Tanh())),
    "no bias": lambda model: setattr(model.layer, "bias", None),
    "a weight that is another one too": lambda model: setattr(model, "scale", model.layer.bias),
}


@pytest.fixture(scope="module")
def cache_with_net(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache that has the graph of the net, for an input of shape (3, 5), and its code."""
    folder = tmp_path_factory.mktemp("with_net") / "cache"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAWEE_CACHE_DIR", str(folder))
        check(net(), torch.randn(3, 5))
    return folder


@pytest.mark.parametrize("change", CHANGES)
def test_another_model_is_traced_again(
    change: str, traced: list[nn.Module], cache_with_net: Path, tmp_path: Path
) -> None:
    shutil.copytree(cache_with_net, tmp_path / "cache")
    x = torch.randn(3, 5)
    check(net(), x)
    assert not traced
    model = net()
    with torch.no_grad():
        if "another one" in change:
            del model.scale
        CHANGES[change](model)

    check(model, x)
    check(model, x)

    assert len(traced) == 1


def test_a_global_that_changed_is_seen(
    traced: list[nn.Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    x = torch.randn(3, 5)
    check(net(), x)
    monkeypatch.setitem(globals(), "FACTOR", 3.0)

    check(net(), x)

    assert len(traced) == 2


def test_a_function_of_pytorch_that_was_replaced_is_seen(
    traced: list[nn.Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    x = torch.randn(3, 5)
    check(net(), x)
    monkeypatch.setattr(nn.functional, "linear", lambda x, weight, bias: x @ weight + bias)

    check(net(), x)

    assert len(traced) == 2


@pytest.mark.parametrize("x", [torch.randn(4, 5), torch.randn(3, 5).double(), torch.randn(5)])
def test_other_inputs_have_another_graph(x: torch.Tensor, traced: list[nn.Module]) -> None:
    check(net().to(torch.float32), torch.randn(3, 5))

    check(net().to(x.dtype), x)

    assert len(traced) == 2


class Named(nn.Module):
    def forward(self, x: torch.Tensor, *, on: bool = True) -> torch.Tensor:
        return x * 2 if torch.compiler.is_exporting() else x * 3


def test_who_asks_whether_it_is_exported_is_told_so(traced: list[nn.Module]) -> None:
    x = torch.randn(3)

    for _ in range(2):
        torch.testing.assert_close(compile_torch(Named().eval(), (x,))(x), x * 2)

    assert len(traced) == 1


class Attention(nn.Module):
    """Attention: PyTorch's op of it draws random numbers where there is dropout."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.scaled_dot_product_attention(x, x, x, dropout_p=self.dropout)


def test_attention_without_dropout_is_traced_once(traced: list[nn.Module]) -> None:
    for _ in range(3):
        check(Attention(0.0).eval(), torch.randn(2, 3, 7, 5))

    assert len(traced) == 1


def test_attention_that_drops_has_no_record() -> None:
    with pytest.raises(NotRecorded, match="depends on data"):
        record_of_call(Attention(0.5).eval(), (torch.randn(2, 3, 7, 5),))


class TwoStates(nn.Module):
    """Two states of the same data, one of which a call changes."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.first, self.second, self.name = torch.zeros(3), torch.zeros(3), name

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return getattr(self, self.name).add_(1) + x


def test_which_tensor_a_call_changes_is_told_apart(traced: list[nn.Module]) -> None:
    x = torch.randn(3)
    compile_torch(TwoStates("first").eval(), (x,))
    model = TwoStates("second").eval()

    torch.testing.assert_close(compile_torch(model, (x,))(x), x + 1)

    torch.testing.assert_close(model.second, torch.ones(3))
    torch.testing.assert_close(model.first, torch.zeros(3))


class Caches(nn.Module):
    """Keeps what it computed for the first call."""

    def __init__(self) -> None:
        super().__init__()
        self.made: torch.Tensor | None = None
        self.kept: dict[int, torch.Tensor] = {}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.made is None:
            self.made = torch.arange(3.0)
        if 3 not in self.kept:
            self.kept[3] = torch.arange(3.0) * 2
        return x + self.made + self.kept[3]


def test_a_model_that_keeps_what_it_computed_is_traced_each_time(traced: list[nn.Module]) -> None:
    x = torch.randn(3)

    for _ in range(2):
        compile_torch(Caches().eval(), (x,))

    assert len(traced) == 2


def test_a_record_leaves_the_model_as_it_was(traced: list[nn.Module]) -> None:
    model, x = net(), torch.randn(3, 5)
    before = {name: dict(vars(module)) for name, module in model.named_modules()}
    tensors = {name: id(each) for name, each in model.state_dict(keep_vars=True).items()}

    check(model, x)
    check(model, x)

    assert before == {name: dict(vars(module)) for name, module in model.named_modules()}
    assert tensors == {name: id(each) for name, each in model.state_dict(keep_vars=True).items()}
    assert not torch.compiler.is_exporting()


def test_without_a_cache_a_model_is_traced(traced: list[nn.Module]) -> None:
    x = torch.randn(3, 5)

    for _ in range(2):
        compile_torch(net(), (x,), cache=False)

    assert len(traced) == 2
