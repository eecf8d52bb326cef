"""An algorithm from a file takes part in everything: no file of the package knows it by name."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.func import FuncOp

from gawee_dialect.code_options import CodeOptions
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.levels import Level
from gawee_dialect.model import Model
from gawee_dialect.passes.pipelines import kernels_to_loops
from gawee_dialect.schedules.database import Database
from gawee_dialect.schedules.file import read_schedules
from gawee_dialect.target.description import HOST
from gawee_dialect.target.machine import Machine, find_processor
from gawee_dialect.tools.plugin_file import loaded_files
from gawee_dialect.tuning.lowering import Lowering
from gawee_dialect.tuning.search import Settings, Tuner, choices_of
from tests.closeness import assert_allclose
from tests.effort import full_run
from tests.passes.modules import parse

ROOT = Path(__file__).parent.parent.parent
FILE = ROOT / "examples" / "split_sum.py"
# A product whose model says so, one of each kind of layout, and what follows the sum.
NETWORK = """
func.func @main(%x: tensor<2x16x5x7xf32> {gawee.input = "x"}, %w: tensor<24x16x3x3xf32> {gawee.parameter = "w"},
                %b: tensor<24xf32> {gawee.parameter = "b"}, %v: tensor<8x24x1x1xf32> {gawee.parameter = "v"})
    -> (tensor<2x8x5x7xf32> {gawee.output = "y"}) {
  %0 = gawee.conv %x, %w bias %b strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<2x16x5x7xf32>, tensor<24x16x3x3xf32>, tensor<24xf32>) -> tensor<2x24x5x7xf32>
  %1 = gawee.relu %0 : (tensor<2x24x5x7xf32>) -> tensor<2x24x5x7xf32>
  %2 = gawee.conv %1, %v strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x24x5x7xf32>, tensor<8x24x1x1xf32>) -> tensor<2x8x5x7xf32>
  func.return %2 : tensor<2x8x5x7xf32>
}
"""


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


INPUTS = {"x": drawn(2, 16, 5, 7)}


def model() -> Model:
    parameters = {"w": drawn(24, 16, 3, 3), "b": drawn(24), "v": drawn(8, 24, 1, 1)}
    return Model(parse(NETWORK), parameters)


def expected() -> np.ndarray:
    """The network in f64, from its definition."""
    parameters = {name: array.astype(np.float64) for name, array in model().bound.items()}
    padded = np.pad(INPUTS["x"].astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    hidden = np.einsum("nchwij,fcij->nfhw", windows, parameters["w"])
    hidden = np.maximum(hidden + parameters["b"][:, None, None], 0)
    return np.einsum("nchw,fc->nfhw", hidden, parameters["v"][:, :, 0, 0])


def assert_is_expected(y: npt.ArrayLike) -> None:
    # Sums of 144 and 24 products in f32, to a part of the largest.
    assert_allclose(y, expected(), rtol=0, atol=2e-5 * np.abs(expected()).max())


@contextmanager
def split(tmp_path: Path, parts: int = 4, target: str = HOST) -> Iterator[Database]:
    """The algorithm loaded, and a database that chooses it for every kernel that it is for."""
    with loaded_files([str(FILE)]):
        processor = find_processor(target)
        path = tmp_path / "choices.jsonl"
        choice = {"algorithm": "split-sum", "parts": parts}
        keys = Lowering(model().module, Machine(target)).with_choice()
        lines = ({"key": key, "target": processor.cpu, "choice": choice} for key in keys)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        yield read_schedules(path)


@pytest.mark.parametrize("threads", [1, 2])
def test_it_computes_natively_what_it_replaces(threads: int, tmp_path: Path) -> None:
    with split(tmp_path) as schedules:
        run = model().compile(CodeOptions(schedules=schedules, num_threads=threads), cache=False)

        assert_is_expected(run(INPUTS["x"]))


@pytest.mark.parametrize("level", ["kernels", pytest.param("loops", marks=full_run)])
def test_it_means_the_same_at_every_level(level: str, tmp_path: Path) -> None:
    with split(tmp_path) as schedules:
        options = CodeOptions(schedules=schedules)

        assert_is_expected(model().runner(level, options=options)(INPUTS)["y"])


def test_it_reads_and_writes_layouts_and_has_scratch_memory(tmp_path: Path) -> None:
    with split(tmp_path, target="skylake-avx512") as schedules:
        options = CodeOptions(target="skylake-avx512", schedules=schedules)
        kernels = str(model().lowered(Level.KERNELS, options))
        loops = model().lowered(Level.LOOPS, options)

    # Channels in blocks of 8, which divide 24, and a halo that the next padding would read.
    assert kernels.count('"gawee.split_sum"(') == 2
    assert "floordiv 8" in kernels
    functions = {op.sym_name.data: op for op in loops.ops if isinstance(op, FuncOp)}
    assert {"split_sum_0", "split_sum_1"} <= set(functions)
    first = [str(type) for type in functions["split_sum_0"].function_type.inputs]
    assert "memref<4x2x24x5x7xf32>" in first


def test_its_cost_is_in_the_profile(tmp_path: Path) -> None:
    with split(tmp_path) as schedules:
        times = model().profile(INPUTS, options=CodeOptions(schedules=schedules), runs=1)

    flops = {each.what: each.work.flops for each in times if each.work is not None}
    points = 2 * 24 * 5 * 7
    assert flops["split_sum_0"] == 2 * points * 16 * 9 + 4 * points


def test_without_a_choice_the_model_decides() -> None:
    with loaded_files([str(FILE)]):
        assert "split_sum" not in str(model().lowered(Level.KERNELS))


def test_a_choice_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    with (
        split(tmp_path, parts=7) as schedules,
        pytest.raises(Exception, match="'parts' to divide 16, got 7"),
    ):
        model().lowered(Level.KERNELS, CodeOptions(schedules=schedules))


@full_run
def test_tuning_measures_it_beside_the_others(tmp_path: Path) -> None:
    with loaded_files([str(FILE)]):
        tuned = model()
        settings = Settings(most=6, pattern="conv *")
        tuner = Tuner(tuned.module, tuned.bound, INPUTS, tmp_path / "tuned.jsonl", settings)
        phase = next(tuner.phases())
        kernel = phase.kernels[0]
        op = tuner.lowering.with_choice()[kernel.key]
        possible = {each.name for each in tuner.lowering.algorithms(op, None)}
        outcome = phase.tune(kernel, lambda text: None)

        assert {"direct", "split-sum"} <= possible
        assert outcome.candidates >= 4
        assert read_schedules(tuner.path).find(kernel.key, find_processor(HOST).cpu) is not None


def test_the_listing_names_it(tmp_path: Path) -> None:
    with split(tmp_path) as schedules:
        lines = [entry.line() for entry in choices_of(model().module, schedules)]

    assert sum('"algorithm": "split-sum", "parts": 4' in line for line in lines) == 2


def test_it_is_gone_where_its_file_is_not_loaded() -> None:
    with loaded_files([str(FILE)]):
        pass

    lowering = Lowering(model().module, Machine())
    names = {
        each.name
        for op in lowering.with_choice().values()
        for each in lowering.algorithms(op, None)
    }
    assert "split-sum" not in names


def test_an_algorithm_without_a_lowering_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "half.py"
    path.write_text(FILE.read_text().partition("class LowerSplitSum(Pattern)")[0])

    with (
        loaded_files([str(path)]),
        pytest.raises(GaweeError, match="expected a pass 'lower-split-sum-to-loops' for what"),
    ):
        kernels_to_loops()
