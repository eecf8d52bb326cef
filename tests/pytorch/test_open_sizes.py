"""Graphs in which sizes are open, run by torch.compile for several sizes, against PyTorch."""

import logging
from collections.abc import Callable, Sequence
from unittest import mock

import pytest

pytest.importorskip("torch")

import torch
from torch.nn import functional

from gawee_dialect.pytorch import dynamo, gawee_backend
from tests.closeness import Tolerances
from tests.effort import taking_turns

pytestmark = pytest.mark.usefixtures("unoptimized")

# Sums of some dozen products in float32, in another order.
CLOSE = Tolerances(rtol=1e-4, atol=1e-5)


def sizes_as_numbers(x: torch.Tensor, shift: torch.Tensor, factor: float):
    rows = x.shape[0]
    y = torch.arange(rows, dtype=torch.float32)[:, None] + x * shift
    y = torch.cat([y, torch.full((rows // 2 + 1, x.shape[1]), 3.0)])
    return y.sum(1) / rows, y.reshape(-1)[: rows * 2], rows * 3, factor * y


def a_size_of_another(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.cat([x, y]).reshape(-1)[x.shape[0] :].unfold(0, 3, 2) * y.shape[0]


def several_results(x: torch.Tensor) -> torch.Tensor:
    parts = torch.stack(x.split([x.shape[0] - 2, 2])[0].max(1))
    return functional.layer_norm(x, x.shape[1:]).sum() + parts


CASES = {
    "sizes as numbers": (
        sizes_as_numbers,
        [(torch.randn(n, 7), torch.randn(7), n / 2) for n in (5, 6, 9)],
    ),
    "a size of another argument": (
        a_size_of_another,
        [(torch.randn(m, 3), torch.randn(n, 3)) for m, n in ((4, 9), (5, 4), (3, 8))],
    ),
    "a number as an argument": (
        lambda x, number: x * number + number,
        [(torch.randn(m, 3), n) for m, n in ((4, 2), (4, 3), (5, 7))],
    ),
    "a size that a number scales": (
        lambda x: functional.interpolate(x, scale_factor=1.5, mode="bilinear"),
        [(torch.randn(2, 3, m, n),) for m, n in ((8, 10), (5, 7))],
    ),
    "a power of a size": (
        lambda x: x.softmax(-1) / x.shape[-1] ** 0.5,
        [(torch.randn(2, n),) for n in (8, 5)],
    ),
    "several results": (several_results, [(torch.randn(n, 6),) for n in (7, 4, 12)]),
}


@pytest.mark.parametrize(("name", "dynamic"), taking_turns(CASES, [True, None]))
def test_a_graph_with_open_sizes_runs_for_each(name: str, dynamic: bool | None) -> None:
    function: Callable[..., object]
    calls: Sequence[Sequence[object]]
    function, calls = CASES[name]
    torch._dynamo.reset()
    compiled = torch.compile(function, backend=gawee_backend, dynamic=dynamic)

    with torch.no_grad():
        for inputs in (*calls, calls[0]):
            torch.testing.assert_close(compiled(*inputs), function(*inputs), **CLOSE)


def test_a_length_traces_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    torch._dynamo.reset()
    torch.manual_seed(5)
    layer = torch.nn.TransformerEncoderLayer(12, 3, 20, batch_first=True).eval()
    compiled = torch.compile(layer, backend=gawee_backend, dynamic=True)
    with torch.no_grad():
        for length in (6, 9):
            x = torch.randn(1, length, 12)
            torch.testing.assert_close(compiled(x), layer(x), **CLOSE)

        monkeypatch.delattr("torch.fx.Tracer.trace")
        x = torch.randn(1, 5, 12)
        torch.testing.assert_close(compiled(x), layer(x), **CLOSE)


def no_more_code(monkeypatch: pytest.MonkeyPatch) -> mock.Mock:
    """Count compilations from here on: what one raises would be left to PyTorch."""
    counted = mock.Mock(wraps=dynamo.program_of)
    monkeypatch.setattr(dynamo, "program_of", counted)
    return counted


def test_one_code_serves_all_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    torch._dynamo.reset()
    torch.manual_seed(5)
    layer = torch.nn.TransformerEncoderLayer(12, 3, 20, batch_first=True).eval()
    compiled = torch.compile(layer, backend=gawee_backend)
    with torch.no_grad():
        for batch, length in ((2, 6), (3, 9)):
            compiled(torch.randn(batch, length, 12))

        made = no_more_code(monkeypatch)
        for batch, length in ((2, 6), (7, 5), (5, 40), (16, 2), (3, 131)):
            x = torch.randn(batch, length, 12)
            torch.testing.assert_close(compiled(x), layer(x), **CLOSE)
        assert not made.called


def padded_to_four(x: torch.Tensor) -> torch.Tensor:
    x = functional.pad(x, (0, 0, 0, -x.shape[0] % 4))
    return x.reshape(-1, 4, x.shape[1]).softmax(1)


class Halved(torch.nn.Module):
    """Halves an image four times, by steps of two; at the side by none but the elements there."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(3, 8, 7, stride=2, padding=3)
        self.others = torch.nn.ModuleList(
            torch.nn.Conv2d(8, 8, 3, stride=2, padding=1) for _ in range(2)
        )
        self.short = torch.nn.ModuleList(torch.nn.Conv2d(8, 8, 1, stride=2) for _ in range(2))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = functional.max_pool2d(self.first(x), 3, stride=2, padding=1)
        for conv, short in zip(self.others, self.short, strict=True):
            x = conv(x).relu() + short(x)
        return x, functional.adaptive_avg_pool2d(x, 1)


QUOTIENTS: dict[str, Callable[..., object]] = {
    "a half": lambda x: (x[: x.shape[0] // 2].softmax(-1), x[x.shape[0] // 2 :].sum(0)),
    "every other": lambda x: x[::2] * 2,
    "halves": lambda x: torch.cat([each.softmax(-1) for each in x.chunk(2)][::-1]),
    "a third": lambda x: x[: x.shape[0] // 3].softmax(-1),
    "pooled": lambda x: functional.avg_pool1d(x.T, 2),
    "a rest to four": padded_to_four,
}


@pytest.mark.parametrize("name", QUOTIENTS)
def test_one_code_serves_sizes_that_are_not_known_to_be_even(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = QUOTIENTS[name]
    torch._dynamo.reset()
    compiled = torch.compile(function, backend=gawee_backend, dynamic=True)
    compiled(torch.randn(9, 7))

    made = no_more_code(monkeypatch)
    for rows in (9, 14, 23, 40, 16, 101, 37, 8, 12):
        x = torch.randn(rows, 7)
        torch.testing.assert_close(compiled(x), function(x), **CLOSE)
    assert not made.called


def test_one_code_serves_images_that_are_halved_four_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch._dynamo.reset()
    torch.manual_seed(5)
    net = Halved().eval()
    compiled = torch.compile(net, backend=gawee_backend, dynamic=True)
    with torch.no_grad():
        compiled(torch.randn(2, 3, 65, 70))
        made = no_more_code(monkeypatch)
        for batch, height, width in ((3, 71, 64), (5, 80, 93), (2, 64, 66), (4, 99, 101)):
            x = torch.randn(batch, 3, height, width)
            torch.testing.assert_close(compiled(x), net(x), **CLOSE)
        assert not made.called


def test_a_size_that_digits_do_not_make_leaves_the_code_for_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fifth(x: torch.Tensor) -> torch.Tensor:
        return x[: x.shape[0] // 5 + 1].softmax(-1)

    torch._dynamo.reset()
    compiled = torch.compile(fifth, backend=gawee_backend, dynamic=True)
    for rows in (11, 3, 600):
        x = torch.randn(rows, 7)
        torch.testing.assert_close(compiled(x), fifth(x), **CLOSE)

    made = no_more_code(monkeypatch)
    for rows in (12, 3, 599, 34):
        x = torch.randn(rows, 7)
        torch.testing.assert_close(compiled(x), fifth(x), **CLOSE)
    assert not made.called


class CutTable(torch.nn.Module):
    """Each image by itself, of a length that cuts a table of 40 positions."""

    def __init__(self) -> None:
        super().__init__()
        self.word = torch.nn.Embedding(11, 12)
        self.register_buffer("places", torch.randn(1, 40, 12))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.word(ids) + self.get_buffer("places")[:, : ids.shape[1]]
        return x.softmax(-1)


@pytest.mark.parametrize("dynamic", [True, None])
def test_one_code_serves_all_lengths_that_a_table_has(
    dynamic: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch._dynamo.reset()
    torch.manual_seed(5)
    net = CutTable().eval()
    compiled = torch.compile(net, backend=gawee_backend, dynamic=dynamic)
    with torch.no_grad():
        for batch, length in ((2, 6), (3, 9)):
            compiled(torch.randint(0, 11, (batch, length)))

        made = no_more_code(monkeypatch)
        for batch, length in ((7, 5), (5, 40), (16, 2), (500, 31)):
            ids = torch.randint(0, 11, (batch, length))
            torch.testing.assert_close(compiled(ids), net(ids), **CLOSE)
        assert not made.called


def test_keys_and_values_of_a_cache_that_grows_are_as_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def attend(x: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> list[torch.Tensor]:
        keys, values = torch.cat([keys, x], 2), torch.cat([values, x + 1], 2)
        return [functional.scaled_dot_product_attention(x, keys, values), keys, values]

    torch._dynamo.reset()
    torch.manual_seed(5)
    compiled = torch.compile(attend, backend=gawee_backend)
    with torch.no_grad():
        state = [torch.randn(1, 2, 3, 8), torch.randn(1, 2, 3, 8)]
        made = mock.Mock()
        for token in range(6):
            x = torch.randn(1, 2, 1, 8)
            expected, (result, *new) = attend(x, *state), compiled(x, *state)
            torch.testing.assert_close([result, *new], expected, **CLOSE)
            state = new
            if token == 2:
                made = no_more_code(monkeypatch)
        assert made.call_count == 0


def test_a_size_beyond_a_range_is_compiled_for() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: x.softmax(-1).sum(0), backend=gawee_backend, dynamic=True)
    with torch.no_grad():
        for shape in ((4, 7), (5, 30), (3, 700), (1100, 5), (600, 1400), (2, 3)):
            x = torch.randn(shape)
            torch.testing.assert_close(compiled(x), x.softmax(-1).sum(0), **CLOSE)


def test_statistics_of_a_batch_are_compiled_for_each_size(caplog: pytest.LogCaptureFixture) -> None:
    torch._dynamo.reset()
    torch.manual_seed(5)
    layer = torch.nn.BatchNorm1d(3).train()
    compiled = torch.compile(layer, backend=gawee_backend, dynamic=True)
    with caplog.at_level(logging.INFO, "gawee_dialect"), torch.no_grad():
        for batch in (20, 32):
            x = torch.randn(batch, 3, 5)
            torch.testing.assert_close(compiled(x), layer(x), **CLOSE)

    assert "statistics of a batch are computed as the numbers of images asks" in caplog.text


def test_sizes_that_are_returned_are_those_of_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def grown(past: torch.Tensor, x: torch.Tensor, seen: int) -> tuple[torch.Tensor, int, int]:
        whole = torch.cat([past, x])
        return whole * 2, whole.shape[0], seen + x.shape[0]

    torch._dynamo.reset()
    compiled = torch.compile(grown, backend=gawee_backend, dynamic=True)
    with torch.no_grad():
        compiled(torch.randn(4, 3), torch.randn(2, 3), 7)
        made = no_more_code(monkeypatch)
        for past, rows, seen in ((5, 2, 9), (6, 3, 30), (40, 4, 41)):
            given = torch.randn(past, 3), torch.randn(rows, 3), seen
            torch.testing.assert_close(compiled(*given), grown(*given), **CLOSE)
        assert not made.called


def test_a_size_that_is_computed_with_is_read_in_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def places(x: torch.Tensor) -> Sequence[torch.Tensor]:
        return x - x.shape[0], torch.arange(3) + 2 * x.shape[0], x.sum(0) / x.shape[0]

    torch._dynamo.reset()
    compiled = torch.compile(places, backend=gawee_backend, dynamic=True)
    with torch.no_grad():
        compiled(torch.randn(5, 3))
        made = no_more_code(monkeypatch)
        for rows in (2, 9, 40):
            x = torch.randn(rows, 3)
            torch.testing.assert_close(compiled(x), places(x), **CLOSE)
        assert not made.called


def test_a_size_that_no_tensor_has_is_compiled_for_each_number() -> None:
    def waves(rows: int) -> torch.Tensor:
        return torch.arange(rows).outer(torch.arange(rows) * 0.1).sin().sum(0)

    torch._dynamo.reset()
    compiled = torch.compile(
        waves, backend=gawee_backend, dynamic=True, options={"fallback": False}
    )
    with torch.no_grad():
        for rows in (7, 4):
            torch.testing.assert_close(compiled(rows), waves(rows), **CLOSE)


@pytest.mark.parametrize("computes", [False, True])
def test_outputs_that_are_views_of_inputs_lie_where_pytorch_has_them(computes: bool) -> None:
    def parts(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        half = x.shape[0] // 2
        views = (x[half:], x.T[:, half:], *y.chunk(2), x.view(-1)[half:])
        return (x @ y.T, *views, y.sum(0)) if computes else views

    torch.compiler.reset()
    fast = torch.compile(parts, backend="gawee", dynamic=True)
    for size in (4, 6, 10):
        x, y = torch.randn(size, 3), torch.randn(size + 1, 3)

        outputs, expected = fast(x, y), parts(x, y)

        torch.testing.assert_close(outputs, expected, **CLOSE)
        strides = [each.stride() for each in outputs]
        assert strides == [each.stride() for each in expected]
        outputs[1 if computes else 0].zero_()
        assert not x[size // 2 :].any()
