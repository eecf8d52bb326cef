"""Python of descriptions: it is clean, can be imported, and its ops are the loaded ops."""

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Dialect, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.test_value import create_ssa_value

from gawee_dialect.frontends.mlir_text import parse_mlir, print_mlir
from gawee_dialect.opdesc import load
from gawee_dialect.opdesc.described_op import BodyOp, param_attribute
from gawee_dialect.opdesc.description import ptype_of
from gawee_dialect.opdesc.load import load_operator_descriptions
from gawee_dialect.opdesc.oracle import random_use
from gawee_dialect.tools.gawee_opt import main as gawee_opt
from gawee_dialect.tools.gawee_translate import main
from gawee_dialect.tools.plugin_file import loaded_files
from gawee_dialect.universe import make_context
from tests.opdesc.descriptions import Json, array, number, operator, output, string, tensor, text
from tests.opdesc.invocations import BASES, changed, described_op

pytest.importorskip("pycparser")
SHIPPED = sorted(Path(load.__file__).with_name("lightnet").glob("*.op"))
EQUATIONS = Path(__file__).parent / "index_notation" / "operators.op"

# A little of everything that the shipped operators don't have.
PROBE = operator(
    "probe",
    doc='it says "so", and {braces}',
    tensors_in=[
        tensor("a", dtype="TL_FLOAT", ndim=2, len="6", check="a->dims[0] == 2",
               checks=[{"check": 'a->dims[1] < 4 || 0, "%d columns {of} %g%%", a->dims[1], 0.5'}]),
        tensor("len", sametype="a", sameshape="a", static=False),
    ],
    tensors_out=[output(ndim="a->ndim", dims=["a->dims[1]", "-7 / 2 + 5 % 3 + 3"], dtype="a->dtype")],
    params=[
        number("axis", ge=0, lt="a->ndim", check="axis != 7 && !(axis == 5)"),
        array("size", len=2, gt=0, le=9, checks=[{"check": "size[0] <= size[1]"}],
              custom="if (size[0] == 5) ln_opck_satisfy(0);"),
        string("mode", realtype="int", from_func="tl_resize_type_from_str",
               check='mode != -1, "no \\"mode\\""'),
        number("slope", "float", ne=3),
        number("range", "double", lt="range + 1"),
        {"arg_name": "flag", "ptype": "LN_PARAM_BOOL"},
        {"arg_name": "none", "ptype": "LN_PARAM_NULL"},
        {"arg_name": "names", "ptype": "LN_PARAM_ARRAY_STRING", "realtype": "int",
         "from_func": "tl_sort_dir_from_str", "check": "names[0] == 1"},
    ],
    checks=[{"check": "axis + size[0] < 9"}],
    custom='for (int i = 0; i < 2; i++) { if (i == axis) continue; size[i] += 1; }\n'
           'ln_opck_satisfy_msg(size[1 - axis] / axis != 8, "eight is %s", "wrong");',
)  # fmt: skip


def written(folder: Path, path: Path) -> Path:
    target = folder / f"{path.stem}_ops.py"
    assert main(["opdesc", str(path), "--emit", "python", "-o", str(target)]) == 0
    return target


def imported(path: Path) -> Dialect:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (dialect,) = (each for each in vars(module).values() if isinstance(each, Dialect))
    return dialect


def test_files_are_clean(tmp_path: Path) -> None:
    files = [written(tmp_path, path) for path in (*SHIPPED, EQUATIONS)]
    ruff = [sys.executable, "-m", "ruff"]
    options = ["--isolated", "--line-length", "100"]
    subprocess.run([*ruff, "format", *options, *files], check=True, cwd=tmp_path)

    # The lines of the descriptions are as long as they are.
    rules = ["--select=E,F,W,I,UP,PT,PYI,RUF,TID25", "--ignore=E501"]
    done = subprocess.run(
        [*ruff, "check", *options, *rules, *files], capture_output=True, text=True, cwd=tmp_path
    )

    assert done.returncode == 0, done.stdout
    pyright = shutil.which("pyright", path=str(Path(sys.executable).parent))
    if pyright is not None:
        (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
        command = [pyright, "--pythonpath", sys.executable, "-p", tmp_path, *files]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stdout


def verdict(
    kind: type[Operation], inputs: Sequence[SSAValue], results: Sequence[TensorType], params
) -> str:
    op = kind.create(
        operands=inputs,
        result_types=results,
        attributes={name: param_attribute(value) for name, value in params.items()},
    )
    try:
        op.verify()
    except VerifyException as error:
        return str(error)
    return "ok"


def without_folder(verdict: str, path: Path) -> str:
    """What a loaded op says, with its place as a written one has it: in a file without a folder."""
    return verdict.replace(str(path), path.name)


def test_ops_say_what_the_loaded_ops_say(tmp_path: Path) -> None:
    kinds: dict[str, type[Operation]] = {}
    paths: dict[str, Path] = {}
    for path in SHIPPED:
        found = {op.name: op for op in imported(written(tmp_path, path)).operations}
        kinds |= found
        paths |= dict.fromkeys(found, path)
    results = {
        base.optype: [
            TensorType(each.element, each.shape)
            for each in described_op(base.optype)
            .make(
                [create_ssa_value(TensorType(t.element, t.shape)) for t in base.inputs.values()],
                base.params,
            )
            .checked()
            .outputs
        ]
        for base in BASES
    }
    seen: list[str] = []
    for case in changed(Random(6)):
        inputs: list[SSAValue] = [
            create_ssa_value(TensorType(each.element, each.shape)) for each in case.inputs.values()
        ]
        if any(case.renamed.get(name) == "" for name in case.inputs):
            inputs = inputs[:-1]
        params = case.invocation().params
        if any(ptype_of(value) == "an empty array" for value in params.values()):
            continue
        loaded = described_op(case.optype)
        ours = verdict(loaded, inputs, results[case.optype], params)
        theirs = verdict(kinds[loaded.name], inputs, results[case.optype], params)
        assert theirs == without_folder(ours, paths[loaded.name]), case
        seen.append(ours)

    assert len(kinds) == 38
    assert seen.count("ok") > 40
    assert len(set(seen)) > 100


def test_ops_of_equations_say_what_the_loaded_ops_say(tmp_path: Path) -> None:
    made = {op.name: op for op in imported(written(tmp_path, EQUATIONS)).operations}
    loaded = {op.name: op for op in load_operator_descriptions(EQUATIONS).operations}
    assert list(made) == list(loaded)
    seen: list[str] = []
    for name, kind in loaded.items():
        assert issubclass(kind, BodyOp)
        use = random_use(kind.description(), 0)
        types = use.instance.tensors
        operator = kind.description().operator
        names = [
            [each.arg_name for each in args] for args in (operator.tensors_in, operator.tensors_out)
        ]
        inputs, results = (
            [TensorType(types[n].element, types[n].shape) for n in group] for group in names
        )
        longer = [*inputs[:-1], TensorType(inputs[-1].element_type, [*inputs[-1].get_shape(), 7])]
        without = dict(list(use.parameters.items())[1:])
        for operands, params in (
            (inputs, use.parameters),
            (longer, use.parameters),
            (inputs, without),
        ):
            arguments = [create_ssa_value(each) for each in operands], results, params
            seen.append(without_folder(verdict(kind, *arguments), EQUATIONS))
            assert verdict(made[name], *arguments) == seen[-1], name

    assert seen[::3] == ["ok"] * len(loaded)
    assert len(set(seen)) > 50


def test_every_check_is_made(tmp_path: Path) -> None:
    path = tmp_path / "probe.json"
    path.write_text(text(PROBE))
    (loaded,) = load_operator_descriptions(path).operations
    (made,) = imported(written(tmp_path, path)).operations
    good: dict[str, Json] = {
        "axis": 1, "size": (1, 2.9), "mode": "TL_LINEAR", "slope": -0.1, "range": 0.5,
        "flag": True, "none": None, "names": ("TL_SORT_DIR_DESCENDING",),
    }  # fmt: skip
    changes = [
        ("axis", 0), ("axis", -1), ("axis", 2), ("axis", "1"), ("size", (3, 2)), ("size", (1, 2, 3)),
        ("size", (0, 2)), ("size", (5, 6)), ("size", (8, 9)), ("size", (1, 10)), ("mode", "TL_CUBIC"),
        ("slope", 3), ("range", 1e300), ("flag", 1), ("none", 1), ("names", ("up",)), ("size", (1, 8)),
    ]  # fmt: skip
    shapes = [[2, 3], [3, 2], [2, 4], [1, 6], [6]]
    verdicts: list[str] = []
    for change in [{}, *({name: value} for name, value in changes)]:
        for shape in shapes if not change else shapes[:1]:
            inputs: list[SSAValue] = [create_ssa_value(TensorType(f32, shape)) for _ in range(2)]
            arguments = inputs, [TensorType(f32, [3, 2])], {**good, **change}
            verdicts.append(verdict(loaded, *arguments))
            assert verdict(made, *arguments) == without_folder(verdicts[-1], path)

    assert verdicts[0] == "ok"
    assert len(set(verdicts)) > 18


def written_as_mine(folder: Path) -> Path:
    """The Python of a shipped file, whose ops are in a dialect of their own."""
    arrangement = next(path for path in SHIPPED if path.stem == "arrangement")
    path = folder / "mine.op"
    path.write_text('dialect "mine"\n' + arrangement.read_text())
    return written(folder, path)


GRAPH = """func.func @main(%x: tensor<2x4xf32>) -> tensor<2x3xf32> {
  %y = lightnet.slice %x axis 1 start 1 len 3 : (tensor<2x4xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}"""


def test_written_ops_have_the_syntax_of_the_loaded_ones(tmp_path: Path) -> None:
    source = written_as_mine(tmp_path)
    expected = print_mlir(parse_mlir(make_context(), GRAPH, "in.mlir"))

    with loaded_files([str(source)]):
        module = parse_mlir(make_context(), GRAPH.replace("lightnet", "mine"), "in.mlir")

    assert print_mlir(module).replace("mine", "lightnet") == expected


def test_wrong_op_is_located(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = written_as_mine(tmp_path)
    graph = tmp_path / "in.mlir"
    graph.write_text(GRAPH.replace("lightnet", "mine").replace("start 1", "start 2"))

    assert gawee_opt(["--load", str(source), str(graph)]) == 1

    message = "expected 'check' of param 'len' to hold: start + len <= src->dims[axis]"
    assert f"{graph}:2:3: error: 'mine.slice' op {message}" in capsys.readouterr().err


# What has no counterpart in Python's own arithmetic, and each to hold for `n` of 4 alone.
STATEMENTS = [
    "int *p = ln_alloc(8); *p = n; ln_opck_satisfy(p[0] == 4);",
    "int a = 0, b; b = (a = n); ln_opck_satisfy(b == 4);",
    "int sum = 0; for (int i = n; i > 0; i--) sum += i; ln_opck_satisfy(sum == 10);",
    "ln_opck_satisfy(n == sizeof(int));",
    "ln_opck_satisfy((char)(n + 252) == 0);",
    "int a[4]; a[0] = n; ln_opck_satisfy(a[0] == 4);",
    "ln_opck_satisfy(n_entry->value_int == 4);",
]


@pytest.mark.parametrize("custom", STATEMENTS)
def test_all_c_of_a_description_is_evaluated(custom: str, tmp_path: Path) -> None:
    path = tmp_path / "ops.json"
    path.write_text(text(operator(params=[number("n")], custom=custom)))
    (made,) = imported(written(tmp_path, path)).operations
    inputs: list[SSAValue] = [create_ssa_value(TensorType(f32, [2]))]
    results = [TensorType(f32, [2])]

    assert verdict(made, inputs, results, {"n": 4}) == "ok"
    assert verdict(made, inputs, results, {"n": 5}) == "'custom': expected its check to hold"


HALF = """func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %y = lightnet.half %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %z = lightnet.relu %y : (tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %z : tensor<2x4xf32>
}"""


def test_description_that_names_no_dialect_joins_the_shipped_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, graph = tmp_path / "ops.op", tmp_path / "in.mlir"
    path.write_text('half { body: "y[...] = x[...] / 2" }\n')
    graph.write_text(HALF)
    source = str(written(tmp_path, path))

    assert gawee_opt(["--load", source, "--lower-opdesc", str(graph)]) == 0
    ours = capsys.readouterr().out
    assert gawee_opt(["--load-ops", str(path), "--lower-opdesc", str(graph)]) == 0

    assert ours == capsys.readouterr().out
    assert "gawee.relu" in ours


@pytest.mark.parametrize("doc", [r"a\\b", r"three \"\"\" quotes", r"tab\tand é", r"a quote\""])
def test_any_text_of_a_description_survives(doc: str, tmp_path: Path) -> None:
    path = tmp_path / "ops.op"
    path.write_text(f'id {{ body: "y[...] = x[...]", doc: "{doc}" }}  // """ {doc}')
    (loaded,) = load_operator_descriptions(path).operations

    (made,) = imported(written(tmp_path, path)).operations

    assert made.__doc__ == loaded.__doc__


def test_operators_without_a_dialect_join_the_shipped_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    custom = "int *sizes = ln_alloc(sizeof(int)); sizes[0] = src->len;"
    flat = operator("flat", tensors_out=[output(ndim="1", dims="sizes")], custom=custom)
    path, graph = tmp_path / "ops.json", tmp_path / "in.mlir"
    path.write_text(text(flat))
    source = written(tmp_path, path)
    graph.write_text(
        "func.func @main(%x: tensor<3x2xf32>) -> tensor<6xf32> {\n"
        "  %r = lightnet.relu %x : (tensor<3x2xf32>) -> tensor<3x2xf32>\n"
        "  %y = lightnet.flat %r : (tensor<3x2xf32>) -> tensor<6xf32>\n"
        "  return %y : tensor<6xf32>\n}\n"
    )

    assert gawee_opt(["--load", str(source), str(graph)]) == 0
    graph.write_text(graph.read_text().replace("<6xf32>", "<7xf32>"))
    assert gawee_opt(["--load", str(source), str(graph)]) == 1
    assert f"{graph}:3:3: error: 'lightnet.flat' op expected" in capsys.readouterr().err
