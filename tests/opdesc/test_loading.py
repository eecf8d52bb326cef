"""Files of descriptions as dialects: in Python, and on command lines."""

from pathlib import Path

import pytest
from xdsl.dialects.builtin import TensorType, f32
from xdsl.utils.test_value import create_ssa_value

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.opdesc.described_op import DescribedOp
from gawee_dialect.opdesc.description import CheckFailure
from gawee_dialect.opdesc.load import load_operator_descriptions, loaded_operators
from gawee_dialect.tools.gawee_opt import main
from gawee_dialect.universe import all_dialects
from tests.opdesc.descriptions import number, operator, text

pytest.importorskip("pycparser")


def described(folder: Path, name: str, content: str) -> str:
    (folder / name).write_text(content)
    return str(folder / name)


def test_a_file_is_a_dialect_of_op_classes(tmp_path: Path) -> None:
    path = described(tmp_path, "ops.json", text(operator("probe", params=[number("n", gt=0)])))

    dialect = load_operator_descriptions(path)

    (probe,) = dialect.operations
    assert issubclass(probe, DescribedOp)
    assert (dialect.name, probe.name) == ("lightnet", "lightnet.probe")
    op = probe.make([create_ssa_value(TensorType(f32, [2, 3]))], {"n": 1})
    assert op.results[0].type == TensorType(f32, [2, 3])
    op.verify()
    with pytest.raises(CheckFailure, match="expected param 'n' > 0, got 0"):
        probe.make([create_ssa_value(TensorType(f32, [2, 3]))], {"n": 0})


def test_ops_of_a_file_take_the_place_of_shipped_ones(tmp_path: Path) -> None:
    path = described(tmp_path, "ops.json", text(operator("relu", params=[number("n")])))
    shipped = {op.name for op in all_dialects()["lightnet"]().operations}

    with loaded_operators([path]):
        ops = {op.name: op for op in all_dialects()["lightnet"]().operations}

    assert set(ops) == shipped
    assert len(shipped) == 38
    assert "a test" in (ops["lightnet.relu"].__doc__ or "")


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("probe", "probe", "expected operators to differ, got 'lightnet.probe' twice"),
        ("probe", "", "cannot load operators: there is a dialect 'gawee' already"),
    ],
)
def test_ops_that_clash_are_refused(tmp_path: Path, first: str, second: str, message: str) -> None:
    paths = [described(tmp_path, "a.json", text(operator(first)))]
    other = text(operator(second)) if second else '{"dialect": "gawee", "ops": []}'
    paths.append(described(tmp_path, "b.json", other))

    with pytest.raises(GaweeError, match=message), loaded_operators(paths):
        pass


def test_a_wrong_file_is_an_error_of_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = described(tmp_path, "ops.json", text(operator("probe", arch="gpu")))

    assert main(["--load-ops", path, "--list-passes"]) == 1

    assert capsys.readouterr().err.startswith(
        f"{path}:6:12: error: operator 'probe': unknown arch 'gpu'"
    )
