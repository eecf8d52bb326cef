"""The three networks: .onnx files of a package, each compiled for the sizes that it gets."""

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from zipfile import ZipFile

import numpy as np
import onnx
from numpy.typing import NDArray

import gawee_dialect

FOLDER = Path(__file__).resolve().parent.parent.parent / "build" / "ocr"
PACKAGE = "rapidocr-onnxruntime==1.4.4"
DETECTION = "ch_PP-OCRv4_det_infer.onnx"
ORIENTATION = "ch_ppocr_mobile_v2.0_cls_infer.onnx"
RECOGNITION = "ch_PP-OCRv4_rec_infer.onnx"

Array = NDArray[np.float32]
Network = Callable[[Array], Array]
"""From the input of a network, of any size that it takes, to its output."""


def installed_folder() -> Path | None:
    """Return where the package is installed that has the models; it is not imported."""
    package = find_spec("rapidocr_onnxruntime")
    places = package.submodule_search_locations if package else None
    return Path(places[0]) / "models" if places else None


def model_file(name: str) -> Path:
    """Return the path of a model; download the package that has all three once."""
    path = (installed_folder() or FOLDER) / name
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        options = ("--quiet", "--disable-pip-version-check", "--no-deps", "--dest", str(FOLDER))
        subprocess.run([sys.executable, "-m", "pip", "download", *options, PACKAGE], check=True)
        with ZipFile(next(FOLDER.glob("rapidocr_onnxruntime*.whl"))) as wheel:
            for member in wheel.namelist():
                if member.endswith(".onnx"):
                    (FOLDER / Path(member).name).write_bytes(wheel.read(member))
    return path


def characters() -> str:
    """Return the characters that the recognition network tells apart, by class."""
    model = onnx.load(str(model_file(RECOGNITION)), load_external_data=False)
    lines = next(each.value for each in model.metadata_props if each.key == "character")
    return lines.replace("\n", "") + " "


def compiled(name: str) -> Network:
    """Return a network that is compiled when it gets an input of a size for the first time."""

    @cache
    def of_shape(shape: tuple[int, ...]) -> Callable[[Array], Array]:
        start = perf_counter()
        network = gawee_dialect.load(model_file(name), shapes={"x": shape}).compile()
        sizes = "x".join(map(str, shape))
        print(f"{name} for {sizes}: ready in {perf_counter() - start:.1f} s", file=sys.stderr)
        return network

    return lambda x: of_shape(x.shape)(x)


def of_onnx_runtime(name: str) -> Network:
    """Return a network that ONNX Runtime runs, on one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        str(model_file(name)), options, providers=["CPUExecutionProvider"]
    )
    return lambda x: session.run(None, {"x": x})[0]
