"""Networks whose batch is computed in parts, against PyTorch."""

from collections.abc import Callable

import pytest

pytest.importorskip("torch")

import torch
from torch import nn
from xdsl.passes import ModulePass

from gawee_dialect.code_options import CodeOptions
from gawee_dialect.passes.insertion import before
from gawee_dialect.passes.instrument import Instrument, instrumented
from gawee_dialect.passes.tensors.tile_batch import TileBatch
from gawee_dialect.pytorch import compile_torch
from tests.closeness import Tolerances
from tests.effort import taking_turns

# Sums of some hundred products in float32, in another order.
CLOSE = Tolerances(rtol=1e-4, atol=1e-5)


class Branches(nn.Module):
    """Halos, a shortcut, channels that are put together, and a mean of each image."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.left = nn.Conv2d(16, 16, 3, padding=1)
        self.right = nn.Conv2d(16, 16, 1)
        self.depthwise = nn.Conv2d(32, 32, 5, padding=2, stride=2, groups=32)
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.last = nn.Linear(32, 7)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = torch.relu(self.first(x))
        x = torch.cat([torch.relu(self.left(x)) + x, self.right(x)], 1)
        x = self.pool(self.depthwise(x))
        return self.last(x.mean((2, 3))), x


class Encoder(nn.Module):
    """Tokens, whose rows are gathered before, and attention."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = nn.Embedding(19, 24)
        self.layer = nn.TransformerEncoderLayer(24, 3, 40, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(self.rows(x))


class StepsFirst(nn.Module):
    """Images along axis 1 for a while, and what is written out for each."""

    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.randn(1, 1, 6))
        self.layer = nn.Linear(6, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1)
        return torch.tanh(self.layer(x.transpose(0, 1))).transpose(0, 1)


class Patches(nn.Module):
    """A row of every image's own and one that they share: all that is written where it will lie."""

    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.randn(1, 1, 192))
        self.patches = nn.Conv2d(3, 192, 16, 16)
        self.norm = nn.LayerNorm(192)
        self.mix = nn.Linear(192, 48)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = self.patches(x).flatten(2).transpose(1, 2)
        rows = torch.cat([self.token.expand(x.shape[0], -1, -1), rows], 1)
        return self.mix(self.norm(rows))


class Classifier(nn.Module):
    """Pictures that take much memory, and weights that all of them share at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 24, 3, padding=1)
        self.last = nn.Sequential(nn.Linear(24 * 8 * 8, 700), nn.ReLU(), nn.Linear(700, 11))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = nn.functional.max_pool2d(torch.relu(self.first(x)), 16)
        return self.last(x.flatten(1))


def pictures(batch: int) -> torch.Tensor:
    return torch.randn(batch, 3, 19, 13)


def large_pictures(batch: int) -> torch.Tensor:
    return torch.randn(batch, 3, 64, 64)


def tokens(batch: int) -> torch.Tensor:
    return torch.randint(0, 19, (batch, 7))


def sequences(batch: int) -> torch.Tensor:
    return torch.randn(batch, 9, 6)


CASES = {
    "branches": (Branches, pictures),
    "encoder": (Encoder, tokens),
    "steps first": (StepsFirst, sequences),
    "patches": (Patches, large_pictures),
}


# Batch, images of a part, threads.
@pytest.mark.parametrize(
    ("case", "setting"), taking_turns(CASES, [(6, 1, 2), (6, 2, 1), (9, 3, 2)])
)
def test_parts_of_a_batch_are_what_all_of_it_is(case: str, setting: tuple[int, int, int]) -> None:
    make, draw = CASES[case]
    batch, part, threads = setting
    compare(make, draw(batch), part, threads)


# Batch, images of a part, parts at once, threads.
# On 2 threads 7 parts are 4 and 3; 3 at the same time are more than the threads of a call, or less.
@pytest.mark.parametrize(
    ("case", "setting"),
    taking_turns(CASES, [(9, 3, 2, 1), (6, 2, 3, 4), (7, 1, 2, 2), (6, 2, 3, 2)]),
)
def test_parts_at_the_same_time_are_what_all_of_the_batch_is(
    case: str, setting: tuple[int, int, int, int]
) -> None:
    make, draw = CASES[case]
    batch, part, at_once, threads = setting
    compare(make, draw(batch), part, threads, at_once)


@pytest.mark.parametrize("case", CASES)
def test_parts_at_the_same_time_are_to_the_bit_what_they_are_in_turn(case: str) -> None:
    make, draw = CASES[case]
    torch.manual_seed(5)
    model, x = make().eval(), draw(7)

    in_turn = compile_torch(model, (x,), options_of(TileBatch(1), 1))(x)
    at_once = compile_torch(model, (x,), options_of(TileBatch(1, 2), 2))(x)

    torch.testing.assert_close(at_once, in_turn, rtol=0, atol=0)


def test_threads_do_not_write_what_all_parts_read() -> None:
    torch.manual_seed(5)
    model, calls = Patches().eval(), large_pictures(300)
    compiled = compile_torch(model, (calls[:2],), options_of(TileBatch(1, 2), 2))

    with torch.no_grad():
        # What one thread wrote too early is seen in some of them.
        for x, y in zip(calls.split(2), model(calls).split(2), strict=True):
            torch.testing.assert_close(compiled(x), y, **CLOSE)


def test_what_reads_little_but_weights_is_computed_of_all_images_at_once() -> None:
    torch.manual_seed(5)
    model, x = Classifier().eval(), torch.randn(64, 3, 128, 128)  # 100 MB for the first layer
    sizes = PartSizes()

    with instrumented(sizes):
        compiled = compile_torch(model, (x,), options_of(TileBatch(), 1))

    assert sizes.found
    with torch.no_grad():
        torch.testing.assert_close(compiled(x), model(x), **CLOSE)


def options_of(tiling: TileBatch, threads: int) -> CodeOptions:
    return CodeOptions(num_threads=threads, passes=(before("tile-batch", tiling),))


class PartSizes(Instrument):
    """Hears how many images the parts have."""

    def __init__(self) -> None:
        self.found: list[int] = []

    def statistic(self, module_pass: ModulePass, what: str, value: int) -> None:
        if what == "images of a part":
            self.found.append(value)


def compare(
    make: Callable[[], nn.Module], x: torch.Tensor, part: int, threads: int, at_once: int = 1
) -> None:
    torch.manual_seed(5)
    model = make().eval()
    options = options_of(TileBatch(part, at_once), threads)
    sizes = PartSizes()
    with instrumented(sizes):
        compiled = compile_torch(model, (x,), options)
    assert sizes.found[:1] == [part]
    with torch.no_grad():
        torch.testing.assert_close(compiled(x), model(x), **CLOSE)
        # What a run leaves behind in the workspace is not seen by the next one.
        torch.testing.assert_close(compiled(x.flip(0)), model(x.flip(0)), **CLOSE)
