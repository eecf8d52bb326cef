"""Which format a source is in, by its content."""

import json

import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.formats import sniff
from gawee_dialect.frontends.gawee_json.ops import READERS
from gawee_dialect.frontends.gawee_json.schema import op_types
from gawee_dialect.source import Source
from tests.frontends.graphs import one_node
from tests.frontends.xoc.documents import EXAMPLE


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (json.dumps(one_node("Relu", (2, 3), (2, 3))), "gawee-json"),
        (json.dumps(EXAMPLE), "xoc"),
        (json.dumps({"graph": {**EXAMPLE, "nodes": [], "operators": []}}), "xoc"),
        ("builtin.module {\n}", "mlir"),
        ("// a comment\nfunc.func @main() {\n  func.return\n}", "mlir"),
        ('"builtin.module"() ({\n}) : () -> ()', "mlir"),
        ("  llvm.func @f()", "mlir"),
        ("#map = affine_map<(d0) -> (d0)>\nmodule {}", "mlir"),
    ],
)
def test_formats_are_told_apart_by_content(text: str, name: str):
    assert sniff(Source.of_text(text, "x")).name == name


@pytest.mark.parametrize(
    ("start", "text", "name"),
    [
        ("\n" * 1000, "module {}", "mlir"),
        ("// " * 1000 + "\n", "module {}", "mlir"),
        ("\n" * 1000, "conv(a | b | c)", "invocations"),
        ("// " * 1000 + "\n", "conv(a | b | c)", "invocations"),
        ("/* */ " * 1000, "conv(a | b | c)", "invocations"),
    ],
    ids=lambda text: text.strip()[:5],
)
def test_comments_and_blanks_in_front_are_passed_over_at_once(start: str, text: str, name: str):
    # Text in which the format was sought in every way to divide it would never be told.
    assert sniff(Source.of_text(start + text, "x")).name == name


def test_an_unknown_format_is_refused_with_the_known_ones():
    with pytest.raises(
        GaweeError,
        match="cannot recognise the format of 'x'; supported: npu-ir, xoc, gawee-json, onnx, invocations, mlir",
    ):
        sniff(Source("x", b"\x08\x01"))


def test_every_op_type_of_the_schema_has_a_reader():
    assert set(op_types()) == set(READERS)
