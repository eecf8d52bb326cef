"""Operators that are described in MLIR: what they compute, and what is said where a text is wrong."""

from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.model import load
from gawee_dialect.opdesc.load import loaded_operators
from gawee_dialect.tools.gawee_opt import main
from tests.opdesc.descriptions import Json, array, number, operator, output, string, tensor, text

pytest.importorskip("pycparser")

USE = """func.func @main(%x: tensor<2x3xf32> {gawee.input = "x"}) -> (tensor<2x3xf32> {gawee.output = "y"}) {
  %y = lightnet.probe %x PARAMS : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}
"""


def files(folder: Path, described: dict[str, Json], params: str = "") -> tuple[str, str]:
    """Write a description and a graph that uses it."""
    (folder / "ops.json").write_text(text(described))
    (folder / "in.mlir").write_text(USE.replace("PARAMS", params))
    return str(folder / "ops.json"), str(folder / "in.mlir")


@pytest.mark.parametrize("level", ["gawee", "llvm"])
def test_an_op_computes_what_its_function_does(tmp_path: Path, level: str) -> None:
    function = """
      func.func @probe(%x: ${src}) -> ${dst} {
        %s, %i = gawee.sort %x axis ${axis} descending ${down} : (${src}) -> (${src}, tensor<2x${ src->dims[1] }xi64>)
        %p = gawee.transpose %s permutation ${order} : (${src}) -> tensor<${src->dims[1]}x2x${src->dtype}>
        %y = gawee.reshape %p shape [2, 3] : (tensor<3x2xf32>) -> ${dst}
        func.return %y : ${dst}
      }
    """
    flag: dict[str, Json] = {"arg_name": "down", "ptype": "LN_PARAM_BOOL"}
    described = operator(params=[number("axis"), flag, array("order")], mlir=function)
    ops, graph = files(tmp_path, described, "axis 1 down true order [1, 0]")
    x = np.array([[1, 7, 3], [6, 2, 5]], np.float32)

    with loaded_operators([ops]):
        result = load(graph).run({"x": x}, level)

    expected = np.sort(x, axis=1)[:, ::-1].T.reshape(2, 3)
    assert np.array_equal(result["y"], expected)  # elements are moved, nothing is computed


RELU = "func.func @f(%x: ${src}) -> ${dst} {\n %y = gawee.relu %x : (${src}) -> ${dst}\n func.return %y : ${dst}\n}"


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("%x: ${src}", "%x: tensor<3xf32>", "operand is used with type tensor<2x3xf32>, but"),
        ("-> ${dst} {", "-> tensor<3xf32> {", "'func.return' op "),
        ("gawee.relu", "gawee.relo", "'gawee.relo' op is not registered\nhint: did you mean"),
        (
            "${dst}",
            "tensor<${dst->dims[2]}xf32>",
            "expected 'dst' of more than 2 dimensions, got 2",
        ),
        ("gawee.relu", "lightnet.relu", "expected core ops, got 'lightnet.relu'"),
        ("\n}", "\n}\nfunc.func private @g()", "expected one function and nothing else"),
        ("func.func @f", "func.func private @g() func.func @f", "expected one function and"),
        (RELU, "func.func private @f(${src}) -> ${dst}", "expected a function of one block, got 0"),
        (
            RELU,
            "func.func @f(%x: ${src}, %z: ${dst}) -> ${dst} { func.return %x : ${dst} }",
            "expected a function of inputs (tensor<2x3xf32>), as in its use, "
            "got (tensor<2x3xf32>, tensor<2x3xf32>)",
        ),
        (
            RELU,
            "func.func @f(%x: ${src}) { func.return }",
            "expected a function of outputs (tensor<2x3xf32>), as in its use, got (none)",
        ),
    ],
)
def test_a_text_that_does_not_fit_its_use_is_located(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], before: str, after: str, message: str
) -> None:
    assert before in RELU
    ops, graph = files(tmp_path, operator(mlir=RELU.replace(before, after, 1)))

    assert main(["--load-ops", ops, graph, "--lower-opdesc"]) == 1

    err = capsys.readouterr().err
    assert err.startswith(f"{ops}:")
    assert f"error: operator 'probe', 'mlir': {message}" in err
    assert err.endswith(f" used at {graph}:2:3\n")


def test_an_error_is_at_its_place_in_a_raw_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = RELU.replace("relu %x : (${src})", "relu %x : (${dst}, ${src})")
    ops, graph = files(tmp_path, operator(mlir="HERE"))
    raw = Path(ops).read_text().replace('"HERE"', f"'''\n{wrong}\n'''")
    Path(ops).write_text(raw)
    line = raw[: raw.index("%y = gawee")].count("\n") + 1

    assert main(["--load-ops", ops, graph, "--lower-opdesc"]) == 1

    assert capsys.readouterr().err.startswith(f"{ops}:{line}:")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"mlir": "${axes}"}, "expected '${...}' to name an argument or a field of a tensor, got 'axes'"),
        ({"mlir": "${axis->dims[0]}"}, "to name an argument or a field of a tensor, got 'axis->dims"),
        ({"mlir": "${src->size}"}, "to name an argument or a field of a tensor, got 'src->size'"),
        ({"mlir": RELU, "body": "dst[i] = src[i]"}, "expected no 'mlir' beside a 'body'"),
    ],
)  # fmt: skip
def test_what_a_text_cannot_ask_for_is_said_when_it_is_read(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    fields: dict[str, Json],
    message: str,
) -> None:
    described = operator(params=[number("axis")]) | fields
    ops, graph = files(tmp_path, described, "axis 1")

    assert main(["--load-ops", ops, graph]) == 1

    assert message in capsys.readouterr().err


def test_every_field_and_kind_of_parameter_has_a_spelling(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fields = "ndim = ${src->ndim} : i64, len = ${src->len} : i64, dtype = ${src->dtype}"
    values = "small = ${small} : f64, word = ${word}"
    function = RELU.replace("%x :", "%x {" + f"{fields}, {values}" + "} :")
    described = operator(
        tensors_in=[tensor()],
        tensors_out=[output()],
        params=[number("small", "double"), string("word")],
        mlir=function,
    )
    ops, graph = files(tmp_path, described, 'small 1.0e-07 word "a\\"b"')

    assert main(["--load-ops", ops, graph, "--lower-opdesc"]) == 0

    said = capsys.readouterr().out
    assert "dtype = f32" in said
    for each in ("ndim = 2", "len = 6", 'word = "a\\22b"'):
        assert each in said
    assert "1.0e-07" in said or "1.000000e-07" in said


def test_mlir_goes_before_c(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ops, graph = files(tmp_path, operator(mlir=RELU, run="this is not compiled"))

    assert main(["--load-ops", ops, graph, "--lower-opdesc"]) == 0

    assert "%y = gawee.relu %x" in capsys.readouterr().out
