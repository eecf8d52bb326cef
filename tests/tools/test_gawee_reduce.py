"""gawee-reduce: what is left of a failing module is small, verifies, and still fails."""

import sys
from collections.abc import Callable, Sequence
from math import prod
from pathlib import Path
from time import monotonic
from typing import ClassVar

import pytest
from hypothesis import given
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from examples.resnet18.write_graph import write_resnet18
from examples.unet.write_graph import write_unet
from gawee_dialect.diagnostics import verify_module
from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.scan import ScanOp
from gawee_dialect.dialect.types import is_tensor
from gawee_dialect.frontends.formats import open_graph
from gawee_dialect.frontends.mlir_text import parse_mlir, print_mlir
from gawee_dialect.reduce.draft import body_ops, reducible_function
from gawee_dialect.reduce.failure import Failure, PipelineError, signature
from gawee_dialect.reduce.reducer import Reducer
from gawee_dialect.reduce.sizes import Sizes
from gawee_dialect.source import Source
from gawee_dialect.tools import gawee_opt, gawee_reduce
from gawee_dialect.universe import make_context
from tests.dialect.random_ops import OPS, module_of
from tests.effort import examples, full_run, mostly_full

WRONG = str(Path(__file__).parent / "wrong_passes.py")

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*argv: str | Path) -> tuple[int, str, str]:
        code = gawee_reduce.main([str(word) for word in argv])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def parse(text: str) -> ModuleOp:
    return parse_mlir(make_context(), text, "reduced.mlir")


def ops_of(module: ModuleOp) -> list[str]:
    names = (op.name for op in module.walk())
    return [name for name in names if name not in ("builtin.module", "func.func", "func.return")]


def elements_of(module: ModuleOp) -> int:
    """Return the elements of the largest tensor, whether an op makes it or the caller."""
    values = [
        *(result for op in module.walk() for result in op.results),
        *(arg for op in module.ops if isinstance(op, FuncOp) for arg in op.args),
    ]
    sizes = (prod(value.type.get_shape()) for value in values if is_tensor(value.type))
    return max(sizes, default=0)


class Holds(Failure):
    """A module fails where it has ops of all these names."""

    def __init__(self, *names: str):
        self.names = names

    def describe(self) -> str:
        return f"has {', '.join(self.names)}"

    def holds(self, module: ModuleOp) -> bool:
        return set(self.names) <= set(ops_of(module))


@pytest.mark.parametrize(
    "flags",
    [
        ("--crash",),
        ("--wrong-numbers", "--numeric"),
        ("--leave-invalid",),
        ("--canonicalize", "--wrong-numbers", "--gawee-to-linalg", "--numeric"),
    ],
)
@full_run
def test_resnet18_shrinks_to_one_small_op_in_under_two_minutes(
    run: Run, tmp_path: Path, flags: Sequence[str]
):
    graph = write_resnet18(tmp_path, with_weights=False)
    started = monotonic()

    code, out, err = run(graph, "--load", WRONG, *flags)

    assert code == 0, err
    assert monotonic() - started < 120
    reduced = parse(out)
    # The convolution, and for --leave-invalid one that finds its operand of another type.
    assert len(ops_of(reduced)) <= 2
    assert elements_of(reduced) <= 8
    assert "input:             69 ops" in err
    again = tmp_path / "again.mlir"
    again.write_text(out)
    assert run(again, "--load", WRONG, *flags)[0] == 0


def test_the_reduced_module_crashes_gawee_opt_in_the_same_place(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    target = tmp_path / "small.mlir"

    run(
        *(write_resnet18(tmp_path, with_weights=False), "--load", WRONG, "--crash"),
        *("--error", "stride", "-o", target),
    )

    assert gawee_opt.main(["--load", WRONG, "--crash", str(target)]) == 1
    assert "KeyError: 'stride'" in capsys.readouterr().err


def reduce_to(path: Path, failure: Failure) -> ModuleOp:
    text = path.read_text()
    module = open_graph(Source.of_text(text, path.name)).module()
    assert failure.holds(module)
    reduced = Reducer(module, failure).reduce()
    verify_module(reduced)
    assert failure.holds(reduced)
    return reduced


@pytest.mark.parametrize(
    ("names", "elements"),
    [
        (("gawee.interpolate", "gawee.cat"), 2),
        (("gawee.max_pool", "gawee.add"), 1),
        (("gawee.batch_norm", "gawee.conv", "gawee.relu"), 1),
    ],
)
def test_unet_shrinks_to_the_ops_that_the_failure_needs(
    tmp_path: Path, names: Sequence[str], elements: int
):
    reduced = reduce_to(write_unet(tmp_path, with_weights=False), Holds(*names))

    assert sorted(ops_of(reduced)) == sorted(names)
    assert elements_of(reduced) <= elements


class HasGroups(Failure):
    """A module fails where a convolution has more than one group."""

    def describe(self) -> str:
        return "has groups"

    def holds(self, module: ModuleOp) -> bool:
        convolutions = (op for op in module.walk() if isinstance(op, ConvOp))
        return any(op.groups.value.data > 1 for op in convolutions)


@pytest.mark.parametrize(
    ("weight", "groups", "channels"), [((24, 4, 3, 5), 6, 24), ((12, 1, 3, 3), 12, 12)]
)
def test_groups_shrink_with_the_channels(weight: Sequence[int], groups: int, channels: int):
    type = "x".join(map(str, weight))
    module = parse(f"""
      func.func @main(%x: tensor<3x{channels}x9x11xf32>, %w: tensor<{type}xf32>)
          -> tensor<3x{weight[0]}x{10 - weight[2]}x{12 - weight[3]}xf32> {{
        %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups {groups}
          : (tensor<3x{channels}x9x11xf32>, tensor<{type}xf32>)
          -> tensor<3x{weight[0]}x{10 - weight[2]}x{12 - weight[3]}xf32>
        func.return %y : tensor<3x{weight[0]}x{10 - weight[2]}x{12 - weight[3]}xf32>
      }}""")

    reduced = Reducer(module, HasGroups()).reduce()

    verify_module(reduced)
    (conv,) = (op for op in reduced.walk() if isinstance(op, ConvOp))
    assert conv.groups.value.data == 2
    assert elements_of(reduced) == 2


@pytest.mark.parametrize("cls", mostly_full([*OPS]), ids=lambda cls: cls.name)
def test_every_op_shrinks_to_its_smallest_form(cls: type[Operation]):
    @given(OPS[cls])
    @examples(10)
    def check(op: Operation) -> None:
        module = module_of(op)
        before = elements_of(module)

        reduced = Reducer(module, Holds(cls.name)).reduce()

        verify_module(reduced)
        scans = [op for op in reduced.walk() if isinstance(op, ScanOp)]
        assert [name for name in ops_of(reduced) if name != "gawee.yield"] == [cls.name]
        # A zero size stays; max_pool may keep a window that ceil_mode clips; what a scan makes too.
        assert elements_of(reduced) <= (before if scans else min(before, 4))

    check()


def test_the_body_of_a_recurrence_loses_ops():
    module = parse("""
func.func @main(%h: tensor<3xf32> {gawee.input = "h"}, %x: tensor<5x3xf32> {gawee.input = "x"})
    -> (tensor<3xf32> {gawee.output = "y"}) {
  %y = gawee.scan steps 5 initial(%h : tensor<3xf32>) over(%x : tensor<5x3xf32>) {
  ^bb0(%state: tensor<3xf32>, %now: tensor<3xf32>):
    %a = gawee.mul %state, %now : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %b = gawee.exp %a : (tensor<3xf32>) -> tensor<3xf32>
    %c = gawee.tanh %b : (tensor<3xf32>) -> tensor<3xf32>
    %d = gawee.add %c, %a : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    gawee.yield %d : tensor<3xf32>
  } -> tensor<3xf32>
  return %y : tensor<3xf32>
}
""")

    reduced = Reducer(module, Holds("gawee.tanh")).reduce()

    verify_module(reduced)
    assert ops_of(reduced) == ["gawee.scan", "gawee.tanh", "gawee.yield"]


@pytest.mark.parametrize("cls", OPS, ids=lambda cls: cls.name)
def test_a_module_of_other_sizes_verifies_or_is_not_proposed(cls: type[Operation]):
    @given(OPS[cls])
    @examples(10)
    def check(op: Operation) -> None:
        module = module_of(op)
        function = reducible_function(module)
        assert function is not None
        sizes = Sizes(module, function)
        assert print_mlir(module) == print_mlir(sizes.resized({}) or ModuleOp([]))
        for choice in sizes.choices():
            for size in (1, choice.size - 1):
                candidate = sizes.resized({choice.slot: size})
                if candidate is not None:
                    verify_module(candidate)

    check()


def test_a_module_below_the_graph_loses_ops_and_functions(tmp_path: Path):
    graph, lowered = tmp_path / "graph.mlir", tmp_path / "lowered.mlir"
    path = write_resnet18(tmp_path, size=32, width=4, with_weights=False)
    text = path.read_text()
    graph.write_text(print_mlir(open_graph(Source.of_text(text, path.name)).module()))
    assert gawee_opt.main([str(graph), "--gawee-to-linalg", "-o", str(lowered)]) == 0

    reduced = reduce_to(lowered, Holds("linalg.pooling_nchw_max", "linalg.fill"))

    assert "@prepare" not in print_mlir(reduced)
    function = reducible_function(reduced)
    assert function is not None
    assert [op.name for op in body_ops(function)] == ["linalg.fill", "linalg.pooling_nchw_max"]


def test_a_module_of_loops_in_memory_loses_ops(tmp_path: Path):
    path = tmp_path / "loops.mlir"
    path.write_text("""
      func.func @main(%x: memref<4xf32> {gawee.input = "x"},
                      %y: memref<4xf32> {gawee.output = "y"}) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c4 = arith.constant 4 : index
        scf.for %i = %c0 to %c4 step %c1 {
          %v = memref.load %x[%i] : memref<4xf32>
          memref.store %v, %y[%i] : memref<4xf32>
        }
        %w = memref.load %x[%c1] : memref<4xf32>
        memref.store %w, %y[%c0] : memref<4xf32>
        func.return
      }""")

    reduced = reduce_to(path, Holds("scf.for"))

    assert ops_of(reduced) == ["scf.for", "scf.yield"]


BLOCKS = """
  func.func @main(%x: i32, %y: i32, %flag: i1) -> (i32, i32) {
    %two = arith.constant 2 : i32
    cf.cond_br %flag, ^less(%x : i32), ^more(%y, %two : i32, i32)
  ^less(%a: i32):
    %b = arith.muli %a, %two : i32
    cf.br ^more(%b, %y : i32, i32)
  ^more(%c: i32, %d: i32):
    %e = arith.muli %c, %d : i32
    %f = arith.divsi %e, %two : i32
    func.return %f, %d : i32, i32
  }"""


def test_a_function_of_several_blocks_loses_branches_blocks_and_results(tmp_path: Path):
    path = tmp_path / "blocks.mlir"
    path.write_text(BLOCKS)

    reduced = reduce_to(path, Holds("arith.divsi"))

    (function,) = (op for op in reduced.ops if isinstance(op, FuncOp))
    kept = [op.name for op in function.body.block.ops if op.name != "arith.constant"]
    assert kept == ["arith.divsi", "func.return"]
    assert not function.function_type.outputs


def test_a_branch_that_fails_is_kept(tmp_path: Path):
    path = tmp_path / "blocks.mlir"
    path.write_text(BLOCKS)

    reduced = reduce_to(path, Holds("cf.cond_br"))

    (function,) = (op for op in reduced.ops if isinstance(op, FuncOp))
    assert not any(block.args for block in [*function.body.blocks][1:])
    assert "arith.muli" not in ops_of(reduced)


class PreparedHolds(Holds):
    """One that counts the modules that it is asked to prepare together."""

    prepared: ClassVar[list[int]] = []

    def prepare(self, modules: Sequence[ModuleOp]) -> None:
        self.prepared.append(len(modules))


def test_cuts_that_are_each_possible_are_made_together(tmp_path: Path):
    path = tmp_path / "many.mlir"
    ops = "\n".join(f"%m{i} = arith.muli %x, %y : i32" for i in range(64))
    path.write_text(f"""func.func @main(%x: i32, %y: i32) {{
      %a = arith.divsi %x, %y : i32
      {ops}
      %b = arith.divsi %a, %y : i32
      func.return
    }}""")
    module = open_graph(Source.of_text(path.read_text(), path.name)).module()

    reducer = Reducer(module, PreparedHolds("arith.divsi"))

    assert "arith.muli" not in ops_of(reducer.reduce())
    assert reducer.tests < 40  # one by one, they are more than 64
    assert max(PreparedHolds.prepared) > 1


SMALL = """func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = gawee.sqrt %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.mlir"
    path.write_text(SMALL)
    return path


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], Path]:
    def write(body: str) -> Path:
        path = tmp_path / "test.py"
        path.write_text(
            f"#!{sys.executable}\nimport sys\ntext = open(sys.argv[1]).read()\n{body}\n"
        )
        path.chmod(0o755)
        return path

    return write


def test_a_script_says_what_failing_is(run: Run, small: Path, script: Callable[[str], Path]):
    code, out, err = run(small, "--test", script("sys.exit('gawee.sqrt' not in text)"))

    assert code == 0
    assert ops_of(parse(out)) == ["gawee.sqrt"]
    assert "failure: test.py exits with 0" in err


def test_a_script_that_takes_too_long_says_no(run: Run, small: Path, script: Callable[[str], Path]):
    body = "import time\nif 'gawee.relu' not in text: time.sleep(60)"

    code, out, _ = run(small, "--test", script(body), "--test-time-limit=2")

    assert code == 0
    assert ops_of(parse(out)) == ["gawee.relu"]


def test_after_the_time_limit_the_smallest_module_so_far_is_the_result(
    run: Run, small: Path, script: Callable[[str], Path]
):
    code, out, err = run(small, "--test", script("pass"), "--time-limit=0.001")

    assert code == 0
    assert ops_of(parse(out)) == ["gawee.relu", "gawee.sqrt"]
    assert "out of time:" in err


def test_a_pass_that_never_ends_is_stopped(run: Run, small: Path, tmp_path: Path):
    plugin = tmp_path / "forever.py"
    plugin.write_text("""
from xdsl.passes import ModulePass

class Forever(ModulePass):
    name = "forever"

    def apply(self, ctx, op):
        names = [inner.name for inner in op.walk()]
        while "gawee.relu" not in names:
            pass
        raise ValueError("wrong")
""")

    code, out, _ = run(small, "--load", plugin, "--forever", "--test-time-limit=0.5")

    assert code == 0
    assert ops_of(parse(out)) == ["gawee.relu"]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ((), "error: expected passes, or --test=SCRIPT, got neither"),
        (("--cse", "--test=ls"), "error: expected passes or --test=SCRIPT, got both"),
        (("--cse",), "to fail, got no error"),
        (("--lower-to-linalg", "--numeric"), "to fail, got equal outputs"),
        (("--load", WRONG, "--crash-on-relu", "--numeric"), "to fail, got 'relu'"),
        (("--cse", "--error=wrong"), "to fail, got no error"),
        (("--test=false",), "to fail, got another exit code than 0 of false"),
        (("--test=./nowhere.sh",), "error: cannot run './nowhere.sh': it is no program"),
        (("--crahs",), "unknown flag or pass '--crahs'"),
        (("--cse", "--time-limit=0"), "expected a positive number, got '0'"),
        (("--cse", "--numeric", "--error=x"), "not allowed with argument"),
    ],
)
def test_what_cannot_be_reduced_is_one_error(
    run: Run, small: Path, flags: Sequence[str], message: str
):
    code, out, err = run(small, *flags)

    assert (code, out) == (1, "")
    assert message in err


def test_a_program_that_cannot_run_is_an_error(run: Run, small: Path, tmp_path: Path):
    broken = tmp_path / "broken"
    broken.write_text("#!/nowhere/interpreter\n")
    broken.chmod(0o755)

    code, _, err = run(small, "--test", broken)

    assert code == 1
    assert "error: cannot run '" in err


def test_text_without_a_function_is_an_error(run: Run, tmp_path: Path):
    path = tmp_path / "empty.mlir"
    path.write_text("builtin.module {\n}\n")

    code, _, err = run(path, "--cse")

    assert code == 1
    assert "expected a function that ends with func.return in" in err


def test_the_first_error_is_the_one_that_is_kept():
    error = PipelineError(())
    assert error.describe() == "no error"
    assert not error.holds(parse(SMALL))


def test_an_error_stays_the_same_when_its_sizes_change():
    from gawee_dialect.diagnostics import GaweeError

    one = GaweeError("expected shape 4x5 of 'tensor<4x5xf32>', got [1, 2]")
    other = GaweeError("expected shape 2 of 'tensor<2xf32>', got [7]")

    assert signature(one) == signature(other)
    assert signature(one) != signature(GaweeError("expected rank 4, got 2"))
