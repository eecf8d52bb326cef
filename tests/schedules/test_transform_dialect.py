"""Schedules as scripts of MLIR's transform dialect, run by upstream's `mlir-opt` 22.

What upstream makes of a script has the loops of the schedule, and computes what NumPy does: in f32,
within 1e-5 of the range, some roundings of sums of up to 60 terms. All of it, vectors of several
dimensions and their masks among it, is proved in exact arithmetic to compute what linalg does.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.code_options import CodeOptions
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.kernels.schedule import ScheduleAttr
from gawee_dialect.instruments.check.failure import CheckFailure
from gawee_dialect.model import Model
from gawee_dialect.parameters.given_inputs import random_inputs
from gawee_dialect.scheduling import schedule
from gawee_dialect.scheduling.kernels import KernelSchedule
from gawee_dialect.source import Source
from gawee_dialect.tools.run_session import input_specs
from tests.effort import PART, full_run
from tests.instruments.prove.proving import prove
from tests.passes.modules import evaluate, parse
from tests.upstream_mlir import PASSES, requires_upstream, run_mlir_opt, run_upstream

EXACT = CodeOptions(num_threads=1, algorithms="exact")
VECTOR_PASSES = ("canonicalize", "func.func(lower-vector-mask,lower-vector-multi-reduction)")
LOWER_VECTORS = ("convert-vector-to-scf", "convert-vector-to-llvm", "convert-ub-to-llvm")


def function(result: str, body: str, **arguments: str) -> str:
    given = ", ".join(
        f'%{name}: tensor<{shape}xf32> {{gawee.input = "{name}"}}'
        for name, shape in arguments.items()
    )
    type = f"tensor<{result}xf32>"
    attribute = '{gawee.output = "y"}'
    return f"func.func @main({given}) -> ({type} {attribute}) {{\n{body}\nreturn %y : {type}\n}}"


def matmul(m: int, n: int, k: int) -> str:
    types = f"(tensor<{m}x{k}xf32>, tensor<{n}x{k}xf32>) -> tensor<{m}x{n}xf32>"
    return function(f"{m}x{n}", f"%y = gawee.matmul %x, %w : {types}", x=f"{m}x{k}", w=f"{n}x{k}")


def matmul_relu(m: int, n: int, k: int) -> str:
    body = f"%0 = gawee.matmul %x, %w : (tensor<{m}x{k}xf32>, tensor<{n}x{k}xf32>) -> tensor<{m}x{n}xf32>\n"
    body += f"%y = gawee.relu %0 : (tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>"
    return function(f"{m}x{n}", body, x=f"{m}x{k}", w=f"{n}x{k}")


def convolution(rows: int, columns: int) -> str:
    types = f"(tensor<2x2x{rows + 1}x{columns + 2}xf32>, tensor<3x2x2x3xf32>) -> tensor<2x3x{rows}x{columns}xf32>"
    return function(
        f"2x3x{rows}x{columns}",
        "%y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : "
        + types,
        x=f"2x2x{rows + 1}x{columns + 2}",
        w="3x2x2x3",
    )


def exponential(i: int, j: int, k: int) -> str:
    type = f"tensor<{i}x{j}x{k}xf32>"
    return function(f"{i}x{j}x{k}", f"%y = gawee.exp %x : ({type}) -> {type}", x=f"{i}x{j}x{k}")


CONV, EXP = convolution(4, 5), exponential(5, 7, 36)
SUM = function(
    "5x7",
    "%y = gawee.reduce_sum %x axes [2] : (tensor<5x7x40xf32>) -> tensor<5x7xf32>",
    x="5x7x40",
)

Steps = Callable[[KernelSchedule], object]
PRODUCT, FUSED = matmul(35, 48, 60), matmul_relu(20, 33, 30)
# A proof takes the iterations of loops one by one, and those of vectors at once.
FEW, FEW_SUMS, FEW_FUSED = matmul(15, 32, 3), matmul(7, 20, 12), matmul_relu(9, 22, 4)
FEWER, FEWER_SUMS, FEWER_FUSED = matmul(13, 10, 3), matmul(5, 7, 12), matmul_relu(5, 7, 4)
FEWER_CONV, FEWER_EXP = convolution(2, 5), exponential(3, 7, 5)
SCHEDULES: dict[str, tuple[str, Steps]] = {
    "product as it is": (FEWER, lambda s: s),
    "product, tiled once": (FEWER, lambda s: s.tile(d0=6, d1=4)),
    "product, tiled twice": (FEWER, lambda s: s.tile(d0=12).tile(d0=6, d1=4)),
    "product, interchanged": (FEWER, lambda s: s.tile(d0=7).interchange("d1", "d0")),
    "product, split": (FEWER, lambda s: s.split(d1=4, d2=2)),
    "product, unrolled": (FEW, lambda s: s.tile(d0=5, d1=16).unroll("d0", "d1")),
    "product in vectors": (FEW, lambda s: s.vectorize(d1=16)),
    "product in registers": (
        FEW,
        lambda s: s.tile(d0=5, d1=16).vectorize(d1=16).unroll("d0"),
    ),
    "product in registers with a rest": (
        FEW,
        lambda s: s.tile(d0=6, d1=24).vectorize(d1=16).unroll("d0", "d1"),
    ),
    "product by threads": (FEWER, lambda s: s.tile(d0=5).parallelize("d0 by 5")),
    "product by threads, in vectors": (
        FEW,
        lambda s: s.tile(d0=5, d1=16).vectorize(d1=16).unroll("d0").parallelize("d0 by 5"),
    ),
    "product, padded": (FEWER, lambda s: s.pad(d0=6, d1=4).tile(d0=6, d1=4)),
    "product, padded, in registers": (
        FEW,
        lambda s: s.pad(d0=9).tile(d0=9, d1=16).vectorize(d1=16).unroll("d0"),
    ),
    "convolution, its channels padded": (FEWER_CONV, lambda s: s.pad(d1=4).tile(d1=4)),
    "convolution, its columns padded": (FEWER_CONV, lambda s: s.pad(d3=3).tile(d3=3)),
    "exponential, padded": (FEWER_EXP, lambda s: s.pad(d1=8).tile(d1=8)),
    "product, its sum in parts": (FEWER_SUMS, lambda s: s.split_reduction(d2=4)),
    "product, its sum in parts, tiled": (
        FEWER_SUMS,
        lambda s: s.split_reduction(d2=3).tile(d0=3, d1=4),
    ),
    "product and relu": (FEWER_FUSED, lambda s: s.tile(d0=3, d1=4)),
    "product and relu, interchanged": (FEWER_FUSED, lambda s: s.interchange("d1", "d0")),
    "product and relu in registers": (
        FEW_FUSED,
        lambda s: s.tile(d0=4, d1=16).vectorize(d1=8).unroll("d0", "d1"),
    ),
    "convolution, tiled": (FEWER_CONV, lambda s: s.tile(d1=2, d3=4)),
    "convolution, channels outside": (FEWER_CONV, lambda s: s.interchange("d2", "d1")),
    "exponential": (FEWER_EXP, lambda s: s.tile(d1=3)),
    "exponential in vectors": (EXP, lambda s: s.tile(d0=2).vectorize(d2=8).unroll("d0")),
    "exponential by threads": (EXP, lambda s: s.parallelize("d0", "d1").vectorize(d2=16)),
    "sums": (SUM, lambda s: s.tile(d0=4)),
    "sums in parts": (SUM, lambda s: s.split_reduction(d2=8).tile(d1=3)),
}


def the_kernel(model: Model) -> KernelSchedule:
    (kernel,) = schedule(model, EXACT).select(where=lambda each: each.kind != "copy")
    return kernel


def loops_of(text: str) -> list[tuple[int | None, int, bool]]:
    """Return the loops of a module, as they come: the end where it is constant, step, threads."""
    constants = {
        name: int(value)
        for name, value in re.findall(r"(%\S+) = arith\.constant (\d+) : index", text)
    }
    found: list[tuple[int | None, int, bool]] = []
    for line in text.splitlines():
        loop = re.search(r"scf\.for \S+ = \S+ to (\S+) step (\S+)", line)
        if loop is not None:
            found.append((constants.get(loop[1]), constants[loop[2]], False))
        threads = re.search(r"scf\.forall \(\S+\) = \(0\) to \((\d+)\) step \((\d+)\)", line)
        if threads is not None:
            found.append((int(threads[1]), int(threads[2]), True))
        threads = re.search(r"scf\.forall \(\S+\) in \((\d+)\)", line)
        if threads is not None:
            found.append((int(threads[1]), 1, True))
    return found


def expected_loops(kernel: KernelSchedule) -> list[tuple[int | None, int, bool]]:
    """Return the loops of a schedule; one over a part whose size changes has no constant end."""
    nest = kernel.loops
    found: list[tuple[int | None, int, bool]] = []
    for depth, loop in enumerate(nest.schedule.loops):
        outer = [each for each in nest.schedule.loops[:depth] if each.dim == loop.dim]
        size, is_ragged = nest.sizes[loop.dim], False
        for each in outer:
            is_ragged |= size % each.step != 0
            size = each.step
        if depth < nest.schedule.parallel:  # upstream counts iterations
            found.append((ceil(size / loop.step), 1, True))
        else:
            found.append((None if is_ragged else size, loop.step, False))
    return found


def with_script(kernel: KernelSchedule, script: str, folder: Path) -> str:
    """Return what upstream makes of the network in linalg by a script."""
    path = folder / "script.mlir"
    path.write_text(script)
    return run_mlir_opt(
        str(kernel.network.linalg),
        "--allow-unregistered-dialect",
        f"--transform-preload-library=transform-library-paths={path}",
        "--transform-interpreter",
    )


@cache
def scheduled(name: str) -> tuple[Model, KernelSchedule, str]:
    """Return a network, its kernel with the steps of a schedule, and what upstream makes of it."""
    text, steps = SCHEDULES[name]
    model = Model(parse(text))
    kernel = the_kernel(model)
    steps(kernel)
    with TemporaryDirectory() as folder:
        return model, kernel, with_script(kernel, kernel.transform_script(), Path(folder))


@requires_upstream
@pytest.mark.parametrize("name", SCHEDULES)
def test_upstream_makes_the_loops_and_the_numbers_of_a_schedule(name: str) -> None:
    model, kernel, made = scheduled(name)
    arrays = random_inputs(input_specs(model.entry.main.inputs))

    assert loops_of(made)[: len(kernel.loops.schedule.loops)] == expected_loops(kernel)
    assert ("vector." in made) == (kernel.loops.schedule.vector is not None)
    expected = evaluate(model.module, arrays)["y"]
    first, *rest = PASSES
    at = rest.index("convert-scf-to-cf")
    passes = (*VECTOR_PASSES, first, *rest[:at], *LOWER_VECTORS, *rest[at:])
    (y,) = run_upstream(
        made, list(arrays.values()), passes=passes, signature=str(kernel.network.linalg)
    )
    assert np.abs(y - expected).max() <= 1e-5 * np.ptp(expected)


@dataclass(frozen=True)
class _Replaced(ModulePass):
    """What upstream made of a module, in its place."""

    text: str
    name = "transform-interpreter"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        made = parse(self.text).body
        op.body.detach_block(op.body.block)
        op.body.add_block(made.detach_block(made.block))


@requires_upstream
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if "threads" in name or number % PART == 0 else full_run)
        for number, name in enumerate(SCHEDULES)
    ],
)
def test_what_upstream_makes_of_a_schedule_is_proved(name: str) -> None:
    _, kernel, made = scheduled(name)

    proof = prove(kernel.network.linalg.clone(), "", _Replaced(made))

    assert [step.verdict.value for step in proof.steps[1:]] == ["proved"], proof.steps


WRONG: dict[str, tuple[str, Steps, str, str]] = {
    "the last tile has a row too few": (
        FEWER,
        lambda s: s.tile(d0=6),
        "(-d0 + 13, 6)",
        "(-d0 + 12, 6)",
    ),
    "one column is read for all": (
        FEW,
        lambda s: s.tile(d0=5, d1=16).vectorize(d1=16).unroll("d0"),
        "(d0, d1) -> (0, d0, d1)",
        "(d0, d1) -> (0, 0, d1)",
    ),
    "a mask has a lane too few": (
        EXP,
        lambda s: s.vectorize(d2=16),
        "(-d0 + 36, 16)",
        "(-d0 + 35, 16)",
    ),
    "sums forget what there was": (FEW, lambda s: s.vectorize(d1=16), "<add>", "<mul>"),
}


@requires_upstream
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_not_proved(name: str, tmp_path: Path) -> None:
    text, steps, right, wrong = WRONG[name]
    kernel = the_kernel(Model(parse(text)))
    steps(kernel)
    made = with_script(kernel, kernel.transform_script(), tmp_path)
    assert right in made

    with pytest.raises(CheckFailure, match="which are different numbers in exact arithmetic"):
        prove(kernel.network.linalg, "", _Replaced(made.replace(right, wrong)))


def test_a_padded_kernel_of_two_ops_is_refused() -> None:
    kernel = the_kernel(Model(parse(FUSED)))
    kernel.pad(d0=6)

    with pytest.raises(GaweeError, match="cannot write padding before another op in the same loop"):
        kernel.transform_script()


def test_padding_that_windows_read_beyond_is_refused() -> None:
    kernel = the_kernel(Model(parse(CONV)))
    kernel.pad(d3=4)

    with pytest.raises(GaweeError, match="cannot write padding of columns of windows"):
        kernel.transform_script()


@pytest.mark.parametrize(
    ("steps", "what"),
    [
        (lambda s: s.pack(0), "operands that are packed"),
        (lambda s: s.prefetch(1, along="d1"), "a prefetch"),
    ],
)
def test_what_no_op_says_is_refused(steps: Steps, what: str) -> None:
    kernel = the_kernel(Model(parse(PRODUCT)))
    steps(kernel)

    message = f"test.mlir:2:1: error: .*cannot write {what} in the transform dialect: no op is written for it"
    with pytest.raises(GaweeError, match=message):
        kernel.transform_script()


# Scripts that others write, run on our kernels.

MATCH = """
    %product = transform.structured.match ops{["linalg.matmul"]} in %module : (!transform.any_op) -> !transform.any_op"""
CONV_MATCH = MATCH.replace("linalg.matmul", "linalg.conv_2d_nchw_fchw")
OP, ONE, TWO = "!transform.any_op", "(!transform.any_op)", "(!transform.any_op, !transform.any_op)"
REGISTERS = f"""{MATCH}
    // A tile of 5 by 16, in vectors.
    %tile, %loops:2 = transform.structured.tile_using_for %product tile_sizes [5, 16, 0] : {ONE} -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.structured.vectorize %tile vector_sizes [5, 16, 60] : {OP}"""

SCRIPTS: dict[str, tuple[str, str, str]] = {
    "tile": (
        PRODUCT,
        f"""{MATCH}
    %tile, %rows, %columns = transform.structured.tile_using_for %product tile_sizes [6, 16]
        : {ONE} -> (!transform.any_op, !transform.any_op, !transform.any_op)""",
        "loops = [d0 by 6, d1 by 16, d0, d1, d2]",
    ),
    "tile in another order": (
        PRODUCT,
        f"""{MATCH}
    %tile, %l:2 = transform.structured.tile_using_for %product tile_sizes [6, 16, 0] interchange = [1, 0] : {ONE} -> (!transform.any_op, !transform.any_op, !transform.any_op)""",
        "loops = [d1 by 16, d0 by 6, d0, d1, d2]",
    ),
    "tile twice, and a tile of the reduction": (
        PRODUCT,
        f"""{MATCH}
    %outer, %l0 = transform.structured.tile_using_for %product tile_sizes [12, 0, 0] : {ONE} -> {TWO}
    %inner, %l1:2 = transform.structured.tile_using_for %outer tile_sizes [6, 0, 4] : {ONE} -> (!transform.any_op, !transform.any_op, !transform.any_op)""",
        "loops = [d0 by 12, d0 by 6, d0, d1, d2 by 4, d2]",
    ),
    "interchange": (
        PRODUCT,
        f"""{MATCH}
    %generic = transform.structured.generalize %product : {ONE} -> {OP}
    %swapped = transform.structured.interchange %generic iterator_interchange = [1, 0, 2] : {ONE} -> {OP}""",
        "loops = [d1, d0, d2]",
    ),
    "interchange, then tile": (
        PRODUCT,
        f"""{MATCH}
    %generic = transform.structured.generalize %product : {ONE} -> {OP}
    %swapped = transform.structured.interchange %generic iterator_interchange = [1, 0, 2] : {ONE} -> {OP}
    %tile, %l:2 = transform.structured.tile_using_for %swapped tile_sizes [16, 5] : {ONE} -> (!transform.any_op, !transform.any_op, !transform.any_op)""",
        "loops = [d1 by 16, d0 by 5, d1, d0, d2]",
    ),
    "vectorize": (
        PRODUCT,
        REGISTERS,
        "loops = [d0 by 5, d1 by 16, d2], vector = d1 by 16",
    ),
    "vectorize all of a function": (
        PRODUCT,
        f"""{MATCH}
    %tile, %l:2 = transform.structured.tile_using_for %product tile_sizes [4, 32, 0] : {ONE} -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %f = transform.structured.match ops{{["func.func"]}} in %module : {ONE} -> {OP}
    %v = transform.structured.vectorize_children_and_apply_patterns %f : {ONE} -> {OP}
    transform.structured.hoist_redundant_vector_transfers %v : {ONE} -> {OP}""",
        "loops = [d0 by 4, d1 by 32, d2], vector = d1 by 16",
    ),
    "threads": (
        PRODUCT,
        f"""{MATCH}
    %tile, %forall = transform.structured.tile_using_forall %product tile_sizes [5, 24] : {ONE} -> {TWO}""",
        "loops = [d0 by 5, d1 by 24, d0, d1, d2], parallel = 2",
    ),
    "a number of threads": (
        PRODUCT,
        f"""{MATCH}
    %tile, %forall = transform.structured.tile_using_forall %product num_threads [4] : {ONE} -> {TWO}""",
        "loops = [d0 by 9, d0, d1, d2], parallel = 1",
    ),
    "fuse a producer into a tile": (
        FUSED,
        f"""{MATCH}
    %relu = transform.structured.match ops{{["linalg.generic"]}} in %module : {ONE} -> {OP}
    %tile, %l:2 = transform.structured.tile_using_for %relu tile_sizes [4, 11] : {ONE} -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %fused, %containing = transform.structured.fuse_into_containing_op %product into %l#1 : {TWO} -> {TWO}
    %k, %lk = transform.structured.tile_using_for %fused tile_sizes [0, 0, 5] : {ONE} -> {TWO}""",
        "loops = [d0 by 4, d1 by 11, d0, d1, d2 by 5, d2]",
    ),
    "pad, and tiles of a convolution": (
        CONV,
        f"""{CONV_MATCH}
    %tile, %l:2 = transform.structured.tile_using_for %product tile_sizes [0, 3, 0, 4] : {ONE} -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %padded, %pad, %copy = transform.structured.pad %tile {{padding_values = [0.0 : f32]}} : {ONE} -> (!transform.any_op, !transform.any_op, !transform.any_op)""",
        "loops = [d1 by 3, d3 by 4, d0, d1, d2, d3, d4, d5, d6]",
    ),
    "pack": (
        PRODUCT,
        f"""{MATCH}
    %packed = transform.structured.pack %product packed_sizes = [5, 16, 0] : {ONE} -> {OP}""",
        "loops = [d0 by 5, d1 by 16, d0, d1, d2]",
    ),
    "split a reduction": (
        PRODUCT,
        f"""{MATCH}
    %fill, %init, %split, %combine = transform.structured.split_reduction %product {{split_factor = 4, insert_split_dimension = 2}} : {ONE} -> ({OP}, {OP}, {OP}, {OP})
    %t, %l = transform.structured.tile_using_for %split tile_sizes [7] : {ONE} -> {TWO}""",
        "loops = [d0 by 7, d0, d1, d2, d3]",
    ),
    "unroll a loop": (
        PRODUCT,
        f"""{MATCH}
    %row, %loop = transform.structured.tile_using_for %product tile_sizes [1] : {ONE} -> {TWO}
    transform.loop.unroll %loop {{factor = 4}} : {OP}
    transform.apply_cse to %module : {OP}""",
        "loops = [d0 by 4, d1, d2]",
    ),
    "two products by their handles": (
        function(
            "6x10",
            "%0 = gawee.matmul %x, %w : (tensor<6x20xf32>, tensor<33x20xf32>) -> tensor<6x33xf32>\n"
            "%y = gawee.matmul %0, %v : (tensor<6x33xf32>, tensor<10x33xf32>) -> tensor<6x10xf32>",
            **{"x": "6x20", "w": "33x20", "v": "10x33"},
        ),
        f"""{MATCH}
    %a, %b = transform.split_handle %product : {ONE} -> {TWO}
    %t, %l = transform.structured.tile_using_for %a tile_sizes [3] : {ONE} -> {TWO}
    %both = transform.merge_handles %t, %b : {OP}""",
        "loops = [d0 by 3, d0, d1, d2]",
    ),
}


def sequence(body: str) -> Source:
    text = f"""module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @__transform_main(%module: !transform.any_op {{transform.readonly}}) {{{body}
    transform.yield
  }}
}}
"""
    return Source.of_text(text, "script.mlir")


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_steps_and_what_is_compiled_computes_the_same(name: str) -> None:
    text, body, loops = SCRIPTS[name]
    model = Model(parse(text))
    network = schedule(model, CodeOptions(num_threads=2, algorithms="exact"))
    kernel = next(each for each in network if each.kind != "copy")

    network.run_transform(sequence(body))

    assert str(ScheduleAttr(kernel.loops.schedule)) == f"#gawee.schedule<{loops}>"
    arrays = random_inputs(input_specs(model.entry.main.inputs))
    run = model.compile(replace(network.options, schedules=network.database()), cache=False)
    expected = evaluate(model.module, arrays)["y"]
    assert np.abs(run(*arrays.values()) - expected).max() <= 1e-5 * np.ptp(expected)


@requires_upstream
@pytest.mark.parametrize("name", ["tile", "vectorize", "fuse a producer into a tile", "threads"])
def test_upstream_runs_the_same_scripts(name: str, tmp_path: Path) -> None:
    text, body, _ = SCRIPTS[name]
    kernel = the_kernel(Model(parse(text)))

    assert "scf.for" in with_script(kernel, sequence(body).text, tmp_path)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            f"{MATCH}\n    transform.structured.winograd_conv2d %product : {OP}",
            "script.mlir:4:5: error: cannot run 'transform.structured.winograd_conv2d': it is not "
            "supported; supported: get_parent_op, loop.hoist_loop_invariant_subsets, loop.peel, ",
        ),
        (MATCH.replace("linalg.matmul", "linalg.pooling"), "no kernel is linalg.pooling"),
        (
            f"\n    transform.loop.unroll %l {{factor = 4}} : {OP}",
            "expected a handle to a kernel, got %l",
        ),
        (
            f"{MATCH}\n    transform.loop.unroll %product {{factor = 4}} : {OP}",
            "expected a handle to a loop",
        ),
        (f"{MATCH}\n    transform.loop.unroll %product : {OP}", "expected a number 'factor'"),
        (
            f"{MATCH}\n    %t, %l = transform.structured.tile_using_for %product tile_sizes [%s] : {ONE} -> {TWO}",
            "expected numbers in tile_sizes, got '%s'",
        ),
        (
            f"{MATCH}\n    %t, %l = transform.structured.tile_using_for %product tile_sizes [0, 0, 0, 2] : {ONE} -> {TWO}",
            "expected at most 3 sizes, got 4",
        ),
        (
            f"{MATCH}\n    %s = transform.structured.interchange %product iterator_interchange = [2, 0, 1] : {ONE} -> {OP}",
            "expected loop 'd0' outside the reductions, got it inside",
        ),
    ],
)
def test_what_a_script_cannot_do_here_is_told_with_its_place(body: str, message: str) -> None:
    network = schedule(Model(parse(PRODUCT)), EXACT)

    with pytest.raises(GaweeError) as caught:
        network.run_transform(sequence(body))

    assert message in str(caught.value)
    assert "script.mlir:" in str(caught.value)
    assert [str(each.script) for each in network] == [""]


def test_a_producer_with_a_kernel_of_its_own_is_not_fused() -> None:
    network = schedule(Model(parse(SCRIPTS["two products by their handles"][0])), EXACT)
    body = f"""{MATCH}
    %a, %b = transform.split_handle %product : {ONE} -> {TWO}
    %t, %l = transform.structured.tile_using_for %b tile_sizes [3] : {ONE} -> {TWO}
    %f, %c = transform.structured.fuse_into_containing_op %a into %l : {TWO} -> {TWO}"""

    with pytest.raises(
        GaweeError, match=r'expected an op of linalg: schedule\(..., level="linalg"'
    ):
        network.run_transform(sequence(body))
