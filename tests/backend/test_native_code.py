"""Operators described in C, compiled and called: alone, in networks, and only where that is allowed."""

import os
import re
import stat
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gawee_dialect.backend.native_code import native_code_allowed
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.levels import Level
from gawee_dialect.model import Model, load
from gawee_dialect.opdesc.load import loaded_operators
from gawee_dialect.passes.graph.lower_opdesc import lower_described_ops
from gawee_dialect.tools import gawee_opt
from gawee_dialect.tools.gawee_run import main
from gawee_dialect.universe import make_context
from tests.closeness import assert_allclose
from tests.effort import full_run
from tests.opdesc.descriptions import Json, array, number, operator, output, string, tensor, text

pytest.importorskip("pycparser")

Array = NDArray[np.generic]

ROLL = """
  const float *in = src->data;
  float *out = dst->data;
  int width = src->dims[2];
  for (int i = 0; i < src->len; i++)
    out[i] = in[i - i % width + (i + by) % width];
"""
ROLLED = """
func.func @main(%x: tensor<2x3x5xf32> {gawee.input = "x"}, %w: tensor<5xf32> {gawee.parameter = "w"}) -> (tensor<2x3x5xf32> {gawee.output = "y"}) {
  %a = gawee.add %x, %w : (tensor<2x3x5xf32>, tensor<5xf32>) -> tensor<2x3x5xf32>
  %b = lightnet.roll %a by 2 : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %c = lightnet.roll %b by 3 : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %d = lightnet.roll %c by 2 : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %y = gawee.mul %d, %a : (tensor<2x3x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  func.return %y : tensor<2x3x5xf32>
}
"""


def model(folder: Path, graph: str, *operators: Mapping[str, Json], **arrays: Array) -> Model:
    """Return a model whose described ops are calls of their C."""
    path = folder / "ops.json"
    path.write_text(text(*(dict(each) for each in operators)))
    with loaded_operators([str(path)]):
        module = lower_described_ops(parse_mlir(make_context(), graph, "in.mlir"))
    return Model(module, arrays, allow_native_code=True)


def one_op(op: str, inputs: Mapping[str, str], results: Mapping[str, str]) -> str:
    """Return a graph of one op: its inputs and results by name, with their types."""
    arguments = ", ".join(
        f'%{name}: tensor<{type}> {{gawee.input = "{name}"}}' for name, type in inputs.items()
    )
    outputs = ", ".join(
        f'tensor<{type}> {{gawee.output = "{name}"}}' for name, type in results.items()
    )
    types = [", ".join(f"tensor<{type}>" for type in each.values()) for each in (inputs, results)]
    values = [", ".join(f"%{name}" for name in each) for each in (inputs, results)]
    head, _, params = op.partition(" ")
    return (
        f"func.func @main({arguments}) -> ({outputs}) {{\n"
        f"  {values[1]} = lightnet.{head} {values[0]} {params} : ({types[0]}) -> ({types[1]})\n"
        f"  func.return {values[1]} : {types[1]}\n}}\n"
    )


def roll() -> dict[str, Json]:
    return operator("roll", params=[number("by", ge=0)], run=ROLL)


def rolled_inputs() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    return random.normal(size=(2, 3, 5)).astype(np.float32), np.arange(5, dtype=np.float32)


@pytest.mark.parametrize("level", Level)
def test_c_runs_inside_a_network_at_every_level(level: Level, tmp_path: Path) -> None:
    x, w = rolled_inputs()
    network = model(tmp_path, ROLLED, roll(), w=w)

    result = network.run({"x": x}, level)["y"]

    # One addition and one multiplication each, in the order of the graph: the same bits.
    np.testing.assert_array_equal(result, np.roll(x + w, -7, 2) * (x + w))


def test_an_untrusted_network_does_not_run(tmp_path: Path) -> None:
    x, w = rolled_inputs()
    network = model(tmp_path, ROLLED, roll(), w=w)
    network.allow_native_code = False

    for level in Level:
        with pytest.raises(GaweeError, match=r"cannot run '@gawee_native_roll_.*: it is C, which has all rights of this process") as caught:  # fmt: skip
            network.run({"x": x}, level)
        assert "--allow-native-code (in Python: allow_native_code=True)" in str(caught.value)
    with native_code_allowed():
        assert network.run({"x": x}, Level.LLVM)


def test_code_for_c_is_refused(tmp_path: Path) -> None:
    network = model(tmp_path, ROLLED, roll(), w=rolled_inputs()[1])

    with pytest.raises(GaweeError, match="cannot write code for C: the network calls C of desc"):
        network.save(tmp_path, ["obj"])


def test_calls_at_the_same_time_do_not_meet(tmp_path: Path) -> None:
    x, w = rolled_inputs()
    compiled = model(tmp_path, ROLLED, roll(), w=w).compile()
    inputs = [x + number for number in range(40)]

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda each: compiled.run({"x": each})["y"], inputs))

    for each, result in zip(inputs, results, strict=True):
        np.testing.assert_array_equal(result, np.roll(each + w, -7, 2) * (each + w))


def test_a_call_is_a_whole_life(tmp_path: Path) -> None:
    described = operator(
        "prefix",
        params=[array("weights", "double", len="src->ndim"), string("mode"), number("n")],
        tensors_out=[
            output("dst"),
            output("last", ndim=1, dims=["n"], dtype="TL_INT32"),
        ],
        extra_privs=[{"type": "double", "name": "start"}, {"type": "int *", "name": "kept"}],
        static_run=(
            'priv->start = strcmp(mode, "half") ? 1 : 0.5 * weights[1];\n'
            "priv->kept = ln_alloc(sizeof(int) * n);\n"
            "for (int i = 0; i < n; i++) priv->kept[i] = src->dims[i] + weights_entry->array_len;"
        ),
        run=(
            "double total = priv->start;\n"
            "for (int i = 0; i < src->len; i++)\n"
            "  ((double *)dst->data)[i] = total += ((double *)src->data)[i];\n"
            "memcpy(last->data, priv->kept, sizeof(int) * n);"
        ),
        post_run="priv->start = 0;",
    )
    graph = one_op(
        'prefix weights [1.5, -3.0] mode "half" n 2',
        {"x": "3x4xf64"},
        {"y": "3x4xf64", "z": "2xi32"},
    )
    x = np.random.default_rng(4).normal(size=(3, 4))

    for level in (Level.GAWEE, Level.LLVM):
        outputs = model(tmp_path, graph, described).run({"x": x}, level)

        assert_allclose(outputs["y"].ravel(), -1.5 + np.cumsum(x), rtol=1e-12)
        assert outputs["z"].tolist() == [5, 6]


@pytest.mark.parametrize(("offset", "start"), [({}, 0), ({"calc_offset": "return 8;"}, 2)])
def test_output_in_its_input_s_memory_is_in_a_copy_of_it(
    offset: Mapping[str, Json], start: int, tmp_path: Path
) -> None:
    described = operator(
        "negate",
        tensors_in=[tensor(ndim=1)],
        tensors_out=[output(ndim=1, dims=["src->len - 2"], owner="src_name")],
        run="for (int i = 0; i < src->len; i++) ((float *)src->data)[i] *= -1;",
        **offset,
    )
    graph = one_op("negate", {"x": "7xf32"}, {"y": "5xf32"})
    x = np.arange(1, 8, dtype=np.float32)

    for level in (Level.GAWEE, Level.BUFFERS, Level.LLVM):
        result = model(tmp_path, graph, described).run({"x": x}, level)["y"]

        assert result.tolist() == [-each for each in range(1 + start, 6 + start)]
        assert x.tolist() == [1, 2, 3, 4, 5, 6, 7]


COMMAND = [sys.executable, "-m", "gawee_dialect.tools.gawee_run"]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "ops.json").write_text(
        "// a comment\n"
        + text(operator("roll", params=[number("by", ge=0)], run="@")).replace(
            '"@"', "'''\n" + ROLL + "'''\n"
        )
    )
    graph = ROLLED.replace(', %w: tensor<5xf32> {gawee.parameter = "w"}', "")
    (tmp_path / "in.mlir").write_text(
        graph.replace("gawee.add %x, %w", "gawee.add %x, %x").replace(
            "(tensor<2x3x5xf32>, tensor<5xf32>)", "(tensor<2x3x5xf32>, tensor<2x3x5xf32>)"
        )
    )
    return tmp_path


def test_flag_of_the_command_line(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--load-ops", str(files / "ops.json"), str(files / "in.mlir")]

    assert main(arguments) == 1
    assert "it is C, which has all rights of this process" in capsys.readouterr().err
    assert main([*arguments, "--allow-native-code", "--compare", "gawee"]) == 0
    assert "same" in capsys.readouterr().out


def test_errors_of_the_compiler_are_at_lines_of_the_description(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = files / "ops.json"
    wrong = path.read_text().replace("int width", "int broad").replace("src->data", "src->dat")
    path.write_text(wrong)

    def place(word: str) -> str:
        line, content = next(each for each in enumerate(wrong.splitlines(), 1) if word in each[1])
        return f"{path}:{line}:{content.index(word) + 1}"

    assert main(["--load-ops", str(path), str(files / "in.mlir"), "--allow-native-code"]) == 1

    found = capsys.readouterr().err.splitlines()
    assert len(found) == 2
    assert found[0].startswith(f"{place('dat;')}: error: cannot compile the C of '@gawee_native_")
    assert "'ln_tensor' has no member named 'dat'" in found[0]
    assert found[1].startswith(f"{place('width + ')}: error: cannot compile the C of")
    assert "'width' undeclared" in found[1]


@full_run
def test_compiled_c_is_kept_between_processes(files: Path) -> None:
    compiler = files / "counting-cc"
    compiler.write_text(f'#!/bin/sh\necho called >> {files}/calls\nexec cc "$@"\n')
    compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
    environment = {**os.environ, "CC": str(compiler), "GAWEE_CACHE_DIR": str(files / "cache")}
    command = [*COMMAND, "--load-ops", "ops.json", "in.mlir", "--allow-native-code"]
    command[2] = "gawee_dialect.tools.gawee_run"

    for _ in range(2):
        subprocess.run(command, env=environment, cwd=files, check=True, capture_output=True)

    assert (files / "calls").read_text().splitlines() == ["called"] * 2  # by 2 and by 3, once each


def test_no_compiler_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    described = operator("copy_it", run="memcpy(dst->data, src->data, 4 * src->len); /* new */")
    network = model(tmp_path, one_op("copy_it", {"x": "2xf32"}, {"y": "2xf32"}), described)

    with pytest.raises(GaweeError, match=r"cannot run C of descriptions: no C compiler 'no-such"):
        network.run({"x": np.ones(2, np.float32)})


def test_load_hands_the_permission_on(files: Path) -> None:
    with loaded_operators([str(files / "ops.json")]):
        network = load(files / "in.mlir", {}, allow_native_code=True)
    x = rolled_inputs()[0]

    np.testing.assert_array_equal(network.run({"x": x})["y"], np.roll(2 * x, -7, 2) * (2 * x))


def test_c_without_the_function_is_an_error() -> None:
    graph = (
        'func.func private @nowhere(tensor<2xf32>) -> tensor<2xf32> attributes {gawee.c_source = "int other;"}\n'
        'func.func @main(%x: tensor<2xf32> {gawee.input = "x"}) -> (tensor<2xf32> {gawee.output = "y"}) {\n'
        "  %y = func.call @nowhere(%x) : (tensor<2xf32>) -> tensor<2xf32>\n"
        "  func.return %y : tensor<2xf32>\n}\n"
    )
    network = Model(parse_mlir(make_context(), graph, "in.mlir"), allow_native_code=True)

    with pytest.raises(GaweeError, match="expected the C of '@nowhere' to define it"):
        network.run({"x": np.ones(2, np.float32)})


NAMED_ALIKE = """
func.func private @scaled(tensor<3xf32>) -> tensor<3xf32> attributes {{gawee.c_source = "void scaled(const float *x, float *y) {{ for (int i = 0; i < 3; i++) y[i] = {factor} * x[i]; }}"}}
func.func @main(%x: tensor<3xf32> {{gawee.input = "x"}}) -> (tensor<3xf32> {{gawee.output = "y"}}) {{
  %y = func.call @scaled(%x) : (tensor<3xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}}
"""


@pytest.mark.parametrize("level", [Level.GAWEE, Level.LLVM])
def test_two_modules_may_mean_different_functions_by_one_name(level: Level) -> None:
    x = np.arange(3, dtype=np.float32)
    models = {
        factor: Model(
            parse_mlir(make_context(), NAMED_ALIKE.format(factor=factor), "in.mlir"),
            allow_native_code=True,
        )
        for factor in (2, 5)
    }
    runners = {factor: model.runner(level) for factor, model in models.items()}

    for factor in (5, 2, 5):
        np.testing.assert_array_equal(runners[factor]({"x": x})["y"], factor * x)


def test_checks_of_each_pass_run_c_where_that_is_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = tmp_path / "in.mlir"
    graph.write_text(NAMED_ALIKE.format(factor=3))
    check = [str(graph), "--check-each", "--gawee-to-llvm", "-o", os.devnull]

    assert gawee_opt.main(check) == 3  # nothing is wrong, and not all could be checked
    refused = capsys.readouterr().err
    assert gawee_opt.main([*check, "--allow-native-code"]) == 0
    allowed = capsys.readouterr().err

    assert "not run: cannot run '@scaled': it is C, which has all rights" in flat(refused)
    assert "not run" not in allowed
    assert re.search(r"convert-to-llvm\W.*native", allowed)


def flat(text: str) -> str:
    return " ".join(re.sub("[│┃]", " ", text).split())


def test_a_pass_that_calls_the_wrong_c_is_caught(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = tmp_path / "in.mlir"
    graph.write_text(NAMED_ALIKE.format(factor=3))
    plugin = tmp_path / "wrong.py"
    plugin.write_text(
        "from dataclasses import dataclass\n"
        "from xdsl.passes import ModulePass\n"
        "from xdsl.dialects.builtin import StringAttr\n\n"
        "@dataclass(frozen=True)\n"
        "class Wrong(ModulePass):\n"
        '    name = "wrong"\n\n'
        "    def apply(self, ctx, op):\n"
        "        function = op.body.block.first_op\n"
        '        source = function.attributes["gawee.c_source"].data\n'
        '        function.attributes["gawee.c_source"] = StringAttr(source.replace("3 *", "4 *"))\n'
    )

    flags = ["--load", str(plugin), "--check-each", "--wrong", "--allow-native-code"]
    assert gawee_opt.main([str(graph), *flags, "-o", os.devnull, "--reproducer-dir="]) == 1

    message = capsys.readouterr().err
    assert "call' of '@scaled'\nhint: the op's value at [" in message
    before, after = map(float, re.findall(r"was (\S+) and is ([^\s,]+)", message)[0])
    assert after / before == pytest.approx(4 / 3)
