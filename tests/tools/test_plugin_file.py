"""--load: what a Python file may define, for every tool, and how it is refused."""

import numbers
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.tools import gawee_opt, gawee_run, gawee_translate
from gawee_dialect.universe import all_dialects, all_passes

Main = Callable[[Sequence[str]], int]

GRAPH = """func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
"""
WITH_OWN_OP = GRAPH.replace("gawee.relu %x", "mine.triple %x").replace(
    "func.func @main(", "func.func @main("
)

PASS = '''
from dataclasses import dataclass
from xdsl.passes import ModulePass
from xdsl.transforms.dead_code_elimination import DeadCodeElimination  # not ours to register

@dataclass(frozen=True)
class Rename(ModulePass):
    """Rename every function."""

    name = "rename-functions"
    to: str = "renamed"

    def apply(self, ctx, op):
        for inner in op.walk():
            if inner.name == "func.func":
                inner.properties["sym_name"] = type(inner.sym_name)(self.to)
'''
OP = '''
from xdsl.dialects.builtin import AnyFloat, TensorType
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def
from gawee_dialect.dialect import GAWEE  # not ours to register

@irdl_op_definition
class TripleOp(IRDLOperation):
    """Three times a tensor."""

    name = "mine.triple"
    input = operand_def(TensorType)
    result = result_def(TensorType)
    assembly_format = "$input attr-dict `:` functional-type(operands, results)"
'''
DIALECT = (
    OP
    + """
from xdsl.ir import Dialect

MINE = Dialect("mine", [TripleOp])
"""
)
LOWERING = '''
from dataclasses import dataclass
from xdsl.pattern_rewriter import op_type_rewrite_pattern
from gawee_dialect.dialect.graph.elementwise import AddOp
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass
from triple import TripleOp

class TripleToAdd(Pattern):
    """mine.triple %x -> gawee.add %x, (gawee.add %x, %x)"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TripleOp, rewriter):
        twice = AddOp(op.input, op.input)
        rewriter.replace(op, [twice, AddOp(op.input, twice.output)])

@dataclass(frozen=True)
class LowerTriple(RewritePass):
    """Lower mine.triple to additions."""

    name = "lower-triple"
    patterns = (TripleToAdd,)
    removes = (TripleOp,)
'''
MEANING = '''
from xdsl.interpreter import impl, register_impls
from gawee_dialect.interpreter.functions import OpFunctions

@register_impls
class TripleFunctions(OpFunctions):
    """What mine.triple computes."""

    @impl(TripleOp)
    def run(self, interpreter, op, args):
        return (3 * args[0],)
'''
INSTRUMENT = '''
import sys
from gawee_dialect.passes.instrument import Instrument

class CountPasses(Instrument):
    """Counts passes."""

    def __init__(self):
        self.names = []

    def before_pass(self, module_pass, module):
        self.names.append(module_pass.name)

    def report(self):
        print("saw", *self.names, file=sys.stderr)

class _Base(Instrument):
    def report(self):
        print("a private class", file=sys.stderr)
'''

PROCESSOR = """
from dataclasses import replace
from gawee_dialect.target.machine import find_processor

HASWELL, HERE = find_processor("haswell"), find_processor("host")  # not ours to register
MINE = replace(HASWELL, name="mine", team_cycles=10**9)
"""
PRODUCT = """func.func @main(%x: tensor<256x256xf32>, %w: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %y = gawee.matmul %x, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  return %y : tensor<256x256xf32>
}
"""


@pytest.fixture
def save(tmp_path: Path) -> Callable[[str, str], str]:
    def write(name: str, text: str) -> str:
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


Save = Callable[[str, str], str]


def test_passes_of_a_file_are_known_wherever_the_flag_stands(
    save: Save, capsys: pytest.CaptureFixture[str]
) -> None:
    graph, plugin = save("in.mlir", GRAPH), save("rename.py", PASS)

    assert gawee_opt.main(["--load", plugin, "--rename-functions", graph]) == 0
    assert "func.func @renamed" in capsys.readouterr().out
    assert gawee_opt.main([graph, "-p", "rename-functions{to=g}", f"--load={plugin}"]) == 0
    assert "func.func @g" in capsys.readouterr().out
    assert gawee_opt.main(["--load", plugin, "--list-passes"]) == 0
    assert "rename-functions                 Rename every function." in capsys.readouterr().out


@pytest.mark.parametrize("text", [OP, DIALECT], ids=["op", "dialect"])
@pytest.mark.parametrize("main", [gawee_opt.main, gawee_translate.main], ids=["opt", "translate"])
def test_ops_of_a_file_are_parsed_and_printed(
    main: Main, text: str, save: Save, capsys: pytest.CaptureFixture[str]
) -> None:
    graph, plugin = save("in.mlir", WITH_OWN_OP), save("triple.py", text)

    assert main([graph, "--load", plugin]) == 0

    assert "%y = mine.triple %x : (tensor<2x3xf32>)" in capsys.readouterr().out


def test_an_op_can_join_a_dialect_that_exists(
    save: Save, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = save("triple.py", OP.replace("mine.triple", "gawee.triple"))
    both = WITH_OWN_OP.replace("mine.", "gawee.").replace(
        "  return", "  %z = gawee.relu %y : (tensor<2x3xf32>) -> tensor<2x3xf32>\n  return"
    )

    assert gawee_opt.main([save("in.mlir", both), "--load", plugin]) == 0

    out = capsys.readouterr().out
    assert "gawee.triple" in out
    assert "gawee.relu" in out


def test_a_file_may_import_another_that_is_loaded_and_lower_its_ops(
    save: Save, capsys: pytest.CaptureFixture[str]
) -> None:
    graph, ops, lowering = (
        save("in.mlir", WITH_OWN_OP),
        save("triple.py", OP),
        save("lower_triple.py", LOWERING),
    )

    assert gawee_opt.main(["--load", ops, "--load", lowering, graph, "--lower-triple"]) == 0

    out = capsys.readouterr().out
    assert "mine.triple" not in out
    assert out.count("gawee.add") == 2
    assert "triple" not in sys.modules


@pytest.mark.parametrize("level", ["gawee", "linalg", "llvm"])
def test_a_network_runs_through_passes_of_a_file_at_every_level(
    level: str, save: Save, tmp_path: Path
) -> None:
    graph = save("in.mlir", WITH_OWN_OP)
    load = ["--load", save("triple.py", OP), "--load", save("lower_triple.py", LOWERING)]
    x = np.array([[1.5, -2.0, 3.25], [0.5, 8.0, -1.0]], np.float32)
    np.save(tmp_path / "x.npy", x)
    words = [graph, *load, "-p", "lower-triple", "--input", f"x={tmp_path / 'x.npy'}"]

    code = gawee_run.main([*words, "--level", level, "--output", str(tmp_path / "out.npz")])

    assert code == 0
    (output,) = np.load(tmp_path / "out.npz").values()
    np.testing.assert_array_equal(output, 3 * x)  # sums of small multiples of 1/4 are exact


def test_an_op_runs_as_the_file_says(save: Save, tmp_path: Path) -> None:
    graph, ops = save("in.mlir", WITH_OWN_OP), save("triple.py", OP + MEANING)
    x = np.array([[1.5, -2.0, 3.25], [0.5, 8.0, -1.0]], np.float32)
    np.save(tmp_path / "x.npy", x)
    words = [graph, "--load", ops, "--input", f"x={tmp_path / 'x.npy'}", "--level", "gawee"]

    assert gawee_run.main([*words, "--output", str(tmp_path / "out.npz")]) == 0

    (output,) = np.load(tmp_path / "out.npz").values()
    np.testing.assert_array_equal(output, 3 * x)


def test_instruments_of_a_file_are_installed(
    save: Save, capsys: pytest.CaptureFixture[str]
) -> None:
    graph, plugin = save("in.mlir", GRAPH), save("count.py", INSTRUMENT)

    assert gawee_opt.main([graph, "--load", plugin, "--canonicalize", "--cse"]) == 0
    out, err = capsys.readouterr()
    assert err == "saw canonicalize cse\n"
    assert "gawee.relu" in out
    assert gawee_run.main([graph, "--load", plugin, "--level", "linalg", "-p", "cse"]) == 0
    assert capsys.readouterr().err.startswith(
        "saw cse lower-quant-ops canonicalize sink-dequantize fold-batch-norm"
    )


def test_a_processor_whose_teams_start_late_shares_no_kernel(
    save: Save, capsys: pytest.CaptureFixture[str]
) -> None:
    load = ["--load", save("mine.py", PROCESSOR), save("product.mlir", PRODUCT)]

    def kernels(target: str) -> str:
        passes = f"gawee-to-kernels{{target={target} num-threads=2}}"
        assert gawee_opt.main([*load, "-p", passes]) == 0
        return capsys.readouterr().out

    assert "parallel = 1" in kernels("haswell")
    assert "schedule #gawee.schedule" in kernels("mine")
    assert "parallel = 1" not in kernels("mine")
    assert gawee_opt.main([*load[2:], "-p", "gawee-to-kernels{target=mine}"]) == 1
    assert "unknown target 'mine'" in capsys.readouterr().err


def test_nothing_stays_when_the_tool_is_done(save: Save) -> None:
    graph, plugin = save("in.mlir", GRAPH), save("all.py", PASS + OP + INSTRUMENT)
    passes, dialects, modules = set(all_passes()), set(all_dialects()), set(sys.modules)
    path = list(sys.path)

    for _ in range(2):
        assert gawee_opt.main([graph, "--load", plugin, "--rename-functions"]) == 0

    assert set(all_passes()) == passes
    assert set(all_dialects()) == dialects
    assert {name for name in set(sys.modules) - modules if "all" in name.split(".")} == set()
    assert sys.path == path


def test_a_file_named_as_a_module_that_exists_does_not_take_its_place(
    save: Save, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = save("numbers.py", PASS)

    assert gawee_opt.main([save("in.mlir", GRAPH), "--load", plugin, "--rename-functions"]) == 0

    assert "@renamed" in capsys.readouterr().out
    assert sys.modules["numbers"] is numbers


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("no.py", None, "no such file"),
        ("no.txt", "", "expected a Python file (.py) or operator descriptions (.json, .op)"),
        ("empty.py", "x = 1", "it defines no pass, op, attribute or instrument"),
        (
            "arith.py",
            OP.replace("mine.triple", "arith.triple") + "\nfrom xdsl.ir import Dialect\n"
            "ARITH = Dialect('arith', [TripleOp])",
            "there is a dialect 'arith' already",
        ),
        (
            "haswell.py",
            PROCESSOR.replace('"mine"', '"znver2"'),
            "there is a processor 'znver2' already",
        ),
    ],
)
def test_a_file_that_cannot_be_loaded_is_named(
    name: str, text: str | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text)

    assert gawee_opt.main(["--load", str(path)]) == 1
    assert capsys.readouterr().err == f"error: cannot load '{path}': {message}\n"


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("x = 1\ny = 1 / 0", "2:5", "ZeroDivisionError: division by zero"),
        ("import no_such_module", "1:1", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("\ndef f(:\n", "2:7", "SyntaxError: invalid syntax"),
        (PASS.replace("rename-functions", "cse"), "6:1", "there is a pass 'cse' already"),
        (PASS.replace("rename-functions", "cost"), "6:1", "a flag has the name of pass 'cost'"),
        (PASS.replace('    name = "rename-functions"\n', ""), "6:1", "pass 'Rename' has no name"),
        (OP.replace("mine.triple", "arith.addi"), "6:1", "there is 'arith.addi' already"),
        (OP.replace("mine.triple", "triple"), "6:1", "expected a name 'dialect.op', got 'triple'"),
        (
            OP.replace("@irdl_op_definition\n", ""),
            "6:1",
            "'TripleOp' has no @irdl_op_definition",
        ),
        (
            INSTRUMENT.replace("def __init__(self)", "def __init__(self, where)"),
            "5:1",
            "cannot make instrument 'CountPasses' without arguments: CountPasses.__init__() "
            "missing 1 required positional argument: 'where'",
        ),
    ],
)
def test_what_is_wrong_in_a_file_is_located_there(
    text: str, place: str, message: str, save: Save, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = save("wrong.py", text)

    assert gawee_opt.main(["--load", plugin]) == 1

    assert capsys.readouterr().err == (
        f"{plugin}:{place}: error: cannot load this file: {message}\n"
    )


def test_two_files_cannot_define_a_pass_of_one_name(
    save: Save, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = save("one.py", PASS), save("other.py", PASS)

    assert gawee_opt.main(["--load", one, "--load", other]) == 1

    assert f"{other}:6:1: error: cannot load this file: there is a pass 'rename-functions'" in (
        capsys.readouterr().err
    )


def test_a_base_of_passes_needs_no_name(save: Save, capsys: pytest.CaptureFixture[str]) -> None:
    base = PASS.replace('    name = "rename-functions"\n', "") + (
        '\nclass Renamed(Rename):\n    name = "rename-functions"\n'
    )

    plugin = save("base.py", base)

    assert gawee_opt.main(["--load", plugin, "--rename-functions", save("in.mlir", GRAPH)]) == 0
    assert "@renamed" in capsys.readouterr().out


@pytest.mark.parametrize("main", [gawee_opt.main, gawee_run.main], ids=["opt", "run"])
def test_a_pass_of_a_file_that_crashes_is_located_in_the_file(
    main: Main, save: Save, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = save("crash.py", PASS.replace("in op.walk()", "in op.walks()"))
    words = [save("in.mlir", GRAPH), "--load", plugin, "-p", "rename-functions"]

    assert main(words) == 1

    assert capsys.readouterr().err.endswith(
        f"{plugin}:14:22: error: AttributeError: 'ModuleOp' object has no attribute "
        "'walks' (in pass 'rename-functions')\nhint: did you mean 'walk'? 'builtin.module' has properties: sym_name\n"
    )


def test_a_pattern_that_crashes_is_located_with_the_op_it_was_at(
    save: Save, capsys: pytest.CaptureFixture[str]
) -> None:
    graph, ops = save("in.mlir", WITH_OWN_OP), save("triple.py", OP)
    lowering = save("lower_triple.py", LOWERING.replace("twice.output", "twice.outputs"))

    assert gawee_opt.main(["--load", ops, "--load", lowering, graph, "--lower-triple"]) == 1

    assert capsys.readouterr().err == (
        f"{lowering}:14:54: error: AttributeError: 'AddOp' object has no attribute 'outputs' "
        f"(in pass 'lower-triple' at 'mine.triple' op, {graph}:2:3)\n"
        "hint: did you mean 'output'? 'gawee.add' has operands: lhs, rhs; results: result\n"
    )


def test_a_pattern_of_an_error_that_is_no_missing_member_has_the_traceback(
    save: Save, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = save("crash.py", PASS.replace("in op.walk()", "in [1 // 0]"))

    assert gawee_opt.main([save("in.mlir", GRAPH), "--load", plugin, "-p", "rename-functions"]) == 1

    assert capsys.readouterr().err.endswith("hint: --debug shows the traceback\n")


def test_a_pattern_without_its_decorator_is_told_so(
    save: Save, capsys: pytest.CaptureFixture[str]
) -> None:
    graph, ops = save("in.mlir", WITH_OWN_OP), save("triple.py", OP)
    text = LOWERING.replace("    @op_type_rewrite_pattern\n", "")
    lowering = save("lower_triple.py", text)
    line = text[: text.index("def match_and_rewrite")].count("\n") + 1

    assert gawee_opt.main(["--load", ops, "--load", lowering, graph, "--lower-triple"]) == 1

    assert capsys.readouterr().err == (
        f"{lowering}:{line}:5: error: expected '@op_type_rewrite_pattern' on "
        "'TripleToAdd.match_and_rewrite', which is annotated for 'TripleOp', got none\n"
        "hint: without it the pattern is tried on every op; it is in xdsl.pattern_rewriter\n"
    )


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("(TripleToAdd,)", "(TripleToAdd)", "'patterns' of pass 'LowerTriple' to be a tuple"),
        ("(TripleToAdd,)", "(TripleToAdd(),)", "'patterns' of pass 'LowerTriple' to be a tuple"),
        ("(TripleOp,)", "TripleOp", "'removes' of pass 'LowerTriple' to be a tuple"),
        ("    removes", "    def apply(self, op): ...\n    removes", "to take self, ctx and op"),
    ],
)
def test_a_pass_that_is_put_together_wrong_is_refused_where_it_is(
    save: Save, capsys: pytest.CaptureFixture[str], right: str, wrong: str, message: str
) -> None:
    graph, ops = save("in.mlir", WITH_OWN_OP), save("triple.py", OP)
    text = LOWERING.replace(right, wrong)
    lowering = save("lower_triple.py", text)
    line = text[: text.index("@dataclass(")].count("\n") + 1

    assert gawee_opt.main(["--load", ops, "--load", lowering, graph, "--lower-triple"]) == 1

    told = capsys.readouterr().err
    assert told.startswith(f"{lowering}:{line}:1: error: cannot load this file: expected ")
    assert message in told


MISTAKE = '''
from dataclasses import dataclass
from xdsl.ir import Block
from xdsl.passes import ModulePass

@dataclass(frozen=True)
class Mistake(ModulePass):
    """Leave a module that is wrong."""

    name = "mistake"

    def apply(self, ctx, op):
        function, *_ = op.ops
        relu, end = function.body.block.ops
        {body}
'''
RELU = "in.mlir:2:3: error: 'gawee.relu' op expected "
END = "in.mlir:3:3: error: 'func.return' op expected operand #0"
NOT_RUN = (
    "in.mlir:1:1: error: pass 'mistake' left a module that cannot be run: 'func.func' op expected"
)


@pytest.mark.parametrize(
    ("body", "flags", "message"),
    [
        (
            "relu.attributes['seen'] = 'yes'",
            "",
            f"{RELU}attribute 'seen' to be an attribute of xDSL, got Python's 'yes'",
        ),
        (
            "relu.results[0]._type = None",
            "",
            f"{RELU}type of result #0 to be an attribute of xDSL, got Python's None",
        ),
        (
            "relu.operands[0] = Block(arg_types=[relu.input.type]).args[0]",
            "",
            f"{RELU}operand #0 to be defined in its 'func.func', got a value from outside of it",
        ),
        (
            "relu.detach(); relu.erase(safe_erase=False)",
            "",
            f"{END} '%y' to be defined in its 'func.func', got the result of a 'gawee.relu' that was "
            "erased",
        ),
        (
            "end.operands[0] = type(relu)(relu.input).results[0]",
            "",
            f"{END} to be defined in its 'func.func', got the result of a 'gawee.relu' that is in no "
            "block",
        ),
        (
            "relu.detach(); relu.erase()",
            "",
            "hint: `rewriter.replace(op, new_ops)` erases an op, and puts",
        ),
        ("function.body.detach_block(0)", "--check-each", f"{NOT_RUN} '@main' to have a body"),
        ("function.body.detach_block(0)", "--prove-each", f"{NOT_RUN} '@main' to have a body"),
        (
            "function.body.block.insert_arg(relu.input.type, 0); function.update_function_type()",
            "--prove-each",
            f"{NOT_RUN} input 'arg0', got none",
        ),
    ],
)
def test_what_a_pass_leaves_wrong_is_told_at_the_op(
    save: Save, capsys: pytest.CaptureFixture[str], body: str, flags: str, message: str
) -> None:
    plugin, graph = save("mistake.py", MISTAKE.format(body=body)), save("in.mlir", GRAPH)

    assert gawee_opt.main([graph, "--load", plugin, "--mistake", *flags.split()]) == 1

    assert message in capsys.readouterr().err.replace(graph, "in.mlir")
