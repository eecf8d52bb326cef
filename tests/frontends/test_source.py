"""What a graph is read from, and how it says that it is no text, empty or cut off."""

import io
import json
import mmap
import sys
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.formats import open_graph, sniff
from gawee_dialect.located_json import decode_json
from gawee_dialect.model import load
from gawee_dialect.source import LARGE, Source
from tests.frontends.graphs import one_node
from tests.frontends.npu_ir.files import tiny

RELU = json.dumps(one_node("Relu", (2, 3), (2, 3)), indent=1)


def test_a_byte_order_mark_is_accepted_and_counts_for_no_column(tmp_path: Path):
    path = tmp_path / "g.json"
    path.write_text(RELU, encoding="utf-8-sig")
    source = Source.read(path)

    assert sniff(source).name == "gawee-json"
    assert source.text == RELU
    assert source.place(0) == f"{path}:1:1"
    assert "gawee.relu" in str(open_graph(source).module())


def test_bytes_that_are_no_text_are_refused_where_they_stand():
    source = Source("g.json", 'ü = "é'.encode() + b'\n{"a": "\xff"}')

    with pytest.raises(
        GaweeError, match=r"^g\.json:2:8: error: expected UTF-8 text, got byte 0xff$"
    ):
        sniff(source)


def test_text_that_ends_inside_a_character_is_cut_off():
    source = Source("g.json", '{"name": "é'.encode()[:-1])

    with pytest.raises(
        GaweeError,
        match=r"^g\.json:1:11: error: expected UTF-8 text, got the end of the file inside a "
        r"character\nhint: the file is cut off$",
    ):
        _ = source.text


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.95])
def test_json_that_ends_too_early_is_cut_off(keep: float):
    source = Source.of_text(RELU[: int(len(RELU) * keep)], "g.json")

    with pytest.raises(GaweeError, match=r"error: cannot read JSON: .*\nhint: the file is cut off"):
        decode_json(source)


def test_json_that_is_wrong_in_the_middle_is_not_cut_off():
    with pytest.raises(GaweeError, match="cannot read JSON: expecting") as raised:
        decode_json(Source.of_text('{"a": ,\n"b": 1}', "g.json"))

    assert raised.value.diagnostics[0].hint is None


@pytest.mark.parametrize("data", [b"", b" \n\t\n"])
def test_an_empty_file_is_no_graph(data: bytes):
    with pytest.raises(
        GaweeError, match=r"^g\.json:1:1: error: expected a graph, got an empty file$"
    ):
        sniff(Source("g.json", data))


def test_standard_input_is_a_source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RELU.encode())))
    monkeypatch.chdir(tmp_path)

    model = load("-")

    assert model.name == "model"
    assert "gawee.relu" in str(model.module)


def test_a_graph_is_decoded_once_whatever_it_is_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    calls: list[str] = []
    decode = json.JSONDecoder.decode

    def counted(self: json.JSONDecoder, text: str) -> object:
        calls.append(text)
        return decode(self, text)

    monkeypatch.setattr(json.JSONDecoder, "decode", counted)
    path = tmp_path / "tiny.json"
    path.write_text(json.dumps(tiny()))

    load(path, {})
    assert len(calls) == 1

    graph = open_graph(Source.read(path))
    assert graph.coverage().goes_through
    assert graph.view().nodes
    assert graph.module() is graph.module()
    assert len(calls) == 2


@pytest.mark.parametrize("content", [b"\x08\x0a", b"\x08 text ", b"\x08\xff:", b" \n", b"\x00"])
def test_a_large_file_is_refused_as_a_small_one_is(content: bytes, tmp_path: Path) -> None:
    problems: list[str] = []
    for repeats in (16, LARGE // len(content) + 1):
        path = tmp_path / "net.onnx"
        path.write_bytes(content * repeats)
        with pytest.raises(GaweeError) as raised:
            load(path)
        problems.append(str(raised.value))

    assert problems[0] == problems[1]


def test_a_large_model_is_read_where_it_is(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    weight = np.arange(2 * LARGE, dtype=np.float32).reshape(2, LARGE)
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Add", ["x", "w"], ["y"])],
        "net",
        [onnx.helper.make_tensor_value_info("x", 1, [2, 1])],
        [onnx.helper.make_tensor_value_info("y", 1, [2, LARGE])],
        [onnx.numpy_helper.from_array(weight, "w")],
    )
    path = tmp_path / "net.onnx"
    onnx.save(onnx.helper.make_model(graph, ir_version=8), path)

    source = Source.read(path)
    x = np.array([[1], [-2]], np.float32)
    y = load(path).run(x)["y"]

    assert isinstance(source.data, mmap.mmap)
    assert bytes(source.data) == path.read_bytes()
    np.testing.assert_array_equal(y, weight + x)
