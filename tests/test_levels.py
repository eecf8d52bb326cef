"""What any level's text is, runs: printed by gawee-opt, read back by gawee-run, with weights.

The oracle is the graph, op by op in NumPy, which other tests hold against PyTorch. Tolerance: 1e-4
of the output's range, the accuracy that the project promises; sums in another order and Winograd's
convolution differ by about 1e-6 of it.
"""

from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from _pytest.mark import ParameterSet
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from examples.unet.write_graph import write_unet
from gawee_dialect.code_options import ALGORITHMS, CodeOptions
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.levels import Level, level_of, passes_to
from gawee_dialect.model import Model, load
from gawee_dialect.parameters.given_inputs import random_parameters
from gawee_dialect.passes.pass_manager import leaf_passes, takes_open_sizes
from gawee_dialect.tools import gawee_opt, gawee_run, gawee_translate
from gawee_dialect.tools.run_session import input_specs
from gawee_dialect.universe import make_context
from tests.archives import savez
from tests.closeness import assert_allclose
from tests.effort import full_run

ROOT = Path(__file__).parents[1]
TOLERANCE = 1e-4

Arrays = dict[str, NDArray[np.generic]]


@dataclass
class Network:
    """A graph, its weights and inputs as files, what it computes, and its text at each level."""

    folder: Path
    graph: Path
    weights: Path
    expected: Arrays
    skipped: Collection[str] = ()

    def text(self, level: str) -> Path:
        """Write the text of a level, made from that of the level before it, unless it is skipped."""
        before, passes = LEVELS[level]
        while before is not None and before in self.skipped:
            before, earlier = LEVELS[before]
            passes = f"{earlier},{passes}"
        path = self.folder / f"{level}.mlir"
        if not path.exists():
            if before is None:
                assert gawee_translate.main([str(self.graph), "-o", str(path)]) == 0
            else:
                arguments = [str(self.text(before)), "-p", passes, "-o", str(path)]
                assert gawee_opt.main(arguments) == 0
        return path

    def check(self, level: str, *flags: str) -> None:
        """Run the text of a level, and compare what it computes."""
        text, output = self.text(level), self.folder / "output.npz"
        arguments = ["--weights", str(self.weights), "--inputs", str(self.folder / "inputs.npz")]
        code = gawee_run.main([str(text), *arguments, "--output", str(output), *flags])
        assert code == 0
        with np.load(output) as outputs:
            assert sorted(outputs.files) == sorted(self.expected)
            for name, expected in self.expected.items():
                span = np.ptp(expected).item()
                assert_allclose(outputs[name], expected, rtol=0, atol=TOLERANCE * span)


LEVELS: dict[str, tuple[str | None, str]] = {
    "graph": (None, ""),
    "linalg": ("graph", "gawee-to-linalg"),
    "buffers": ("linalg", "bufferize"),
    "functions": ("buffers", "outline-kernels,plan-memory"),
    "loops": ("functions", "lower-linalg-to-loops,cse"),
    "llvm": ("loops", "convert-to-llvm"),
    "kernels": ("graph", "gawee-to-kernels"),
    "kernel-buffers": ("kernels", "bufferize"),
    "kernel-functions": ("kernel-buffers", "outline-kernels,plan-memory"),
    "kernel-loops": (
        "kernel-functions",
        "lower-winograd-to-loops,lower-kernels-to-loops,lower-linalg-to-loops,cse",
    ),
    "omp": ("kernel-loops", "expand-math,convert-scf-to-openmp"),
    "kernel-llvm": ("omp", "convert-to-llvm"),
}
"""By name, the level that it is made from, and how."""

INTERPRETED = ("linalg", "buffers", "functions", "kernels", "kernel-buffers", "kernel-functions")
"""What NumPy runs in whole arrays; loops of networks take it minutes."""


def digits(folder: Path) -> Path:
    return ROOT / "examples" / "digits" / "graph.json"


def unet(folder: Path) -> Path:
    # Its encoder is a ResNet; the end of one, a mean and a product, is that of the digits' network.
    return write_unet(folder, seed=2, size=32, width=4, blocks=(1, 1, 1, 1))


def transformer_block(folder: Path) -> Path:
    return ROOT / "tests" / "networks" / "transformer_block.json"


def lstm(folder: Path) -> Path:
    return ROOT / "tests" / "networks" / "lstm.json"


NETWORKS: dict[Callable[[Path], Path], tuple[Sequence[str], Sequence[str]]] = {
    digits: (
        ("graph", "linalg", "kernels", "kernel-functions", "kernel-llvm"),
        tuple(LEVELS),
    ),
    transformer_block: (("llvm", "kernels"), ("graph", "buffers", "loops", "kernel-functions")),
    lstm: (
        ("kernel-llvm", "kernel-functions"),
        ("linalg", "functions", "kernel-buffers", "kernel-loops", "omp"),
    ),
    unet: ((), ("functions", "kernel-llvm")),
}
"""Levels at which a network runs always, and in the full run; its text passes all in between.

One runs at every level, and two others at half of them each.
"""


def cases(levels: Collection[str]) -> list[ParameterSet]:
    """Return the pairs of a network and a level at which it runs."""
    return [
        pytest.param(
            network,
            level,
            marks=() if level in always else full_run,
            id=f"{network.__name__}-{level}",
        )
        for network, (always, full) in NETWORKS.items()
        for level in levels
        if level in always or level in full
    ]


@pytest.fixture(scope="module")
def network(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Network:
    folder = tmp_path_factory.mktemp(request.param.__name__)
    graph: Path = request.param(folder)
    has_weights = graph.parent == folder or request.param is digits
    model = load(graph, None if has_weights else {})
    weights = graph.parent if has_weights else folder / "weights.npz"
    if not has_weights:
        model.parameters = random_parameters(input_specs(model.entry.weights), 3)
        savez(weights, **model.parameters)
    generator = np.random.default_rng(4)
    block = model.function.body.block
    inputs: Arrays = {
        each.name: generator.normal(size=tensor_shape(block.args[each.index])).astype(np.float32)
        for each in model.entry.main.inputs
    }
    savez(folder / "inputs.npz", **inputs)
    # Its loops have no ops that those of the others have not, and take the longest to read.
    skipped = ("kernel-loops", "omp") if request.param is unet else ()
    return Network(folder, graph, weights, model.run(inputs), skipped)


@pytest.fixture(scope="module", autouse=True)
def read_once() -> Generator[None]:
    """Read each text once for all tools: a copy of a module takes a tenth of the time."""

    @cache
    def read(text: str, name: str) -> ModuleOp:
        return parse_mlir(make_context(), text, name)

    def copy(ctx: Context, text: str, name: str, line_offset: int = 0) -> ModuleOp:
        assert line_offset == 0
        return read(text, name).clone()

    with pytest.MonkeyPatch.context() as patch:
        for where in ("tools.gawee_opt", "frontends.mlir_graph"):
            patch.setattr(f"gawee_dialect.{where}.parse_mlir", copy)
        yield


@pytest.mark.usefixtures("unoptimized")
@pytest.mark.parametrize(("network", "level"), cases(LEVELS), indirect=["network"])
def test_the_text_of_every_level_runs_natively(network: Network, level: str) -> None:
    network.check(level)


@pytest.mark.parametrize(("network", "level"), cases(INTERPRETED), indirect=["network"])
def test_the_text_of_whole_array_levels_runs_in_the_interpreter(
    network: Network, level: str
) -> None:
    network.check(level, "--level", "gawee")


def test_passes_in_front_may_go_further_than_the_graph(tmp_path: Path) -> None:
    graph = ROOT / "examples" / "digits"
    flags = ["--level", "loops", "--compare", "llvm", "--tolerance", "1e-5"]

    code = gawee_run.main([str(graph / "graph.json"), "-p", "gawee-to-loops", *flags])

    assert code == 0


BY_HAND = """
func.func private @scale(%m: memref<3x5xf32>, %by: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c5 step %c1 {
      %v = memref.load %m[%i, %j] : memref<3x5xf32>
      %s = arith.mulf %v, %by : f32
      memref.store %s, %m[%i, %j] : memref<3x5xf32>
    }
  }
  return
}
func.func @main(%a: memref<3x7xf32>, %b: memref<7x5xf32>, %by: f32, %c: memref<3x5xf32>) {
  %t = memref.alloc() : memref<3x5xf32>
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%t : memref<3x5xf32>)
  linalg.matmul ins(%a, %b : memref<3x7xf32>, memref<7x5xf32>) outs(%t : memref<3x5xf32>)
  func.call @scale(%t, %by) : (memref<3x5xf32>, f32) -> ()
  linalg.add ins(%t, %c : memref<3x5xf32>, memref<3x5xf32>) outs(%c : memref<3x5xf32>)
  return
}
"""


@pytest.mark.parametrize("level", ["gawee", "loops", "llvm"])
def test_a_function_on_buffers_written_by_hand_runs(level: str) -> None:
    # What it writes and nothing marks starts as what is given, or zeros, and is an output.
    model = Model(parse_mlir(make_context(), BY_HAND, "by_hand.mlir"))
    generator = np.random.default_rng(5)
    a, b, c = (generator.normal(size=s).astype(np.float32) for s in ((3, 7), (7, 5), (3, 5)))
    kept = c.copy()
    inputs = {"a": a, "b": b, "by": np.float32(2.5)}

    from_zeros = model.run(inputs, level)
    updated = model.run({**inputs, "c": c}, level)

    # Sums of seven products of float32, in another order.
    product = a.astype(np.float64) @ b * 2.5
    assert list(from_zeros) == list(updated) == ["c"]
    assert_allclose(from_zeros["c"], product, rtol=1e-5, atol=1e-5)
    assert_allclose(updated["c"], product + c, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(c, kept)


def test_a_module_does_not_go_back_to_a_level(capsys: pytest.CaptureFixture[str]) -> None:
    model = Model(parse_mlir(make_context(), BY_HAND, "by_hand.mlir"))

    assert level_of(model.module) is Level.BUFFERS
    with pytest.raises(GaweeError) as error:
        model.lowered("linalg")
    assert str(error.value) == (
        "error: cannot go back to level 'linalg' from a module at level 'buffers'\n"
        "hint: as it is (gawee), or later: loops, llvm"
    )


def test_the_interpreter_leaves_the_llvm_dialect_to_native_code() -> None:
    text = "llvm.func @main() {\n  llvm.return\n}"
    model = Model(parse_mlir(make_context(), text, "llvm.mlir"))

    with pytest.raises(GaweeError, match="unsupported by the interpreter") as error:
        model.run({}, "gawee")
    assert "hint: the llvm dialect runs as native code: --level llvm" in str(error.value)


@pytest.mark.parametrize("algorithms", ALGORITHMS)
@pytest.mark.parametrize("start", [Level.GAWEE, Level.LINALG, Level.KERNELS])
def test_all_passes_to_code_take_open_sizes(start: Level, algorithms: str) -> None:
    passes = leaf_passes(passes_to(Level.LLVM, CodeOptions(algorithms=algorithms), start))

    assert [each.name for each in passes if not takes_open_sizes(each)] == []
