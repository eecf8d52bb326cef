"""Described ops whose meaning is a Python function that a file registers."""

from collections.abc import Callable, Generator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.interpreter.functions import RunError
from gawee_dialect.model import load
from gawee_dialect.opdesc.described_op import (
    meanings_undone,
    register_meaning,
    registered_meanings,
)
from gawee_dialect.opdesc.load import loaded_operators
from gawee_dialect.tools.gawee_run import main
from tests.opdesc.descriptions import number, operator, output, tensor, text

pytest.importorskip("pycparser")

Floats = NDArray[np.float32]

GRAPH = """func.func @main(%x: tensor<5xf32> {gawee.input = "x"}) -> (tensor<5xf32> {gawee.output = "y"}, tensor<1xf32> {gawee.output = "z"}) {
  %a = gawee.add %x, %x : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %y, %z = lightnet.pick %a, %x above 3 : (tensor<5xf32>, tensor<5xf32>) -> (tensor<5xf32>, tensor<1xf32>)
  func.return %y, %z : tensor<5xf32>, tensor<1xf32>
}
"""
PICK = operator(
    "pick",
    tensors_in=[tensor("a"), tensor("b")],
    tensors_out=[
        output("kept", ndim="a->ndim", dims="a->dims", dtype="a->dtype"),
        output("count", ndim=1, dims=[1], dtype="a->dtype"),
    ],
    params=[number("above", "double")],
)
X = np.array([3, 1, 4, 1, 5], np.float32)


def pick(a: Floats, b: Floats, *, above: float) -> tuple[Floats, Floats]:
    kept = np.where(a > above, b, 0).astype(a.dtype)
    return kept, np.array([(a > above).sum()], a.dtype)


@pytest.fixture(autouse=True)
def nothing_stays_registered() -> Generator[None]:
    with meanings_undone():
        yield
    assert not registered_meanings()


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "ops.json").write_text(text(PICK))
    (tmp_path / "in.mlir").write_text(GRAPH)
    return str(tmp_path / "ops.json"), str(tmp_path / "in.mlir")


def test_a_function_takes_inputs_in_order_and_params_by_name(files: tuple[str, str]) -> None:
    ops, graph = files
    assert register_meaning("lightnet.pick")(pick) is pick

    with loaded_operators([ops]):
        results = load(graph).run({"x": X})

    assert results["y"].tolist() == [3, 0, 4, 0, 5]
    assert results["z"].tolist() == [3]


def one_result(a: Floats, b: Floats, *, above: float) -> Floats:
    return a


def another_shape(a: Floats, b: Floats, *, above: float) -> tuple[Floats, Floats]:
    return a, a


def another_dtype(a: Floats, b: Floats, *, above: float) -> list[NDArray[np.generic]]:
    return [a.astype(np.float64), a[:1]]


def writes(a: Floats, b: Floats, *, above: float) -> tuple[Floats, Floats]:
    a[0] = 0
    return a, a[:1]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (one_result, "expected its Python function to return 2 arrays, got 1"),
        (another_shape, "return result #1 as 1 of float32, got 5 of float32"),
        (another_dtype, "return result #0 as 5 of float32, got 5 of float64"),
        (writes, "'lightnet.pick' op writes its input 'x'"),
    ],
)
def test_a_function_that_breaks_its_contract_is_refused_at_its_op(
    files: tuple[str, str], function: Callable[..., Floats], message: str
) -> None:
    ops, graph = files
    register_meaning("lightnet.pick")(function)

    with loaded_operators([ops]), pytest.raises(RunError) as raised:
        load(graph).run({"x": X})

    assert str(raised.value).startswith(f"{graph}:3:3: error: 'lightnet.pick' op ")
    assert message in str(raised.value)


def test_native_code_is_refused_with_what_to_do(files: tuple[str, str]) -> None:
    ops, graph = files
    register_meaning("lightnet.pick")(pick)

    with loaded_operators([ops]), pytest.raises(GaweeError) as raised:
        load(graph).compile()

    assert str(raised.value) == (
        f"{graph}:3:3: error: 'lightnet.pick' op cannot be removed by lower-to-linalg: "
        "its meaning is a Python function, which runs in the interpreter alone; "
        "a 'body', 'mlir' or 'run' in its description is compiled"
    )


def test_a_name_of_no_op_is_refused() -> None:
    for name in ("pick", "light.net.pick", "lightnet."):
        with pytest.raises(GaweeError, match="expected a meaning to be that of an op"):
            register_meaning(name)


FILE = """
import numpy as np
from gawee_dialect.opdesc.described_op import register_meaning

@register_meaning("lightnet.pick")
def pick(a, b, *, above):
    return np.maximum(a, b), a[:1]
"""


def test_load_takes_a_file_for_the_time_of_a_command(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ops, graph = files
    (tmp_path / "meanings.py").write_text(FILE)
    command = ["--load-ops", ops, "--level", "gawee", graph]

    assert main(["--load", str(tmp_path / "meanings.py"), *command]) == 0
    assert "y" in capsys.readouterr().out
    assert main(command) == 1
    assert "expected an operator with a meaning in gawee ops" in capsys.readouterr().err


def test_an_exception_of_a_function_is_located_in_its_file(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ops, graph = files
    path = tmp_path / "meanings.py"
    path.write_text(FILE.replace("np.maximum(a, b)", "np.maximum(a, c)"))

    assert main(["--load", str(path), "--load-ops", ops, "--level", "gawee", graph]) == 1

    assert capsys.readouterr().err.startswith(f"{path}:7:")


def test_ops_that_nobody_lowered_are_refused(files: tuple[str, str]) -> None:
    from gawee_dialect.frontends.mlir_text import parse_mlir
    from gawee_dialect.model import Model
    from gawee_dialect.universe import make_context

    ops, graph = files
    with loaded_operators([ops]):
        module = parse_mlir(make_context(), GRAPH, graph)

    with pytest.raises(GaweeError, match="expected ops of the core set, which lower-opdesc makes"):
        Model(module).compile()
