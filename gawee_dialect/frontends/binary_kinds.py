"""What a binary file is that is no graph: people give the weights, or another framework's model."""

import re

from gawee_dialect.source import Source

WEIGHTS = "it holds weights and no graph: --weights takes it, beside a graph"
LIVE = (
    "gawee-translate torch MODULE:FACTORY reads a model by the Python code that makes it; of "
    "weights alone, --weights takes the file"
)
EXPORT = "export the model as ONNX first"

MAGIC = (
    (b"\x80\x02", "a pickle, as older versions of PyTorch write", LIVE),
    (b"\x89HDF\r\n", "an HDF5 file, as Keras writes", EXPORT),
    (b"GGUF", "a GGUF file", EXPORT),
    (b"ML\xefR", "MLIR bytecode", "mlir-opt turns it into text"),
    (b"BC\xc0\xde", "LLVM bitcode", "no graph can be read from it"),
    (b"\x7fELF", "a program or a library", "no graph can be read from it"),
    (b"\x93NUMPY", "a NumPy array", "--input takes it, beside a graph"),
    (b"\x89PNG", "a picture", "--input takes it, beside a graph"),
    (b"\xff\xd8\xff", "a picture", "--input takes it, beside a graph"),
    (b"\xff\xfe", "a text in UTF-16", "save it as UTF-8"),
    (b"\xfe\xff", "a text in UTF-16", "save it as UTF-8"),
    (b"\x1f\x8b", "a gzip archive", "unpack it first"),
)
"""How files begin, what they are, and what to do."""

_SAFETENSORS = re.compile(rb'.{8}\s*\{\s*"', re.DOTALL)
_ZIP = b"PK\x03\x04"


def _zip(data: bytes) -> tuple[str, str]:
    if re.search(rb"data\.pkl|constants\.pkl|archive_format|/version", data):
        return "a file of PyTorch (a zip archive)", LIVE
    if b".npy" in data:
        return "NumPy's .npz (a zip archive)", WEIGHTS + "; --inputs too"
    return "a zip archive", "unpack it first"


def _safetensors(data: bytes) -> bool:
    return _SAFETENSORS.match(data) is not None and data[6:8] == b"\0\0"


def binary_kind(source: Source) -> tuple[str, str] | None:
    """Return what a binary source looks like, and a hint; None where nobody knows it."""
    data = source.data
    if data.startswith(_ZIP):
        return _zip(data)
    if _safetensors(data):
        return "a .safetensors file", WEIGHTS
    if data[4:8] == b"TFL3":
        return "a TensorFlow Lite model", EXPORT
    for magic, what, hint in MAGIC:
        if data.startswith(magic):
            return what, hint
    if source.path is not None and source.path.suffix == ".onnx":
        return (
            "no ONNX model, whatever its name says",
            "it may be cut off, or a pointer to the file",
        )
    return None
