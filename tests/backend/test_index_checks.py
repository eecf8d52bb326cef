"""Indices that come at run time and are out of range: an error everywhere, and no foreign memory.

Expected results are NumPy's, expected messages those of the graph's own interpretation.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray

from gawee_dialect.code_options import EXACT, FAST, PLAIN, CodeOptions
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.levels import Level
from gawee_dialect.model import Model
from gawee_dialect.passes.tensors.assign_schedules import loop_order
from tests.passes.modules import parse

Array = NDArray[Any]

GRAPH = """
func.func @main(%x: tensor<5x7xf32> {gawee.input = "x"}, %i: tensor<4xi64> {gawee.input = "i"}, %j: tensor<3x2xi32> {gawee.input = "j"}, %k: tensor<5x2xi64> {gawee.input = "k"})
    -> (tensor<4x7xf32> {gawee.output = "rows"}, tensor<3xf32> {gawee.output = "elements"}, tensor<5x2xf32> {gawee.output = "along"}, tensor<5x7xf32> {gawee.output = "written"}, tensor<5x7xf32> {gawee.output = "added"}) {
  %rows = gawee.gather %x, %i axis 0 : (tensor<5x7xf32>, tensor<4xi64>) -> tensor<4x7xf32>
  %elements = gawee.gather_nd %x, %j batch_dims 0 : (tensor<5x7xf32>, tensor<3x2xi32>) -> tensor<3xf32>
  %along = gawee.gather_elements %x, %k axis 1 : (tensor<5x7xf32>, tensor<5x2xi64>) -> tensor<5x2xf32>
  %written = gawee.scatter_elements %x, %k, %along axis 1 reduction "none" : (tensor<5x7xf32>, tensor<5x2xi64>, tensor<5x2xf32>) -> tensor<5x7xf32>
  %added = gawee.scatter_nd %x, %j, %elements reduction "add" : (tensor<5x7xf32>, tensor<3x2xi32>, tensor<3xf32>) -> tensor<5x7xf32>
  func.return %rows, %elements, %along, %written, %added : tensor<4x7xf32>, tensor<3xf32>, tensor<5x2xf32>, tensor<5x7xf32>, tensor<5x7xf32>
}
"""

GOOD = {
    "x": np.arange(35, dtype=np.float32).reshape(5, 7),
    "i": np.array([0, -5, 4, 2]),
    "j": np.array([[0, 6], [-5, -7], [4, 0]], np.int32),
    "k": np.array([[0, 6], [1, -7], [2, 3], [5, -1], [0, 4]]),
}


def expected() -> dict[str, Array]:
    x, i, j, k = GOOD.values()
    written, added, pairs = x.copy(), x.copy(), tuple(j.T)
    np.put_along_axis(written, k % 7, np.take_along_axis(x, k % 7, 1), 1)
    np.add.at(added, pairs, x[pairs])
    along = np.take_along_axis(x, k % 7, 1)
    return dict(
        zip(
            ("rows", "elements", "along", "written", "added"),
            (x[i], x[pairs], along, written, added),
            strict=True,
        )
    )


WAYS = {
    "kernels": CodeOptions(num_threads=1),
    "threads": CodeOptions(algorithms=EXACT, num_threads=2),
    "plain loops": CodeOptions(algorithms=PLAIN),
}
LEVELS = (Level.GAWEE, Level.KERNELS, Level.LOOPS)


@cache
def runner(way: str) -> Any:
    """Return what runs the graph; compiled once for indices in range, and for others."""
    model = Model(parse(GRAPH))
    if way in LEVELS:
        return model.runner(way)
    with patch.object(loop_order, "WORTH_A_TEAM", 0):  # however small, what can is shared
        return model.compile(WAYS[way], cache=False).run


@pytest.mark.parametrize("way", [*WAYS, *LEVELS])
def test_indices_in_range_are_taken_as_they_are(way: str) -> None:
    for name, result in runner(way)(GOOD).items():
        np.testing.assert_array_equal(result, expected()[name])


LARGEST, LEAST = 2**63 - 1, -(2**63)
WRONG = [
    ("i", (2,), 5, "'gawee.gather' op cannot run: index 5 is out of bounds for axis 0 with size 5"),
    ("i", (0,), -6, "'gawee.gather' .* index -6 is out of bounds for axis 0 with size 5"),
    ("i", (3,), LARGEST, f"'gawee.gather' .* index {LARGEST} is out of bounds for axis 0"),
    ("i", (3,), LEAST, f"'gawee.gather' .* index {LEAST} is out of bounds for axis 0"),
    ("j", (1, 1), 7, "'gawee.gather_nd' .* index 7 is out of bounds for axis 1 with size 7"),
    ("j", (1, 0), 5, "'gawee.gather_nd' .* index 5 is out of bounds for axis 0 with size 5"),
    ("j", (2, 0), -(2**31), "'gawee.gather_nd' .* index -2147483648 is out of bounds for axis 0"),
    ("k", (4, 1), 7, "'gawee.gather_elements' .* index 7 is out of bounds for axis 1 with size 7"),
]


def with_wrong(name: str, place: tuple[int, ...], index: int) -> Mapping[str, Array]:
    array = GOOD[name].copy()
    array[place] = index
    return {**GOOD, name: array}


@pytest.mark.parametrize("way", [*WAYS, *LEVELS])
def test_an_index_out_of_range_is_an_error(way: str) -> None:
    run = runner(way)
    for name, place, index, message in WRONG:
        with pytest.raises(GaweeError, match=message):
            run(with_wrong(name, place, index))

    # What was wrong in one call is forgotten in the next.
    np.testing.assert_array_equal(run(GOOD)["added"], expected()["added"])


def test_all_checks_that_fail_are_told_at_once() -> None:
    run = runner("kernels")
    inputs = {**with_wrong("i", (0,), 5), "k": with_wrong("k", (0, 0), 9)["k"]}

    with pytest.raises(GaweeError) as caught:
        run(inputs)

    assert re.findall(r"index (\d) is out", str(caught.value)) == ["5", "9"]


def test_each_call_has_checks_of_its_own() -> None:
    model = Model(parse(GRAPH)).compile(CodeOptions(num_threads=1), cache=False)

    def call(number: int) -> int | None:
        try:
            model.run(GOOD if number % 2 else with_wrong("i", (0,), 5 + number))
        except GaweeError as error:
            return int(str(error).split("index ")[1].split()[0])
        return None

    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(call, range(200)))
    assert told == [None if number % 2 else 5 + number for number in range(200)]


TABLE = """
func.func @main(%x: tensor<5x3xf32> {gawee.input = "x"}, %i: tensor<4xi64> {gawee.parameter = "i"}) -> (tensor<4x3xf32> {gawee.output = "y"}) {
  %y = gawee.gather %x, %i axis 0 : (tensor<5x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}
"""


@pytest.mark.parametrize("algorithms", [FAST, PLAIN])
def test_indices_among_the_parameters_are_checked_too(algorithms: str) -> None:
    x = np.arange(15, dtype=np.float32).reshape(5, 3)
    model = Model(parse(TABLE), {"i": np.array([0, 1, -5, 4])})
    compiled = model.compile(CodeOptions(algorithms=algorithms), cache=False)

    np.testing.assert_array_equal(compiled(x), x[[0, 1, 0, 4]])
    compiled.rebind({"i": np.array([0, 1, 2, -7])})
    with pytest.raises(GaweeError, match="index -7 is out of bounds for axis 0 with size 5"):
        compiled(x)


def test_code_from_the_cache_checks_as_well() -> None:
    for _ in range(2):
        with pytest.raises(GaweeError, match="index 5 is out of bounds for axis 0 with size 5"):
            Model(parse(GRAPH)).compile().run(with_wrong("i", (2,), 5))


STEPS = """
func.func @main(%x: tensor<5x3xf32> {gawee.input = "x"}, %i: tensor<7x2xi64> {gawee.input = "i"}) -> (tensor<7x2x3xf32> {gawee.output = "y"}) {
  %y = gawee.scan steps 7 over(%i : tensor<7x2xi64>) {
  ^bb0(%now: tensor<2xi64>):
    %rows = gawee.gather %x, %now axis 0 : (tensor<5x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
    gawee.yield %rows : tensor<2x3xf32>
  } -> tensor<7x2x3xf32>
  func.return %y : tensor<7x2x3xf32>
}
"""


@pytest.mark.parametrize("algorithms", [FAST, PLAIN])
def test_indices_of_every_step_are_checked(algorithms: str) -> None:
    x, indices = GOOD["x"][:, :3], np.random.default_rng(0).integers(-5, 5, (7, 2))
    compiled = Model(parse(STEPS)).compile(CodeOptions(algorithms=algorithms), cache=False)

    np.testing.assert_array_equal(compiled(x, indices), x[indices])
    for step in (0, 3, 6):
        wrong = indices.copy()
        wrong[step, 1] = 5 + step
        with pytest.raises(GaweeError, match=f"index {5 + step} is out of bounds for axis 0"):
            compiled(x, wrong)


@pytest.mark.parametrize("algorithms", [FAST, PLAIN])
def test_trusted_indices_have_no_check(algorithms: str) -> None:
    options = CodeOptions(algorithms=algorithms, trust_indices=True)
    compiled = Model(parse(GRAPH)).compile(options, cache=False)

    assert not compiled.signature.of_role("indices")
    np.testing.assert_array_equal(compiled.run(GOOD)["rows"], expected()["rows"])


EXTRACTS = """
func.func @main(%x: tensor<5x7xf32> {gawee.input = "x"}, %i: tensor<4xi64> {gawee.input = "i"}) -> (tensor<4x7xf32> {gawee.output = "y"}) {
  %e = tensor.empty() : tensor<4x7xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x7xf32>) {
  ^bb0(%o: f32):
    %r = linalg.index 0 : index
    %c = linalg.index 1 : index
    %n = tensor.extract %i[%r] : tensor<4xi64>
    %p = arith.index_cast %n : i64 to index
    %v = tensor.extract %x[%p, %c] : tensor<5x7xf32>
    linalg.yield %v : f32
  } -> tensor<4x7xf32>
  func.return %y : tensor<4x7xf32>
}
"""


@pytest.mark.parametrize("algorithms", [FAST, PLAIN])
def test_what_linalg_extracts_is_checked_as_well(algorithms: str) -> None:
    x, options = GOOD["x"], CodeOptions(algorithms=algorithms)
    compiled = Model(parse(EXTRACTS)).compile(options, cache=False)

    np.testing.assert_array_equal(compiled(x, np.array([4, 0, 3, 1])), x[[4, 0, 3, 1]])
    for index in (5, -1, LARGEST, LEAST):  # nothing counts from the end here
        message = f"'tensor.extract' .* index {index} is out of bounds for axis 0 with size 5"
        with pytest.raises(GaweeError, match=message):
            compiled(x, np.array([4, 0, index, 1]))


def test_a_network_with_checks_can_be_profiled() -> None:
    nodes = Model(parse(GRAPH)).profile(GOOD, runs=1)

    assert nodes
    assert all(node.seconds > 0 for node in nodes)


ROWS = """
func.func @main(%x: tensor<5x3xf32> {gawee.input = "x"}, %i: tensor<2x1xi64> {gawee.input = "i"}, %u: tensor<2x3xf32> {gawee.input = "u"}) -> (tensor<5x3xf32> {gawee.output = "y"}) {
  %y = gawee.scatter_nd %x, %i, %u reduction "none" : (tensor<5x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<5x3xf32>
  func.return %y : tensor<5x3xf32>
}
"""

MAIN_C = """
#include <stdio.h>
#include <stdlib.h>
#include "rows.h"
int main(int argc, char **argv) {
    float x[15] = {0}, u[6] = {1, 2, 3, 4, 5, 6}, around[45];
    int64_t i[2] = {0, atoll(argv[argc - 1])};
    for (int n = 0; n < 45; n++) around[n] = 7;
    void *workspace = aligned_alloc(64, (rows_workspace_size() + 64) / 64 * 64);
    int status = rows_run(x, i, u, around + 15, NULL, workspace), touched = 0;
    for (int n = 0; n < 15; n++) touched += (around[n] != 7) + (around[30 + n] != 7);
    printf("%d %d %g\\n", status, touched, around[27]);
    return 0;
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.parametrize("algorithms", [FAST, PLAIN])
def test_c_gets_a_status_and_nothing_else_is_written(algorithms: str, tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(MAIN_C)

    options = CodeOptions(algorithms=algorithms, num_threads=1)
    Model(parse(ROWS)).save(tmp_path, ["obj"], options, name="rows")

    build = ["cc", "-std=c11", "-Wall", "-Werror", "main.c", "rows.o", "-lm", "-o", "main"]
    subprocess.run(build, cwd=tmp_path, check=True)
    for index, status in (
        ("4", "0"),
        ("-1", "0"),
        ("5", "1"),
        ("9", "1"),
        ("-6", "1"),
        ("-9", "1"),
    ):
        run = subprocess.run(["./main", index], cwd=tmp_path, capture_output=True, text=True)
        assert run.stdout.split()[:2] == [status, "0"]
        assert status == "1" or run.stdout.split()[2] == "4"
    header = (tmp_path / "rows.h").read_text()
    assert "1: an index of 'gawee.scatter_nd' (test.mlir:3:3) for axis 0 is out of bounds" in header
    (check,) = json.loads((tmp_path / "rows.json").read_text())["checks"]
    assert check["status"] == 1
    assert (check["op"], check["axes"], check["sizes"]) == ("gawee.scatter_nd", [0], [5])
