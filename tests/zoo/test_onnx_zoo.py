"""ONNX models compute natively what they compute in ONNX Runtime: `pytest -m zoo` for all."""

from importlib.util import find_spec

import pytest

pytest.importorskip("onnx", minversion="1.22")
pytest.importorskip("onnxruntime")
pytest.importorskip("torch")  # whose zoo is exported

from benchmarks.onnx_zoo.check import check
from benchmarks.onnx_zoo.light import NAMES
from benchmarks.onnx_zoo.models import onnx_zoo
from benchmarks.zoo.__main__ import run_zoo
from benchmarks.zoo.check import Result

ZOO = onnx_zoo()
TIMEOUT = 1200
SMALL = ("light_squeezenet", "light_shufflenet")
"""The models of every test run."""

NOT_EXPORTED = ("twins_svt_small", "beit_base_patch16_224", "t5_encoder", "mixtral")
"""Networks that `torch.onnx.export` makes no file of."""


def checked(name: str) -> Result:
    """Check a model in a process of its own."""
    library = ZOO[name].library
    if find_spec(library) is None or (library != "onnx" and find_spec("onnxscript") is None):
        pytest.skip(f"{library} and onnxscript are not installed")
    (result,) = run_zoo([ZOO[name]], jobs=1, timeout=TIMEOUT, check=check, failed=Result)
    return result


@pytest.mark.parametrize("name", SMALL)
def test_small_models_compute_natively_what_they_compute_in_onnx_runtime(name: str) -> None:
    result = checked(name)

    assert result.verdict == "passed", f"{result.stage}: {result.reason}"


@pytest.mark.zoo
@pytest.mark.parametrize("name", [name for name in ZOO if name not in NOT_EXPORTED])
def test_models_compute_natively_what_they_compute_in_onnx_runtime(name: str) -> None:
    result = checked(name)

    assert result.verdict == "passed", f"{result.stage}: {result.reason}"


def test_the_zoo_has_the_nine_architectures_and_what_pytorch_exports() -> None:
    assert len(NAMES) == 9
    assert len(ZOO) >= 120
