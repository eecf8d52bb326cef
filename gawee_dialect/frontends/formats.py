"""The formats that graphs come in: name, how to recognise a source, how to open it.

A new format is one class here, and its line of FRONTENDS.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.frontends.coverage import OpSupport
from gawee_dialect.frontends.graph import Graph, ReadOptions
from gawee_dialect.source import ONNX_START, Source

# What a binary file is that is no graph: people give the weights, or another framework's model.

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

_BLANK = re.compile(rb"\s*")
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
    """Return what a binary source looks like, and a hint; None where it is unknown."""
    data = bytes(source.data)
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


class Frontend(ABC):
    """One format; its reader is imported when a source of it is opened."""

    name: ClassVar[str]

    @abstractmethod
    def accepts(self, source: Source) -> bool:
        """Whether a source is of this format, by its content."""

    @abstractmethod
    def open(self, source: Source, options: ReadOptions) -> Graph:
        """Decode a source; raises GaweeError for one that is no graph of this format."""

    def op_support(self) -> Sequence[OpSupport]:
        """Return the registry of ops, none for a format that has those of the dialect itself."""
        return ()


_MAY_BEGIN_OBJECT = re.compile(rb"(?:\xef\xbb\xbf)?[\t-\r\x1c- ]*[{\x80-\xff]")
"""A brace, or the first byte of what may be a space of Unicode."""


def _begins_json_object(source: Source) -> bool:
    # The weights of a binary file are not decoded for that.
    if _MAY_BEGIN_OBJECT.match(source.data) is None:
        return False
    return source.is_text and source.text.lstrip().startswith("{")


class GaweeJson(Frontend):
    """The format of `gawee_graph.schema.json`."""

    name = "gawee-json"

    def accepts(self, source: Source) -> bool:
        return _begins_json_object(source) and '"nodes"' in source.text

    def open(self, source: Source, options: ReadOptions) -> Graph:
        from gawee_dialect.frontends.gawee_json import GaweeJsonGraph

        return GaweeJsonGraph(source, options.folder)

    def op_support(self) -> Sequence[OpSupport]:
        from gawee_dialect.frontends.gawee_json.build import op_support

        return op_support()


class NpuIr(Frontend):
    """The weight-free graph of a PyTorch model."""

    name = "npu-ir"

    # A value of a Gawee graph may have this name, but is never a list.
    _KEY = re.compile(r'"graph_inputs"\s*:\s*\[')

    def accepts(self, source: Source) -> bool:
        return _begins_json_object(source) and self._KEY.search(source.text) is not None

    def open(self, source: Source, options: ReadOptions) -> Graph:
        from gawee_dialect.frontends.npu_ir.npu_ir_graph import NpuIrGraph

        return NpuIrGraph(source)

    def op_support(self) -> Sequence[OpSupport]:
        from gawee_dialect.frontends.npu_ir.aten.registry import ATEN
        from gawee_dialect.frontends.op_mapping.coverage import op_support

        return op_support(ATEN)


class Xoc(Frontend):
    """Graphs of ONNX's operators as JSON, without weights; their ops are those of `Onnx`."""

    name = "xoc"

    # Invocations have `tensors_in`, weights an object of tensors, and no other graph a list.
    _KEY = re.compile(r'"tensors"\s*:\s*\[')
    _NODES = re.compile(r'"(nodes|operators)"\s*:\s*\[')

    def accepts(self, source: Source) -> bool:
        if not _begins_json_object(source):
            return False
        return all(key.search(source.text) for key in (self._KEY, self._NODES))

    def open(self, source: Source, options: ReadOptions) -> Graph:
        from gawee_dialect.frontends.xoc.xoc_graph import XocGraph

        return XocGraph(source)


class Onnx(Frontend):
    """ONNX models."""

    name = "onnx"

    def accepts(self, source: Source) -> bool:
        named = source.path is not None and source.path.suffix == ".onnx"
        # What else is wrong is reported by the reader.
        binary = source.data[:1] == ONNX_START and len(source.data) > 8
        return binary and (named or source.data.find(b"\x3a") >= 0)

    def open(self, source: Source, options: ReadOptions) -> Graph:
        from gawee_dialect.frontends.onnx.onnx_graph import OnnxModelGraph

        return OnnxModelGraph(source, options)

    def op_support(self) -> Sequence[OpSupport]:
        from gawee_dialect.frontends.onnx.registry import ONNX
        from gawee_dialect.frontends.op_mapping.coverage import op_support

        return op_support(ONNX)


class Mlir(Frontend):
    """MLIR text, at any level."""

    name = "mlir"

    # A comment, an alias, a generic op, `%x =`, or the name of an op: `module`, `func.func`.
    _START = re.compile(r"\s*(//|[#!%\"]|module\b|\w+\.\w+)")

    def accepts(self, source: Source) -> bool:
        return source.is_text and self._START.match(source.text) is not None

    def open(self, source: Source, options: ReadOptions) -> Graph:
        from gawee_dialect.frontends.mlir_graph import MlirGraph

        return MlirGraph(source, options)


class Invocations(Frontend):
    """Invocations of described operators, in JSON or as text."""

    name = "invocations"

    # A description has an author, and an invocation a name.
    _KEY = re.compile(r'"(optype|tensors_in)"\s*:')
    # What is passed over stays so: there are exponentially many ways to divide blanks and comments.
    _TEXT = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*+\w+\s*\([^|()]*\|[^|()]*\|", re.DOTALL)

    def accepts(self, source: Source) -> bool:
        if not source.is_text:
            return False
        if source.text.lstrip().startswith("{"):
            return self._KEY.search(source.text) is not None and '"author"' not in source.text
        return self._TEXT.match(source.text) is not None

    def open(self, source: Source, options: ReadOptions) -> Graph:
        from gawee_dialect.frontends.invocations import InvocationsGraph

        return InvocationsGraph(source)


FRONTENDS: dict[str, Frontend] = {
    # All kinds of JSON have nodes; the first two are found by what only they have.
    frontend.name: frontend
    for frontend in (NpuIr(), Xoc(), GaweeJson(), Onnx(), Invocations(), Mlir())
}


def sniff(source: Source) -> Frontend:
    """Return the format of a source; raises GaweeError where it is none of them."""
    if _BLANK.fullmatch(source.data) is not None:
        raise GaweeError(Diagnostic("expected a graph, got an empty file", f"{source.name}:1:1"))
    for frontend in FRONTENDS.values():
        if frontend.accepts(source):
            return frontend
    kind = binary_kind(source)
    if kind is not None:
        what, hint = kind
        raise GaweeError(Diagnostic(f"expected a graph, got {what}: '{source.name}'", hint=hint))
    if source.is_text and source.text.lstrip().startswith(("{", "[")):
        _check_json(source)
    unknown = f"cannot recognise the format of '{source.name}'; supported: {', '.join(FRONTENDS)}"
    hint = "--from names the format, and its reader then says what is wrong"
    if not source.is_text and source.data.find(b"\0") < 0:
        _ = source.text  # it is meant as text: say which byte is none
    raise GaweeError(Diagnostic(unknown, hint=hint))


def _check_json(source: Source) -> None:
    """Raise GaweeError for JSON that is wrong or cut off, and for what is no object."""
    from gawee_dialect.located_json import decode_json, value_text

    root = decode_json(source, non_finite=True)
    if not isinstance(root, dict):
        got = f"expected a graph to be an object, got {value_text(root)}"
        raise GaweeError(
            Diagnostic(got, source.place(len(source.text) - len(source.text.lstrip())))
        )


def open_graph(source: Source, options: ReadOptions | None = None, name: str = "auto") -> Graph:
    """Open a source in the format of a name, or in the one that it is in; raises GaweeError."""
    frontend = sniff(source) if name == "auto" else FRONTENDS[name]
    options = options or ReadOptions()
    graph = frontend.open(source, options)
    graph.check_names(options)
    return graph
