"""Published networks compute natively what they compute in PyTorch: `pytest -m zoo` for all of them."""

from functools import partial
from importlib.util import find_spec
from math import nan

import pytest

pytest.importorskip("torch")

import torch

from benchmarks.zoo.__main__ import run_zoo
from benchmarks.zoo.check import Result, check, own_error, rounding_error, tensors
from benchmarks.zoo.networks import zoo
from benchmarks.zoo.open_sizes import check as check_open_sizes
from benchmarks.zoo.table import page

ZOO = zoo()
TIMEOUT = 1200

SMALL = ("squeezenet1_1", "lcnet_050", "mixer_s32_224", "bert", "gpt2", "llama", "t5_encoder")
"""The networks of every test run: convolutions, attention, masks and rotations."""


def checked(name: str) -> Result:
    """Check a network in a process of its own."""
    if find_spec(ZOO[name].library) is None:
        pytest.skip(f"{ZOO[name].library} is not installed")
    check_alone = partial(check, measure=False)
    (result,) = run_zoo([ZOO[name]], jobs=1, timeout=TIMEOUT, check=check_alone, failed=Result)
    return result


@pytest.mark.parametrize("name", SMALL)
def test_small_networks_compute_natively_what_they_compute_in_pytorch(name: str) -> None:
    result = checked(name)

    assert result.verdict == "passed", f"{result.stage}: {result.reason}"


def test_a_network_computes_what_it_does_in_pytorch_at_all_batches_and_extents_by_one_code() -> (
    None
):
    if find_spec("torchvision") is None:
        pytest.skip("torchvision is not installed")

    found = check_open_sizes(ZOO["squeezenet1_1"])

    assert found.agrees, found.failure
    assert found.sizes == ("batch", "side")
    assert len(found.points) == 5


def test_a_network_that_enlarges_rounding_does_so_though_one_rounding_is_exact_by_chance() -> None:
    class Cancelling(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x - 1

    x = torch.tensor([1.0, 1 + 2**-20])  # a last bit is 2 ** -23

    assert own_error(Cancelling(), (x,), tensors(Cancelling()(x))) == 0
    assert rounding_error(Cancelling(), (x,)) == 1 / 8


@pytest.mark.zoo
@pytest.mark.parametrize("name", ZOO)
def test_networks_compute_natively_what_they_compute_in_pytorch(name: str) -> None:
    result = checked(name)

    assert result.verdict == "passed", f"{result.stage}: {result.reason}"


def test_the_zoo_is_large_and_of_three_libraries() -> None:
    libraries = [each.library for each in ZOO.values()]

    assert len(ZOO) >= 80
    assert all(libraries.count(each) > 20 for each in ("torchvision", "timm", "transformers"))


def test_the_page_compares_with_the_fastest_engine_that_ran() -> None:
    peers = {"onnxruntime": 3.0, "inductor": nan}
    result = Result("lcnet", "timm", "time", ms=2.0, eager_ms=8.0, peers_ms=peers)

    text = page([result])

    assert "native code is ahead in 1 of 1 networks" in text
    assert "| 2 | 8 | 3 | - | 1.50 |" in text
