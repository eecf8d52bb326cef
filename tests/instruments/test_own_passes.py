"""None of our passes is flagged by `--check-each`: on networks, and on the modules of op tests."""

from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

import gawee_dialect
from examples.resnet18.write_graph import write_resnet18
from examples.unet.write_graph import write_unet
from gawee_dialect.instruments.check.each_pass import CheckSettings
from gawee_dialect.passes.numerics import keeps_special_values
from gawee_dialect.passes.pass_manager import parse_passes
from gawee_dialect.universe import OVERRIDES, PASSES, all_passes
from tests.effort import full_run, mostly_full, part_of
from tests.instruments.checking import check, modules_in

pytestmark = pytest.mark.usefixtures("runs_here", "unoptimized")

ROOT = Path(__file__).parent.parent.parent
FILECHECK = ROOT / "tests" / "filecheck"

FROM_GRAPHS = [
    *(FILECHECK / "passes" / "lower_to_linalg").glob("*.mlir"),
    *(FILECHECK / "dialect").glob("*.mlir"),
    *(FILECHECK / "pipelines").glob("*.mlir"),
    *(
        FILECHECK / "passes" / f"{name}.mlir"
        for name in (
            "canonicalize",
            "fold_batch_norm",
            "fold_conv_add",
            "hoist_parameter_computation",
        )
    ),
]
"""Modules at the gawee level."""

ON_BUFFERS = [
    *(
        FILECHECK / "passes" / f"{name}.mlir"
        for name in ("outline_kernels", "plan_memory", "lower_linalg_to_loops")
    ),
    FILECHECK / "dialect" / "linalg_xdsl_passes.mlir",
]

# Ops on Python values that nothing has made, ops on buffers and indices, functions of vectors
# and of tiles, kernels, which have passes of their own, sizes that have no number, and what cannot be
# lowered.
EXCLUDED = {"arith", "tensor", "python_value", "linalg", "linalg_xdsl_passes", "scf", "invalid"}
EXCLUDED |= {"affine", "memref", "kernel", "kernel_open", "winograd", "gawee_kernels_to_loops"}
EXCLUDED |= {"open_sizes", "vector", "amx"}


def on_graphs() -> list[Path]:
    return sorted(
        path
        for path in FROM_GRAPHS
        if not path.stem.endswith("_invalid") and path.stem not in EXCLUDED
    )


def names(path: Path) -> str:
    return str(path.relative_to(FILECHECK))


@pytest.mark.parametrize("path", mostly_full(on_graphs()), ids=names)
def test_op_test_modules_pass_from_graph_to_llvm(path: Path) -> None:
    for module in part_of([*modules_in(path)]):
        checked = check(module, "gawee-to-llvm")

        assert checked.steps[-1].name == "convert-to-llvm"
        assert checked.steps[-1].engine == "native"


@pytest.mark.parametrize("path", ON_BUFFERS, ids=names)
def test_op_test_modules_pass_from_buffers_to_loops(path: Path) -> None:
    for module in modules_in(path):
        checked = check(module, "outline-kernels,plan-memory,lower-linalg-to-loops,cse")

        engines = {step.engine for step in checked.steps if step.note != "unchanged"}
        assert engines <= {"interpreter", "native"}


def test_every_pass_of_ours_declares_its_numerics() -> None:
    made = [*parse_passes(",".join((*PASSES, *OVERRIDES)), all_passes())]

    assert len(made) == len(PASSES) + len(OVERRIDES)
    assert [each.name for each in made if not hasattr(each, "numerics")] == []


KEEPING = (
    *("assign-layouts", "assign-schedules", "bufferize", "canonicalize", "check-indices"),
    *("convert-scf-to-openmp", "convert-to-llvm", "cse", "hoist-allocas", "hoist-loop-invariants"),
    *(
        "hoist-parameter-computation",
        "inline",
        "join-positions",
        "lower-affine",
        "outline-kernels",
        "plan-memory",
        "split-prepare",
    ),
)
"""Passes that move, name and place what is computed."""


def test_passes_that_compute_nothing_declare_to_keep_special_values() -> None:
    made = parse_passes(",".join(KEEPING), all_passes())

    assert [each.name for each in made if not keeps_special_values(each)] == []


@full_run
def test_resnet18_at_full_size_is_checked_to_linalg_in_a_minute(tmp_path: Path) -> None:
    module = gawee_dialect.load(write_resnet18(tmp_path, seed=7, size=224)).module

    start = perf_counter()
    checked = check(module, "gawee-to-linalg")
    seconds = perf_counter() - start

    # It takes 6 s on two cores.
    assert seconds < 60
    assert checked.steps[0].note == ("too large for a second run, and one in f64: 11849640 numbers")
    assert [step.name for step in checked.steps][-1] == "hoist-parameter-computation"
    assert max(step.relative for step in checked.steps) > 0


@full_run
def test_resnet18_on_small_pictures_is_checked_with_its_weights(tmp_path: Path) -> None:
    model = gawee_dialect.load(write_resnet18(tmp_path, seed=7, batch=2, size=64, width=4))

    checked = check(model.module, "lower-to-linalg", CheckSettings(arrays=model.bound))

    engines = {step.name: step.engine for step in checked.steps if step.engine}
    assert engines["lower-to-linalg"] == "interpreter"


@full_run
def test_reduced_unet_is_checked_to_llvm(tmp_path: Path) -> None:
    # Its encoder is a ResNet, whose end is that of the digits' network.
    graph = write_unet(tmp_path, seed=7, batch=2, size=32, width=3, blocks=(1, 2, 1, 1))
    module = gawee_dialect.load(graph).module

    checked = check(module, "gawee-to-llvm", CheckSettings(seed=1))

    engines = {step.name: step.engine for step in checked.steps if step.engine}
    assert engines.get("lower-linalg-to-loops", "native") == "native"
    assert engines["lower-to-linalg"] == "interpreter"
    assert checked.steps[-1].name == "convert-to-llvm"
    assert max(step.relative for step in checked.steps) > 0


def test_digits_example_is_checked_on_its_data() -> None:
    folder = ROOT / "examples" / "digits"
    model = gawee_dialect.load(folder / "graph.json")
    images = np.load(folder / "digits_test.npz")["images"]
    arrays = {**model.bound, "x": images[0][None]}

    checked = check(model.module, "gawee-to-llvm", CheckSettings(arrays=arrays))

    assert checked.steps[-1].engine == "native"
