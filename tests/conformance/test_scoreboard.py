"""What is sent to the scoreboard of ONNX backends, called as its test calls it."""

from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

pytest.importorskip("onnx", minversion="1.22")

FOLDER = Path(__file__).parent / "scoreboard"


def test_the_backend_passes_cases_of_each_kind() -> None:
    spec = spec_from_file_location("gawee_backend", FOLDER / "backend.py")
    assert spec is not None
    assert spec.loader is not None
    backend = module_from_spec(spec)
    spec.loader.exec_module(backend)

    runner = import_module("onnx.backend.test.runner").Runner(backend, __name__)
    names = ["test_add_cpu", "test_expand_shape_model1_cpu", "test_string_concat_cpu"]
    ran = [
        item.func(None)
        for items in runner._test_items.values()
        for name, item in items.items()
        if name in names
    ]

    assert len(ran) == len(names)
    assert backend.supports_device("CPU")
    assert not backend.supports_device("CUDA")


def test_the_image_installs_what_the_backend_needs() -> None:
    text = (FOLDER / "Dockerfile").read_text()

    assert 'ENV ONNX_BACKEND="gawee_backend"' in text
    assert "COPY ./backends/gawee/backend.py /root/gawee_backend.py" in text
    assert "gawee-dialect[onnx,image]" in text
