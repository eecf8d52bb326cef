"""Schedules of ops of linalg: what steps make is proved, run natively, and run by upstream.

Sums of up to 60 terms in f32: within 1e-5 of the range of what PyTorch computes.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.code_options import CodeOptions
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.model import Model
from gawee_dialect.parameters.given_inputs import random_inputs
from gawee_dialect.schedules.script import parse_script
from gawee_dialect.scheduling import schedule
from gawee_dialect.scheduling.structured import StructuredSchedule
from gawee_dialect.tools.run_session import input_specs
from tests.effort import mostly_full
from tests.passes.modules import evaluate, parse
from tests.schedules.test_transform_dialect import (
    CONV,
    EXP,
    SUM,
    function,
    loops_of,
    matmul,
    matmul_relu,
    sequence,
)
from tests.upstream_mlir import requires_upstream, run_mlir_opt, run_upstream

TWO_THREADS = CodeOptions(num_threads=2, algorithms="exact")

CHAIN = function(
    "9x14",
    "%0 = gawee.matmul %x, %w : (tensor<9x10xf32>, tensor<22x10xf32>) -> tensor<9x22xf32>\n"
    "%1 = gawee.relu %0 : (tensor<9x22xf32>) -> tensor<9x22xf32>\n"
    "%y = gawee.matmul %1, %v : (tensor<9x22xf32>, tensor<14x22xf32>) -> tensor<9x14xf32>",
    x="9x10",
    w="22x10",
    v="14x22",
)
CONVS = function(
    "1x3x6x8",
    "%0 = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : "
    "(tensor<1x2x10x12xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x8x10xf32>\n"
    "%y = gawee.conv %0, %v strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : "
    "(tensor<1x4x8x10xf32>, tensor<3x4x3x3xf32>) -> tensor<1x3x6x8xf32>",
    x="1x2x10x12",
    w="4x2x3x3",
    v="3x4x3x3",
)
STRIDED = function(
    "1x6x4x5",
    "%y = gawee.conv %x, %w strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : "
    "(tensor<1x2x9x11xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x4x5xf32>",
    x="1x2x9x11",
    w="6x2x3x3",
)
DIAMOND = function(
    "9x22",
    "%0 = gawee.exp %x : (tensor<9x22xf32>) -> tensor<9x22xf32>\n"
    "%1 = gawee.relu %0 : (tensor<9x22xf32>) -> tensor<9x22xf32>\n"
    "%2 = gawee.exp %0 : (tensor<9x22xf32>) -> tensor<9x22xf32>\n"
    "%y = gawee.add %1, %2 : (tensor<9x22xf32>, tensor<9x22xf32>) -> tensor<9x22xf32>",
    x="9x22",
)
PRODUCT, FUSED = matmul(15, 32, 12), matmul_relu(9, 22, 10)
M, G, C = "linalg.matmul *", "linalg.generic *", "linalg.conv*"
FIRST, SECOND, THIRD, LAST = (f"test.mlir:{line}:1" for line in (2, 3, 4, 5))

Steps = Callable[[StructuredSchedule], object]
CASES: dict[str, tuple[str, Steps]] = {
    "tiles of one size": (PRODUCT, lambda s: s[M].tile(d0=5, d1=16)),
    "a tile at the end that is smaller": (PRODUCT, lambda s: s[M].tile(d0=4, d1=10)),
    "tiles of tiles": (PRODUCT, lambda s: s[M].tile(d0=6).tile(d0=4, d1=16)),
    "tiles of a reduction": (PRODUCT, lambda s: s[M].tile(d0=5).tile(d2=4)),
    "a reduction outside": (PRODUCT, lambda s: s[M].tile(d2=5, d0=5)),
    "names": (PRODUCT, lambda s: s[M].name("m", "n", "k").tile(n=8, m=5)),
    "interchange": (PRODUCT, lambda s: s[M].tile(d0=5, d1=8).interchange("d1 by 8", "d0 by 5")),
    "peel": (PRODUCT, lambda s: s[M].tile(d0=4, d1=16).peel("d0 by 4")),
    "peel both": (PRODUCT, lambda s: s[M].tile(d0=4).peel("d0 by 4")),
    "peel an inner loop": (PRODUCT, lambda s: s[M].tile(d0=5, d1=12).peel("d1 by 12")),
    "peel an outer loop of tiles of tiles": (
        PRODUCT,
        lambda s: s[M].tile(d0=6).tile(d0=4).peel("d0 by 6"),
    ),
    "threads": (PRODUCT, lambda s: s[M].tile(d0=5).parallelize("d0 by 5")),
    "threads, fused": (
        FUSED,
        lambda s: s[G].tile(d0=3).fuse(M).parallelize("d0 by 3"),
    ),
    "stage": (PRODUCT, lambda s: s[M].tile(d1=16).stage(1).tile(d0=5)),
    "stage a tile at the end": (PRODUCT, lambda s: s[M].tile(d1=10).stage(1)),
    "bufferize": (PRODUCT, lambda s: s[M].tile(d0=5, d1=16).bufferize_at().tile(d2=3)),
    "bufferize what is carried": (PRODUCT, lambda s: s[M].tile(d2=4).bufferize_at()),
    "pad": (PRODUCT, lambda s: s[M].pad(d0=8).tile(d0=8)),
    "fuse": (FUSED, lambda s: s[G].tile(d0=3, d1=11).fuse(M)),
    "fuse a tile at the end": (FUSED, lambda s: s[G].tile(d0=4, d1=16).fuse(M)),
    "fuse and peel": (FUSED, lambda s: s[G].tile(d0=4).fuse(M).peel("d0 by 4")),
    "fuse two": (CHAIN, lambda s: s[THIRD].tile(d0=3).fuse(SECOND, FIRST)),
    "fuse a convolution with what is around": (
        CONVS,
        lambda s: s[SECOND].tile(d2=2, d3=4).fuse(FIRST),
    ),
    "fuse into the tiles of two consumers": (
        DIAMOND,
        lambda s: (s[SECOND].tile(d0=3).fuse(FIRST), s[THIRD].tile(d0=4).fuse(FIRST)),
    ),
    "fuse for two consumers in one tile": (
        DIAMOND,
        lambda s: s[LAST].tile(d0=4, d1=11).fuse(SECOND, THIRD, FIRST),
    ),
    "strides": (STRIDED, lambda s: s[C].tile(d1=2, d2=3)),
    "a convolution": (CONV, lambda s: s[C].tile(d1=3, d3=4).tile(d4=1)),
    "element by element": (EXP, lambda s: s[G].tile(d0=2, d2=12)),
    "sums": (SUM, lambda s: s["linalg.*"].tile(d0=4).tile(d2=8)),
    "vectors in a tile": (
        FUSED,
        lambda s: (s[G].tile(d0=3).fuse(M), s[M].name("m", "n", "k").tile(k=5).vectorize(n=8)),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_steps_are_proved_and_what_is_compiled_computes_the_same(name: str) -> None:
    text, steps = CASES[name]
    model = Model(parse(text))
    sch = schedule(model, TWO_THREADS, level="linalg")

    steps(sch)

    found = sch.prove()
    assert {verdict for _, _, verdict in found if not verdict.startswith("by rule")} == {"proved"}
    arrays = random_inputs(input_specs(model.entry.main.inputs))
    expected = evaluate(model.module, arrays)["y"]
    made = sch.model.compile(sch.code_options, cache=False)(*arrays.values())
    assert np.abs(made - expected).max() <= 1e-5 * np.ptp(expected)


@requires_upstream
@pytest.mark.parametrize("name", mostly_full(list(CASES)))
def test_upstream_runs_what_steps_make(name: str) -> None:
    text, steps = CASES[name]
    model = Model(parse(text))
    sch = schedule(model, TWO_THREADS, level="linalg")
    steps(sch)
    arrays = random_inputs(input_specs(model.entry.main.inputs))

    made = run_mlir_opt(str(sch.model.module), "--allow-unregistered-dialect")

    (y,) = run_upstream(made, list(arrays.values()), signature=str(sch.model.module))
    expected = evaluate(model.module, arrays)["y"]
    assert np.abs(y - expected).max() <= 1e-5 * np.ptp(expected)


def of(text: str) -> StructuredSchedule:
    return schedule(Model(parse(text)), TWO_THREADS, level="linalg")


def test_a_part_that_two_ops_read_is_computed_once() -> None:
    sch = of(DIAMOND)
    sch[LAST].tile(d0=4).fuse(SECOND, THIRD, FIRST)

    assert str(sch.model.module).count("math.exp") == 2


def test_a_producer_that_is_read_elsewhere_stays() -> None:
    sch = of(DIAMOND)
    sch[SECOND].tile(d0=3).fuse(FIRST)

    assert str(sch.model.module).count("math.exp") == 3


def test_tiles_of_one_size_are_kernels_and_what_is_staged_is_a_copy() -> None:
    sch = of(FUSED)
    sch[G].tile(d0=3).fuse(M)
    sch[M].stage(0).vectorize(d1=16)

    (kernel,) = sch.kernels
    assert kernel.description == "matmul 3x22 over 10 f32, maximumf"
    assert "vector = d1 by 16" in str(sch.kernels.module())
    assert "linalg.copy {gawee.keep}" in str(sch.kernels.module())
    assert sch[M].kernel is kernel


def test_tiles_of_a_reduction_are_steps_and_no_parts_of_a_batch() -> None:
    sch = of(PRODUCT)
    sch[M].tile(d0=5).tile(d2=4)
    text = str(sch.model.module)

    assert text.count("} {gawee.scan}") == text.count("} {gawee.scan, gawee.batch}") == 1
    assert [kernel.description for kernel in sch.kernels] == ["matmul 5x32 over 4 f32, addf"]


def test_the_loops_are_shown_with_what_they_touch() -> None:
    sch = of(FUSED)
    sch[G].name("m", "n").tile(m=4, n=11).fuse(M)

    assert (
        str(sch[G])
        == f"""linalg.generic 9x22 f32: {SECOND}
for m by 4: 3 times
  for n by 11: 2 times
    read y_init: 176 B
    linalg.fill a tile: 176 B
    read x: 160 B
    read w: 440 B
    linalg.matmul a tile: 176 B
    linalg.generic y: 176 B"""
    )
    assert "<pre>linalg.generic 9x22" in sch[G]._repr_html_()
    assert str(sch).startswith("linalg.matmul 9x22 over 10 f32")


def test_steps_are_undone() -> None:
    sch = of(FUSED)
    before = str(sch.model.module)
    sch[G].tile(d0=3).fuse(M)
    made = str(sch.model.module)

    sch[M].stage(0).undo()

    assert str(sch.model.module) == made
    sch[G].undo(2)
    assert str(sch.model.module) == before
    with pytest.raises(GaweeError, match="cannot undo 1 steps: expected at most 0"):
        sch[G].undo()


def test_a_program_is_a_value_that_other_networks_take() -> None:
    sch = of(FUSED)
    sch[G].name("m", "n").tile(m=3).fuse(M)
    sch[M].stage(0).vectorize(d1=16)
    assert sch.text() == (
        f'sch["{SECOND}"].name("m", "n").tile(m=3).fuse("{FIRST}")\n'
        f'sch["{FIRST}"].stage(0).vectorize(d1=16)\n'
    )

    other = of(FUSED).run(sch.text())

    assert str(other.model.module) == str(sch.model.module)
    assert other.code_options.schedules.entries == sch.code_options.schedules.entries
    assert other[G].script == sch[G].script
    for each in of(CHAIN).select("linalg.matmul *"):
        each.then(*parse_script("tile(d0=3)").steps)


@pytest.mark.parametrize("text", ["import os", 'sch["x"', 'sch["linalg.matmul *"].slice(d0=3)'])
def test_what_is_no_program_is_refused(text: str) -> None:
    with pytest.raises(GaweeError, match="expected a program of steps: "):
        of(FUSED).run(text)


REFUSED: dict[str, tuple[str, Steps, str]] = {
    "a step that is too large": (
        PRODUCT,
        lambda s: s[M].tile(d0=16),
        "cannot take the step tile(d0=16): expected a step of 1 to 15 in 'd0 by 16', got 16",
    ),
    "a dimension that is not there": (PRODUCT, lambda s: s[M].tile(q=2), "expected one of d0, d1"),
    "a producer without tiles": (FUSED, lambda s: s[G].fuse(M), "expected loops over tiles: the s"),
    "a producer that is not read": (
        CHAIN,
        lambda s: s[THIRD].tile(d0=3).fuse(FIRST),
        f"expected a producer that the tile reads, got '{FIRST}'",
    ),
    "a producer that is read whole": (
        CHAIN,
        lambda s: s[THIRD].tile(d1=7).fuse(SECOND),
        f"expected a tile that reads a part of '{SECOND}', got one that reads all",
    ),
    "a producer that is in tiles itself": (
        FUSED,
        lambda s: (s[M].tile(d0=3), s[G].tile(d0=3).fuse(M)),
        f"expected a producer outside of loops over tiles, got '{FIRST}'",
    ),
    "an op in several tiles": (
        DIAMOND,
        lambda s: (s[SECOND].tile(d0=3).fuse(FIRST), s[FIRST].tile(d1=11)),
        f"expected one op '{FIRST}', got 2: it is computed in several tiles",
    ),
    "an input that is not there": (PRODUCT, lambda s: s[M].stage(2), "expected one of 2 inputs"),
    "loops that are not there": (
        PRODUCT,
        lambda s: s[M].tile(d0=5).interchange("d0 by 5", "d1 by 4"),
        "expected one of the loops d0 by 5, got 'd1 by 4'",
    ),
    "a loop twice": (
        PRODUCT,
        lambda s: s[M].tile(d0=5).interchange("d0 by 5", "d0 by 5"),
        "expected each loop once",
    ),
    "something between loops": (
        PRODUCT,
        lambda s: s[M].tile(d0=5).tile(d1=16).interchange("d1 by 16", "d0 by 5"),
        "expected nothing between the loops, got 'tensor.extract_slice'",
    ),
    "threads of an inner loop": (
        PRODUCT,
        lambda s: s[M].tile(d0=5, d1=16).parallelize("d1 by 16"),
        "expected the outermost loop, d0 by 5, got d1 by 16",
    ),
    "threads of tiles of two sizes": (
        PRODUCT,
        lambda s: s[M].tile(d0=4).parallelize("d0 by 4"),
        "expected tiles of one size: the step peel(...) makes them so",
    ),
    "threads of a reduction": (
        PRODUCT,
        lambda s: s[M].tile(d2=4).parallelize("d2 by 4"),
        "expected a parallel dimension, got d2",
    ),
    "no smaller tile": (
        PRODUCT,
        lambda s: s[M].tile(d0=5).peel("d0 by 5"),
        "expected a last tile that is smaller, got 15 by 5",
    ),
    "a tile of a tile that has a size of its own": (
        PRODUCT,
        lambda s: s[M].tile(d0=4).tile(d0=3).peel("d0 by 3"),
        "expected a loop whose end is a number",
    ),
    "padding of a reduction": (
        PRODUCT,
        lambda s: s[M].pad(d2=5),
        "expected an axis of the output, got d2",
    ),
    "padding of what windows move over": (
        CONV,
        lambda s: s[C].pad(d3=4),
        "expected an axis of the output, got d3",
    ),
    "padding by nothing": (PRODUCT, lambda s: s[M].pad(d0=0), "expected a multiple of 1 or more"),
    "padding of a tile": (
        PRODUCT,
        lambda s: s[M].tile(d0=4).pad(d0=8),
        "expected a size that is known of d0",
    ),
    "vectors of what is no kernel": (
        PRODUCT,
        lambda s: s[M].tile(d0=4).vectorize(d1=16),
        f"expected one kernel '{FIRST}', got 0",
    ),
    "an op that is not there": (PRODUCT, lambda s: s["conv"], "expected one op 'conv', got 0"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_illegal_step_is_refused_and_changes_nothing(name: str) -> None:
    text, steps, message = REFUSED[name]
    sch = of(text)

    with pytest.raises(GaweeError) as caught:
        steps(sch)

    assert message in str(caught.value)
    taken = sch.text()
    assert str(of(text).run(taken).model.module) == str(sch.model.module)


def test_a_kernel_says_where_ops_can_be_fused() -> None:
    kernel = schedule(Model(parse(FUSED)), TWO_THREADS)["matmul *"]

    for steps in (
        parse_script('fuse("x")'),
        parse_script("stage(0)"),
        parse_script("bufferize_at()"),
    ):
        with pytest.raises(GaweeError, match=r'schedule\(..., level="linalg"\) has these'):
            kernel.then(*steps.steps)
    kernel.tile(d0=4).peel("d0 by 4")
    with pytest.raises(GaweeError, match="expected one of the loops d0 by 4"):
        kernel.peel("d0 by 5")


SCAN = """
func.func @main(%h: tensor<3x8xf32> {gawee.input = "h"}, %x: tensor<5x3x8xf32> {gawee.input = "x"},
                %w: tensor<8x8xf32> {gawee.parameter = "w"}) -> (tensor<3x8xf32> {gawee.output = "y"}) {
  %last = gawee.scan steps 5 initial(%h : tensor<3x8xf32>) over(%x : tensor<5x3x8xf32>) {
  ^bb0(%state: tensor<3x8xf32>, %now: tensor<3x8xf32>):
    %m = gawee.matmul %state, %w : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
    %s = gawee.add %m, %now : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    gawee.yield %s : tensor<3x8xf32>
  } -> tensor<3x8xf32>
  return %last : tensor<3x8xf32>
}
"""


def test_kernels_and_ops_inside_of_a_scan_are_found() -> None:
    weight = np.linspace(-0.4, 0.4, 64, dtype=np.float32).reshape(8, 8)
    model = Model(parse(SCAN), {"w": weight})
    state, inputs = (np.asarray(each) for each in (np.ones((3, 8), np.float32), weight[:5, None]))
    inputs = np.repeat(inputs, 3, axis=1)

    kernels = schedule(model, TWO_THREADS)
    kernels["matmul *"].tile(d0=3).unroll("d0")
    ops = schedule(model, TWO_THREADS, level="linalg")
    ops["linalg.generic *"].tile(d0=1).fuse("linalg.matmul *")

    expected = state
    for now in inputs:
        expected = expected @ weight.T + now
    options = replace(TWO_THREADS, schedules=kernels.database())
    for run in (model.compile(options), ops.model.compile(ops.code_options)):
        made = np.asarray(run(state, inputs), np.float32)
        assert np.abs(made - expected).max() <= 1e-5 * float(np.ptp(expected))
    assert "loops = [d0 by 3, d1, d2]" in str(kernels.module())
    assert {verdict for *_, verdict in ops.prove()} == {"proved"}


TILED = """
    %d, %tile = transform.structured.tile_using_for {0} tile_sizes {1} : (!transform.any_op) -> (!transform.any_op, {2})"""
FUSED_INTO = """
    %f{0}, %c{0} = transform.structured.fuse_into_containing_op %{0} into {1} : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)"""
MATCHED = """
    %{0} = transform.structured.match ops{{["{1}"]}} in %module : (!transform.any_op) -> !transform.any_op"""
SPLIT = """
    %{0}, %{1} = transform.split_handle %{2} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)"""
ONE, TWO = "!transform.any_op", "!transform.any_op, !transform.any_op"

SCRIPTS: dict[str, tuple[str, str, str]] = {
    "a producer of its own is fused": (
        CHAIN,
        MATCHED.format("all", "linalg.matmul")
        + MATCHED.format("relu", "linalg.generic")
        + SPLIT.format("first", "second", "all")
        + TILED.format("%second", "[3]", ONE)
        + FUSED_INTO.format("relu", "%tile")
        + FUSED_INTO.format("first", "%crelu"),
        f'sch["{THIRD}"].tile(d0=3).fuse("{SECOND}").fuse("{FIRST}")\n',
    ),
    "tiles in two dimensions": (
        FUSED,
        MATCHED.format("product", "linalg.matmul")
        + MATCHED.format("relu", "linalg.generic")
        + TILED.format("%relu", "[4, 11]", TWO).replace("%tile ", "%tile:2 ")
        + FUSED_INTO.format("product", "%tile#1"),
        f'sch["{SECOND}"].tile(d0=4, d1=11).fuse("{FIRST}")\n',
    ),
    "threads": (
        PRODUCT,
        MATCHED.format("product", "linalg.matmul")
        + """
    %t, %forall = transform.structured.tile_using_forall %product tile_sizes [5] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)""",
        f'sch["{FIRST}"].tile(d0=5).parallelize("d0 by 5")\n',
    ),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_of_the_transform_dialect_is_steps(name: str) -> None:
    text, body, program = SCRIPTS[name]
    sch = of(text)

    sch.run_transform(sequence(body))

    assert sch.text() == program


@requires_upstream
@pytest.mark.parametrize("name", list(SCRIPTS)[:2])
def test_upstream_makes_the_same_loops_of_a_script(name: str, tmp_path: Path) -> None:
    text, body, _ = SCRIPTS[name]
    sch = of(text)
    path = tmp_path / "script.mlir"
    path.write_text(sequence(body).text)
    flags = (
        "--allow-unregistered-dialect",
        f"--transform-preload-library=transform-library-paths={path}",
        "--transform-interpreter",
    )
    start = str(sch.model.module)

    theirs = run_mlir_opt(start, *flags)
    sch.run_transform(sequence(body))

    ours = run_mlir_opt(str(sch.model.module), "--allow-unregistered-dialect")
    assert loops_of(ours) == loops_of(theirs)
    in_loop = re.compile(r"^ {6,}.*linalg\.(matmul|generic)", re.MULTILINE)
    assert in_loop.findall(ours) == in_loop.findall(theirs)


def test_a_script_that_cannot_be_run_changes_nothing() -> None:
    sch = of(FUSED)
    body = MATCHED.format("relu", "linalg.generic") + TILED.format("%relu", "[3]", ONE)
    body += MATCHED.format("product", "linalg.matmul") + FUSED_INTO.format("relu", "%product")

    with pytest.raises(GaweeError, match=r"script.mlir:6:22: error: cannot run 'transform.struct"):
        sch.run_transform(sequence(body))

    assert sch.program == ()
