"""IRDL of descriptions: stock mlir-opt takes and refuses what our verifier does, as far as types go."""

from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.utils.test_value import create_ssa_value

from gawee_dialect.diagnostics import GaweeError, verify_module
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.opdesc import load
from gawee_dialect.tools.gawee_translate import main
from gawee_dialect.universe import make_context
from tests.opdesc.invocations import BASES, described_op
from tests.upstream_mlir import requires_upstream, run_mlir_opt

pytest.importorskip("pycparser")
SHIPPED = sorted(Path(load.__file__).with_name("lightnet").glob("*.op"))


@pytest.fixture(scope="module")
def definitions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ops of all files in one dialect; mlir-opt reads one file."""
    folder = tmp_path_factory.mktemp("irdl")
    bodies: list[str] = []
    for path in SHIPPED:
        target = folder / f"{path.stem}.irdl"
        assert main(["opdesc", str(path), "--emit", "irdl", "-o", str(target)]) == 0
        bodies += target.read_text().splitlines()[1:-1]
    joined = folder / "lightnet.irdl"
    joined.write_text("\n".join(("irdl.dialect @lightnet {", *bodies, "}")))
    return joined


def text_of(index: int) -> str:
    base = BASES[index]
    inputs = [
        create_ssa_value(TensorType(each.element, each.shape)) for each in base.inputs.values()
    ]
    made = described_op(base.optype).make(inputs, base.params)
    operands = [f"%{index}" for index in range(len(inputs))]
    types = ", ".join(str(value.type) for value in inputs)
    results = ", ".join(str(value.type) for value in made.results)
    attributes = ", ".join(f"{name} = {value}" for name, value in made.attributes.items())
    arguments = ", ".join(
        f"{name}: {value.type}" for name, value in zip(operands, inputs, strict=True)
    ).replace("%", "%a")
    shown = ", ".join(operands).replace("%", "%a")
    return (
        f"func.func private @f({arguments}) {{\n"
        f'  {"%r:" + str(len(made.results)) + " = " if made.results else ""}"lightnet.{base.optype}"({shown}) {{{attributes}}} : '
        f"({types}) -> ({results})\n"
        "  func.return\n}\n"
    )


def refused_by_mlir(text: str, definitions: Path) -> bool:
    try:
        run_mlir_opt(text, f"--irdl-file={definitions}")
    except AssertionError:
        return True
    return False


def refused_here(text: str) -> bool:
    try:
        module = parse_mlir(make_context(), text, "in.mlir")
        assert isinstance(module, ModuleOp)
        verify_module(module)
    except GaweeError:
        return True
    return False


@requires_upstream
@pytest.mark.parametrize("index", range(len(BASES)), ids=lambda index: BASES[index].optype)
def test_mlir_opt_takes_what_our_verifier_takes(index: int, definitions: Path) -> None:
    text = text_of(index)

    assert not refused_here(text)
    assert not refused_by_mlir(text, definitions)


SLICE = """func.func private @f(%x: tensor<2x4xf32>, %i: i32) {
  %r = "lightnet.slice"(%x) {axis = 1, start = 1, len = 3} : (tensor<2x4xf32>) -> tensor<2x3xf32>
  func.return
}"""
ELEW = """func.func private @f(%x: tensor<2x4xf32>, %i: tensor<8xf32>) {
  %r = "lightnet.elew"(%x, %x) {elew_op = "TL_SUM"} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return
}"""


@requires_upstream
@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (SLICE, "start = 1, ", ""),
        (SLICE, '(%x) {', '(%x, %x) {'),
        (SLICE, '"(%x)', '"(%i)'),
        (SLICE, "%r = ", "%r:2 = "),
        (ELEW, '"TL_SUM"', "4"),
        (ELEW, '"TL_SUM"', '["TL_SUM"]'),
        (ELEW, "%x, %x", "%x, %i"),
        (ELEW, "-> tensor<2x4xf32>", "-> tensor<4x2xf32>"),
        (ELEW, "-> tensor<2x4xf32>", "-> tensor<2x4xf64>"),
        (ELEW, "-> tensor<2x4xf32>", "-> f32"),
    ],
)  # fmt: skip
def test_mlir_opt_refuses_what_is_wrong_in_types(
    text: str, old: str, new: str, definitions: Path
) -> None:
    assert not refused_here(text)
    assert not refused_by_mlir(text, definitions)
    wrong = text.replace(old, new)
    assert wrong != text
    # Types behind the colon go with the operands.
    for operands, types in (
        ("(%x, %x) {axis", "(tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x3xf32>"),
        ('"(%i)', "(i32) -> tensor<2x3xf32>"),
        ("(%x, %i)", "(tensor<2x4xf32>, tensor<8xf32>) -> tensor<2x4xf32>"),
        ("%r:2", "(tensor<2x4xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)"),
    ):
        if operands in wrong:
            head, _, rest = wrong.partition("} : ")
            wrong = f"{head}}} : {types}\n{rest.partition(chr(10))[2]}"

    assert refused_here(wrong)
    assert refused_by_mlir(wrong, definitions)


def test_name_that_irdl_cannot_have_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    detection = next(path for path in SHIPPED if path.stem == "detection")

    assert main(["opdesc", str(detection), "--emit", "irdl"]) == 0

    text = capsys.readouterr().out
    assert "// 'transform_bboxSQD' is left out: a name in IRDL has no uppercase letters" in text
    assert "irdl.operation @detect_yolov3 {" in text
