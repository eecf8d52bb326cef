"""MLIR text: what is printed can be read again, whatever users call their things."""

import pytest

from gawee_dialect.frontends.mlir_text import parse_mlir, print_mlir
from gawee_dialect.universe import make_context
from tests.frontends.graphs import data, graph, node, parse, value


@pytest.mark.parametrize(
    "name", ["größe", 'a"b', "a\\b", "a\nb\tc", "0", "층.0", "<built-in f>", " "]
)
def test_names_survive_printing_and_parsing(name: str):
    nodes = [node("MatMul", ["x"], name, name=name, weight=data((3, 3), f"{ord(name[0])}.bin"))]
    module = parse(graph(nodes, [value("x", (2, 3)), value(name, (2, 3))]))

    text = print_mlir(module, locations=True)

    assert print_mlir(parse_mlir(make_context(), text, "x"), locations=True) == text
