"""Models that PyTorch runs until their code is ready, against PyTorch."""

import logging
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("torch")

import torch

from gawee_dialect import wait_until_compiled
from gawee_dialect.pytorch import dynamo, gawee_backend
from tests.closeness import Tolerances

pytestmark = pytest.mark.usefixtures("unoptimized")

# Sums of some dozen products in float32, in another order.
CLOSE = Tolerances(rtol=1e-4, atol=1e-5)

LENGTHS = (6, 9, 5)
IN_BACKGROUND = {"background": True}


@pytest.fixture(autouse=True)
def fresh() -> None:
    torch._dynamo.reset()
    torch.manual_seed(7)


@pytest.fixture
def native_runs(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Which calls ran native code."""
    runs: list[object] = []
    run = dynamo.StaticGraph.run
    monkeypatch.setattr(
        dynamo.StaticGraph, "run", lambda self, args: runs.append(self) or run(self, args)
    )
    return runs


def layer() -> torch.nn.Module:
    return torch.nn.TransformerEncoderLayer(12, 3, 20, batch_first=True).eval()


def text(length: int, batch: int = 1) -> torch.Tensor:
    return torch.randn(batch, length, 12)


def compiled(
    model: Callable[..., object], options: Mapping[str, str | int | bool] = IN_BACKGROUND
) -> Callable[..., object]:
    return torch.compile(model, backend=gawee_backend, dynamic=True, options={**options})


@torch.no_grad()
def test_each_length_is_native_once_its_code_is_ready(native_runs: list[object]) -> None:
    model = layer()
    fast = compiled(model)

    for length in LENGTHS:
        native_runs.clear()
        x = text(length)
        torch.testing.assert_close(fast(x), model(x), **CLOSE)
        assert wait_until_compiled()
        torch.testing.assert_close(fast(x), model(x), **CLOSE)
        torch.testing.assert_close(fast(x + 1), model(x + 1), **CLOSE)
        assert len(native_runs) >= 2


@torch.no_grad()
@pytest.mark.parametrize("background", [True, False])
def test_threads_that_call_at_once_compile_nothing_twice(
    compilations: list[object], background: bool
) -> None:
    model = layer()
    fast = compiled(model, {"background": background})
    fast(text(4))

    def call(number: int) -> None:
        x = text(LENGTHS[number % len(LENGTHS)])
        with torch.no_grad():
            torch.testing.assert_close(fast(x), model(x), **CLOSE)

    for _ in range(2):
        with ThreadPoolExecutor(6) as threads:
            assert len(list(threads.map(call, range(24)))) == 24
        assert wait_until_compiled()
    # One code is for all lengths, unless code of a length is made in the background.
    assert len(compilations) == (1 + len(LENGTHS) if background else 1)


@torch.no_grad()
@pytest.mark.parametrize("background", [True, False])
def test_weights_that_are_written_are_seen(background: bool) -> None:
    model = layer()
    fast = compiled(model, {"background": background})
    x = text(6)

    for _ in range(3):
        torch.testing.assert_close(fast(x), model(x), **CLOSE)
        model.get_parameter("linear1.weight").mul_(-0.5)
        torch.testing.assert_close(fast(x), model(x), **CLOSE)
        assert wait_until_compiled()
        torch.testing.assert_close(fast(x), model(x), **CLOSE)
        model.get_submodule("norm1").bias = torch.nn.Parameter(torch.randn(12))


@torch.no_grad()
def test_models_that_share_code_keep_their_weights_when_threads_call_them(
    compilations: list[object],
) -> None:
    models = [layer() for _ in range(3)]
    fast = [compiled(model, {}) for model in models]
    x = text(6)
    expected = [model(x) for model in models]

    def call(number: int) -> None:
        with torch.no_grad():
            which = number % len(models)
            torch.testing.assert_close(fast[which](x), expected[which], **CLOSE)

    for number in range(len(models)):
        call(number)
    assert len(compilations) == 1
    interval = sys.getswitchinterval()
    try:
        sys.setswitchinterval(1e-5)  # threads take turns in the middle of everything
        with ThreadPoolExecutor(6) as threads:
            assert len(list(threads.map(call, range(1200)))) == 1200
    finally:
        sys.setswitchinterval(interval)


@torch.no_grad()
def test_what_cannot_be_compiled_stays_with_pytorch_and_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def unsupported(x: torch.Tensor) -> torch.Tensor:
        return torch.special.bessel_j0(x) * x.shape[1]

    fast = compiled(unsupported)

    with caplog.at_level(logging.WARNING, "gawee_dialect"):
        for length in (*LENGTHS, *LENGTHS):
            x = text(length)
            torch.testing.assert_close(fast(x), unsupported(x), **CLOSE)
            assert wait_until_compiled()

    (record,) = caplog.records
    assert "a graph stays with PyTorch" in record.message
    assert "unsupported op 'aten.special_bessel_j0" in record.message
    assert "test_background.py:" in record.message


@torch.no_grad()
def test_a_bug_of_ours_stops_nobody(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(dynamo, "import_ir", fails)
    model = layer()
    fast, x = compiled(model), text(6)

    with caplog.at_level(logging.WARNING, "gawee_dialect"):
        for _ in range(3):
            torch.testing.assert_close(fast(x), model(x), **CLOSE)
            assert wait_until_compiled()

    (record,) = caplog.records
    assert record.exc_info is not None


@torch.no_grad()
def test_one_code_for_all_batches_is_made_in_the_background(
    compilations: list[object], native_runs: list[object]
) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(12, 7), torch.nn.ReLU()).eval()
    fast = compiled(model)

    for batch in (2, 5, 3):
        x = torch.randn(batch, 12)
        torch.testing.assert_close(fast(x), model(x), **CLOSE)
        assert wait_until_compiled()

    assert len(compilations) == 1
    assert len(native_runs) == 2


@torch.no_grad()
def test_what_mixes_images_is_native_for_each_batch(native_runs: list[object]) -> None:
    def centered(x: torch.Tensor) -> torch.Tensor:
        return x - x.mean(0)

    fast = compiled(centered)

    for batch in (2, 3, 5):
        x = torch.randn(batch, 4)
        for _ in range(2):
            torch.testing.assert_close(fast(x), centered(x), **CLOSE)
            assert wait_until_compiled()

    assert len(native_runs) == 3


@torch.no_grad()
def test_waiting_ends_in_time() -> None:
    assert wait_until_compiled()
    model = layer()
    fast, x = compiled(model), text(8)
    fast(x)

    assert not wait_until_compiled(timeout=0)
    assert wait_until_compiled(timeout=600)


EXIT = """
import torch
model = torch.nn.TransformerEncoderLayer(24, 3, 60, batch_first=True).eval()
fast = torch.compile(model, backend="gawee", dynamic=True, options={"background": True})
with torch.no_grad():
    for length in (7, 5):
        x = torch.randn(1, length, 24)
        torch.testing.assert_close(fast(x), model(x))
print("done")
"""


def test_the_interpreter_ends_while_code_is_made(tmp_path: object) -> None:
    ended = subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", EXIT], capture_output=True, text=True
    )

    assert (ended.stdout, ended.stderr, ended.returncode) == ("done\n", "", 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backgruond": True}, "unknown option 'backgruond' of backend 'gawee'; expected: backgr"),
        ({"background": 1}, "expected option 'background' to be True or False, got 1"),
    ],
)
def test_other_options_are_refused_where_the_model_is_called(
    options: dict[str, str | int | bool], message: str
) -> None:
    with torch.no_grad(), pytest.raises(Exception, match=message) as raised:
        compiled(layer(), options)(text(5))

    assert f"{__file__}:" in str(raised.value)
    assert ("did you mean 'background'?" in str(raised.value)) == ("backgruond" in options)
