"""Networks of PyTorch, extracted at one batch size and called at others, against PyTorch."""

from collections.abc import Callable

import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from gawee_dialect.code_options import CodeOptions
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.npu_ir import extract_ir
from gawee_dialect.pytorch.execute import ir_model
from tests.closeness import assert_allclose

# Of sums of at most a few hundred products of numbers near 1, in f32.
TOLERANCE = 2e-5


class Images(nn.Module):
    """Convolutions with a shortcut and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8))
        self.deep = nn.Conv2d(8, 8, 3, padding=1, groups=4)
        self.last = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x).relu()
        x = nn.functional.max_pool2d(x + self.deep(x), 2)
        return self.last(x.mean((2, 3))).softmax(1)


class Sequences(nn.Module):
    """A recurrence in both directions, from a state of zeros."""

    def __init__(self) -> None:
        super().__init__()
        self.recurrence = nn.LSTM(6, 5, num_layers=2, bidirectional=True, batch_first=True)
        self.last = nn.Linear(10, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.recurrence(x)[0])


class Tokens(nn.Module):
    """An encoder with positions, which all texts share."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(19, 12), nn.Embedding(7, 12)
        self.encoder = nn.TransformerEncoderLayer(12, 3, 20, batch_first=True)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.encoder(self.words(tokens) + self.places(torch.arange(7)))


class Statistics(nn.Module):
    """A mean over the images, and one over each of them."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - x.mean(0)) / x.std(1, keepdim=True)


def pictures(images: int) -> torch.Tensor:
    return torch.randn(images, 3, 17, 14)


def sequences(images: int) -> torch.Tensor:
    return torch.randn(images, 9, 6)


def tokens(images: int) -> torch.Tensor:
    return torch.randint(0, 19, (images, 7))


@pytest.mark.parametrize(("extracted_at", "threads"), [(2, 2), (3, 1)])
@pytest.mark.parametrize(
    ("make", "draw"), [(Images, pictures), (Sequences, sequences), (Tokens, tokens)]
)
def test_one_code_runs_batches_of_any_size(
    make: Callable[[], nn.Module],
    draw: Callable[[int], torch.Tensor],
    extracted_at: int,
    threads: int,
) -> None:
    torch.manual_seed(7)
    network = make().eval()
    model = ir_model(extract_ir(network, (draw(extracted_at),), strict=False), network.state_dict())

    compiled = model.compile(CodeOptions(num_threads=threads), cache=False, dynamic_batch=True)

    for images in (1, 2, 3, 7):
        x = draw(images)
        with torch.no_grad():
            expected = network(x).numpy()
        found = compiled(x.numpy())
        assert_allclose(found, expected, rtol=0, atol=TOLERANCE * abs(expected).max())


def test_a_network_for_one_image_runs_batches() -> None:
    torch.manual_seed(7)
    network = Images().eval()
    model = ir_model(extract_ir(network, (pictures(1),), strict=False), network.state_dict())
    x = pictures(5)

    found = model.compile(cache=False, dynamic_batch=True)(x.numpy())

    with torch.no_grad():
        expected = network(x).numpy()
    assert_allclose(found, expected, rtol=0, atol=TOLERANCE)


def test_ops_that_mix_images_are_refused_with_their_node() -> None:
    model = ir_model(extract_ir(Statistics(), (torch.randn(4, 5),), strict=False), {})

    with pytest.raises(GaweeError, match=r"'gawee\.\w+' op expected to keep the images") as caught:
        model.compile(cache=False, dynamic_batch=True)

    assert len(caught.value.diagnostics) == 1
    assert "mean" in str(caught.value)
