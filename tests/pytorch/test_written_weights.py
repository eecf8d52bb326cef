"""Weights that are written past PyTorch between calls of what torch.compile made."""

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("torch")

import torch
from torch import nn

from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.backend.fingerprint import LINES, fingerprint
from gawee_dialect.pytorch import gawee_backend, rebind_weights
from tests.closeness import Tolerances
from tests.effort import two_of_each

pytestmark = pytest.mark.usefixtures("unoptimized")

# Sums of some hundred products in float32, in another order.
CLOSE = Tolerances(rtol=1e-4, atol=1e-5)


def by_numpy(weight: torch.Tensor) -> None:
    weight.numpy()[...] = 0.25


def under_inference_mode(weight: torch.Tensor) -> None:
    with torch.inference_mode():
        weight.mul_(3)


WRITES: dict[str, Callable[[torch.Tensor], object]] = {
    "data times": lambda weight: weight.data.mul_(2),
    "data plus": lambda weight: weight.data.add_(0.5),
    "data negated": lambda weight: weight.data.neg_(),
    "data copied": lambda weight: weight.data.copy_(torch.randn_like(weight)),
    "a column": lambda weight: weight.data[:, 3].mul_(5),
    "NumPy": by_numpy,
    "a view": lambda weight: weight.detach().view(-1)[1:].mul_(1.5),
    "inference mode": under_inference_mode,
    "another tensor": lambda weight: setattr(weight, "data", torch.randn_like(weight)),
}


@pytest.mark.parametrize(("write", "width"), two_of_each(WRITES, [4, 7, 200]))
def test_a_write_of_all_shows_in_the_next_call(write: str, width: int) -> None:
    torch._dynamo.reset()
    model = nn.Linear(width, width).requires_grad_(False)
    compiled, x = torch.compile(model, backend=gawee_backend), torch.randn(3, width)

    for _ in range(2):
        torch.testing.assert_close(compiled(x), model(x), **CLOSE)
        WRITES[write](model.weight)
        torch.testing.assert_close(compiled(x), model(x), **CLOSE)


def test_weights_in_another_layout_are_followed() -> None:
    torch._dynamo.reset()
    model = nn.Conv2d(9, 13, 3).requires_grad_(False)
    model.weight = nn.Parameter(model.weight.to(memory_format=torch.channels_last), False)
    compiled, x = torch.compile(model, backend=gawee_backend), torch.randn(2, 9, 8, 7)

    for _ in range(2):
        torch.testing.assert_close(compiled(x), model(x), **CLOSE)
        model.weight.data.mul_(-2)
        model.get_parameter("bias").data.add_(1)
        torch.testing.assert_close(compiled(x), model(x), **CLOSE)


@torch.inference_mode()
def test_weights_that_count_no_versions_are_followed() -> None:
    torch._dynamo.reset()
    model = nn.Linear(30, 50)
    compiled, x = torch.compile(model, backend=gawee_backend), torch.randn(3, 30)

    for _ in range(2):
        torch.testing.assert_close(compiled(x), model(x), **CLOSE)
        model.weight.mul_(2)
        torch.testing.assert_close(compiled(x), model(x), **CLOSE)


def test_a_row_of_an_embedding_is_read_where_it_is() -> None:
    torch._dynamo.reset()
    model = nn.Embedding(5000, 48).requires_grad_(False)
    compiled = torch.compile(model, backend=gawee_backend)
    index = torch.tensor([[17, 4321]])

    torch.testing.assert_close(compiled(index), model(index))
    model.weight.data[4321] = 7
    torch.testing.assert_close(compiled(index), model(index))


class Layer(nn.Module):
    """A part of a network that TorchDynamo makes one graph of, however often it is there."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(40, 40)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x))


class Layers(nn.Module):
    """Layers of one kind, with what is no graph between them."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            torch._dynamo.graph_break()
            x = layer(x)
        return x


def test_layers_that_share_a_graph_keep_what_is_made_of_their_weights(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch._dynamo.reset()
    model, x = Layers().requires_grad_(False), torch.randn(3, 40)
    compiled, bound = torch.compile(model, backend=gawee_backend), list[object]()
    rebind = CompiledModel.rebind

    def counted(self: CompiledModel, parameters: Mapping[str, NDArray[np.generic]]) -> None:
        bound.append(self)
        rebind(self, parameters)

    monkeypatch.setattr(CompiledModel, "rebind", counted)
    for _ in range(4):
        torch.testing.assert_close(compiled(x), model(x), **CLOSE)
    assert len(bound) == 3

    model.get_parameter("layers.1.linear.weight").mul_(2)
    model.layers[2] = Layer().requires_grad_(False)
    for _ in range(4):
        torch.testing.assert_close(compiled(x), model(x), **CLOSE)
    assert len(bound) == 5


def test_threads_that_need_new_weights_at_once_pack_them_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch._dynamo.reset()
    model, x = nn.Linear(64, 64).requires_grad_(False), torch.randn(3, 64)
    compiled = torch.compile(model, backend=gawee_backend)
    compiled(x)
    model.weight.data.neg_()
    expected, together = model(x), threading.Barrier(3)
    packed: list[object] = []

    def pack(native: CompiledModel, arrays: Mapping[str, NDArray[np.generic]]) -> CompiledModel:
        packed.append(native)
        time.sleep(0.2)  # long enough for the others to come
        return with_parameters(native, arrays)

    def call(_: int) -> torch.Tensor:
        together.wait()
        return compiled(x)

    with_parameters = CompiledModel.with_parameters
    monkeypatch.setattr(CompiledModel, "with_parameters", pack)
    with ThreadPoolExecutor(3) as threads:
        for made in threads.map(call, range(3)):
            torch.testing.assert_close(made, expected, **CLOSE)

    assert len(packed) == 1


def test_any_number_shows_once_weights_are_rebound() -> None:
    torch._dynamo.reset()
    model = nn.Linear(400, 400, bias=False).requires_grad_(False)
    compiled, x = torch.compile(model, backend=gawee_backend), torch.randn(3, 400)
    compiled(x)

    for row, column in ((0, 0), (17, 399), (201, 33), (399, 399)):
        model.weight.data[row, column] += 100
        rebind_weights()
        torch.testing.assert_close(compiled(x), model(x), **CLOSE)


@pytest.mark.parametrize("size", [1, 3, 63, 64, 65, 200, 64 * LINES])
def test_each_byte_of_small_memory_is_in_the_fingerprint(size: int) -> None:
    data = torch.zeros(size + 1, dtype=torch.uint8)
    read = fingerprint([(data.data_ptr(), size)])
    before = read()
    seen = {before}

    for index in range(size):
        data[index] = 128
        seen.add(read())
        data[index] = 0
    data[size] = 1  # it is not part of it

    assert read() == before
    assert len(seen) == size + 1


def test_two_changes_of_signs_are_no_change_of_none() -> None:
    data = torch.ones(64, dtype=torch.float64)
    read = fingerprint([(data.data_ptr(), 512)])
    before = read()

    data.neg_()

    assert read() != before
