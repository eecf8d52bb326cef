"""PyTorch models compiled once for any number of images, against PyTorch."""

import logging
from collections.abc import Callable

import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from gawee_dialect.backend.batched import BatchedModel
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.pytorch import compile_torch, gawee_backend
from tests.closeness import Tolerances

pytestmark = pytest.mark.usefixtures("unoptimized")

# Sums of some dozen products in float32, in another order.
CLOSE = Tolerances(rtol=1e-4, atol=1e-5)

BATCHES = (1, 3, 5)


def images() -> nn.Module:
    torch.manual_seed(3)
    layers = (nn.Conv2d(3, 7, 3, padding=1), nn.BatchNorm2d(7), nn.ReLU(), nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(7 * 4 * 3, 5)).eval()


def pictures(batch: int) -> torch.Tensor:
    return torch.randn(batch, 3, 9, 6)


class Classified(nn.Module):
    """A token for the class before the others, and a recurrence from a state of zeros."""

    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.randn(1, 1, 6))
        self.recurrence = nn.LSTM(6, 5, num_layers=2, bidirectional=True, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1)
        return self.recurrence(x)[0]


class Masked(nn.Module):
    """Attention under a mask that all sequences share."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(12, 3, batch_first=True)

    def forward(self, x: torch.Tensor, scale: float, mask: torch.Tensor) -> torch.Tensor:
        return self.attention(x, x, x, attn_mask=mask, need_weights=False)[0] * scale


@pytest.mark.parametrize("example", BATCHES)
def test_one_code_runs_every_batch(example: int) -> None:
    model = images()
    compiled = compile_torch(model, (pictures(example),), dynamic_batch=True)

    for batch in BATCHES:
        x = pictures(batch)
        with torch.no_grad():
            torch.testing.assert_close(compiled(x), model(x), **CLOSE)


def test_what_is_written_out_for_each_image_is_so_for_any_number() -> None:
    model = Classified().eval()
    compiled = compile_torch(model, (torch.randn(1, 9, 6),), dynamic_batch=True)

    for batch in BATCHES:
        x = torch.randn(batch, 9, 6)
        with torch.no_grad():
            torch.testing.assert_close(compiled(x), model(x), **CLOSE)


@pytest.mark.parametrize("example", [1, 4])
def test_inputs_with_images_are_named(example: int) -> None:
    model, mask = Masked().eval(), torch.triu(torch.full((6, 6), -1e9), 1)
    inputs = (torch.randn(example, 6, 12), 0.5, mask)
    compiled = compile_torch(model, inputs, dynamic_batch={"x": 0})

    for batch in BATCHES:
        x = torch.randn(batch, 6, 12)
        with torch.no_grad():
            torch.testing.assert_close(compiled(x, 0.5, mask), model(x, 0.5, mask), **CLOSE)


def test_an_op_that_mixes_images_is_told() -> None:
    class Centered(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x - x.mean(0)

    with pytest.raises(GaweeError, match=r"'gawee\.reduce_mean' op expected to keep the images"):
        compile_torch(Centered().eval(), (torch.randn(2, 5),), dynamic_batch=True)


class OfNumber(nn.Module):
    def __init__(self, function: Callable[[torch.Tensor, int], torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x, x.shape[0])


@pytest.mark.parametrize(
    "function",
    [
        lambda x, images: x / images,
        lambda x, images: x[:, :images] * 2,
        lambda x, images: x + torch.full((5,), float(images)),
        lambda x, images: torch.relu(x) if images % 2 else torch.tanh(x),
    ],
)
def test_what_depends_on_the_number_of_images_is_refused(
    function: Callable[[torch.Tensor, int], torch.Tensor],
) -> None:
    message = "expected to compute the same with every number of images, got a number that depends"
    with pytest.raises(GaweeError, match=message):
        compile_torch(OfNumber(function).eval(), (torch.randn(2, 5),), dynamic_batch=True)


def test_constants_that_depend_on_the_number_of_images_are_refused() -> None:
    def shifted(x: torch.Tensor, images: int) -> torch.Tensor:
        return x + torch.tensor([float(images + place) for place in range(300)])

    message = "expected constants that are the same for every number of images, got a different '"
    with pytest.raises(GaweeError, match=message):
        compile_torch(OfNumber(shifted).eval(), (torch.randn(2, 300),), dynamic_batch=True)


@pytest.mark.parametrize("axes", [True, {"x": 0, "mask": 0}, {"y": 0}, {"x": 3}])
def test_inputs_that_have_no_images_are_told(axes: bool | dict[str, int]) -> None:
    inputs = (torch.randn(2, 6, 12), 0.5, torch.zeros(6, 6))

    with pytest.raises(GaweeError, match=r"one number of images|unknown input 'y'|to have axis 3"):
        compile_torch(Masked().eval(), inputs, dynamic_batch=axes)


class Counted(nn.Module):
    count: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(1)
        return x + self.count


def test_a_call_changes_state_once_for_all_images() -> None:
    model = Counted().eval()
    compiled = compile_torch(model, (torch.randn(2, 5),), dynamic_batch=True)

    for call, batch in enumerate(BATCHES, 1):
        x = torch.randn(batch, 5)
        torch.testing.assert_close(compiled(x), x + call)
        assert model.count == call


def test_torch_compile_makes_one_code_for_every_batch(compilations: list[object]) -> None:
    torch._dynamo.reset()
    model = images()
    run = torch.compile(model, backend=gawee_backend, dynamic=True)

    with torch.no_grad():
        for batch in (4, 5, 2, 7):
            x = pictures(batch)
            torch.testing.assert_close(run(x), model(x), **CLOSE)

    assert len(compilations) == 1


def test_torch_compile_finds_that_the_batch_changes(compilations: list[object]) -> None:
    torch._dynamo.reset()
    model = images()
    run = torch.compile(model, backend=gawee_backend)

    with torch.no_grad():
        for batch in (3, 5, 2, 1, 7):
            x = pictures(batch)
            torch.testing.assert_close(run(x), model(x), **CLOSE)

    # One for the first batch, one for all others; PyTorch has a graph of its own for batch 1.
    assert len(compilations) == 3


def test_torch_compile_has_code_for_batches_that_pytorch_traces_again(
    compilations: list[object],
) -> None:
    torch._dynamo.reset()
    model = images()
    run = torch.compile(model, backend=gawee_backend, dynamic=True)

    with torch.no_grad():
        for batch in (4, 2, 16, 32):
            x = pictures(batch)
            torch.testing.assert_close(run(x), model(x), **CLOSE)

    # PyTorch asks whether a batch has 16 images, to choose its own convolution.
    few, many = map(str, compilations)
    assert few == many


def test_torch_compile_compiles_for_each_batch_what_mixes_images(
    caplog: pytest.LogCaptureFixture,
) -> None:
    torch._dynamo.reset()

    def centered(x: torch.Tensor) -> tuple[torch.Tensor, int]:
        return x - x.mean(0), x.shape[0] // 67  # more than digits are taken of

    run = torch.compile(centered, backend=gawee_backend, dynamic=True)

    with caplog.at_level(logging.INFO, "gawee_dialect"), torch.no_grad():
        for batch in (2, 3, 5):
            x = torch.randn(batch, 4)
            torch.testing.assert_close(run(x), centered(x), **CLOSE)

    assert "'gawee.reduce_mean' op expected to keep the images of a batch apart" in caplog.text
    assert "compiled for each set of sizes: " in caplog.text


def test_torch_compile_returns_the_number_of_images(caplog: pytest.LogCaptureFixture) -> None:
    torch._dynamo.reset()

    def doubled(x: torch.Tensor) -> tuple[torch.Tensor, int]:
        return x * 2, x.shape[0] * 3

    run = torch.compile(doubled, backend=gawee_backend)  # of two sizes, the batch alone is open

    with caplog.at_level(logging.INFO, "gawee_dialect"):
        for batch in (2, 3, 5):
            x = torch.randn(batch, 4)
            torch.testing.assert_close(run(x), doubled(x), **CLOSE)

    assert "a graph returns how many images there are" in caplog.text


def test_the_native_model_says_what_has_images() -> None:
    compiled = compile_torch(images(), (pictures(2),), dynamic_batch=True)

    assert isinstance(compiled.native, BatchedModel)
    assert compiled.native.images.inputs == {"input": 0}
