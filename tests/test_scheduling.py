"""Schedules as Python: handles to kernels, what is compiled of them, proofs, and choices read back.

Numbers are compared with NumPy's on the same arrays, in f32: within 1e-5 of the range, some
roundings of sums of up to 144 terms.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import gawee_dialect
from gawee_dialect.backend.code_generation import emit_object
from gawee_dialect.backend.jit import Target, optimized_module
from gawee_dialect.code_options import EXACT, CodeOptions
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.levels import Level
from gawee_dialect.model import Model
from gawee_dialect.schedules.database import Database, Entry
from gawee_dialect.schedules.file import read_schedules
from gawee_dialect.schedules.keys import Decision
from gawee_dialect.schedules.script import Script
from gawee_dialect.scheduling import schedule
from gawee_dialect.scheduling.kernels import NetworkSchedule
from tests.closeness import assert_allclose
from tests.effort import full_run, mostly_full
from tests.passes.modules import parse
from tests.tuning.networks import network

ROOT = Path(__file__).parent.parent
ONE_THREAD = CodeOptions(num_threads=1)
EXACT_CODE = replace(ONE_THREAD, algorithms=EXACT)

PRODUCTS = """
func.func @main(%x: tensor<7x60xf32> {gawee.input = "x"},
                %w: tensor<33x60xf32> {gawee.parameter = "w"},
                %v: tensor<21x33xf32> {gawee.parameter = "v"},
                %b: tensor<33xf32> {gawee.parameter = "b"}) -> (tensor<7x21xf32> {gawee.output = "y"}) {
  %0 = gawee.matmul %x, %w : (tensor<7x60xf32>, tensor<33x60xf32>) -> tensor<7x33xf32>
  %1 = gawee.add %0, %b : (tensor<7x33xf32>, tensor<33xf32>) -> tensor<7x33xf32>
  %2 = gawee.relu %1 : (tensor<7x33xf32>) -> tensor<7x33xf32>
  %y = gawee.matmul %2, %v : (tensor<7x33xf32>, tensor<21x33xf32>) -> tensor<7x21xf32>
  func.return %y : tensor<7x21xf32>
}
"""
FIRST, SECOND = "matmul 7x33 *", "matmul 7x21 *"


def products() -> tuple[Model, np.ndarray, np.ndarray]:
    """Two matrix products, an input for them, and what NumPy makes of it."""
    generator = np.random.default_rng(3)
    x, w, v, b = (
        generator.standard_normal(shape).astype(np.float32)
        for shape in ((7, 60), (33, 60), (21, 33), (33,))
    )
    expected = np.maximum(x @ w.T + b, 0) @ v.T
    return Model(parse(PRODUCTS), {"w": w, "v": v, "b": b}), x, expected


def assert_computes(sch: NetworkSchedule, model: Model, x: np.ndarray, y: np.ndarray) -> None:
    """Compare what is compiled by a schedule with what is expected."""
    run = model.compile(CodeOptions(schedules=sch.database(), num_threads=2), cache=False)
    assert np.abs(run(x) - y).max() <= 1e-5 * np.ptp(y)


MATMULS: list[Callable[[Script], Script]] = [
    lambda sch: sch.tile(m=4, n=16).vectorize(n=8).unroll("m", "n").parallelize("m by 4"),
    lambda sch: sch.vectorize(k=8).unroll("m"),
    lambda sch: sch.tile(n=20).vectorize(n=8).unroll("n").pack(0),
    lambda sch: sch.split_reduction(k=3).interchange("k_parts", "m", "n").vectorize(n=16),
    lambda sch: sch.split_reduction(k=3).parallelize("m", "n", "k_parts").pack(0, 1),
    lambda sch: sch.tile(n=8).unroll("n").prefetch(1, along="n").split(k=4),
    lambda sch: sch.pad(m=4, n=32).tile(m=4, n=32).vectorize(n=16).unroll("m", "n").pack(0),
    lambda sch: sch.pad(n=5).vectorize(k=8).parallelize("m"),
]


@pytest.mark.parametrize("steps", MATMULS, ids=lambda steps: str(steps(Script())))
def test_what_steps_make_computes_the_same(steps: Callable[[Script], Script]) -> None:
    model, x, expected = products()
    sch = schedule(model)

    for kernel in sch.select("matmul"):
        kernel.then(*steps(Script().name("m", "n", "k")).steps)

    assert_computes(sch, model, x, expected)


@pytest.mark.usefixtures("unoptimized")
@pytest.mark.parametrize("steps", mostly_full(MATMULS), ids=lambda steps: str(steps(Script())))
def test_each_step_is_proved_or_says_its_rule(steps: Callable[[Script], Script]) -> None:
    kernel = schedule(products()[0])[FIRST]

    proofs = kernel.then(*steps(Script().name("m", "n", "k")).steps).prove()

    assert [step for step, _ in proofs] == list(kernel.script.steps)
    assert proofs[0][1] == "by rule: nothing is computed otherwise"
    assert {verdict for _, verdict in proofs[1:]} == {"proved"}


def test_what_is_made_is_a_schedule_of_the_kernel() -> None:
    sch = schedule(products()[0])
    sch[FIRST].name("m", "n", "k").tile(m=4, n=16).vectorize(n=16).unroll("m")

    wanted = "schedule #gawee.schedule<loops = [d0 by 4, d1 by 16, d2], vector = d1 by 16>"
    assert str(sch.module()).count(wanted) == 1


def test_a_kernel_shows_its_loops_and_what_they_touch() -> None:
    kernel = schedule(products()[0])[FIRST].name("m", "n", "k")
    kernel.tile(m=4).vectorize(n=16).unroll("m").parallelize("m by 4").pack(0)
    kernel.prefetch(1, along="m")

    text = str(kernel)

    assert [line.split() for line in text.splitlines()[1:]] == [
        "touches x w b output".split(),
        "for m in 7 by 4: 2 times, shared by threads 1.64 KiB 7.73 KiB 132 B 924 B".split(),
        "for n in 33 by 16: 3 times 960 B 7.73 KiB 132 B 528 B".split(),
        "for k in 60: 60 times 960 B 3.75 KiB 64 B 256 B".split(),
        "tile of 4 m x 16 n in vectors of 16: 4 vectors 16 B 64 B 64 B 256 B".split(),
        "prefetch w along m".split(),
        "pack x".split(),
    ]
    assert text.startswith("matmul 7x33 over 60 f32, addf maximumf: test.mlir:6:3\n")
    assert "for m in 7 by 4" in kernel._repr_html_()
    assert str(schedule(products()[0])).count("matmul") == 2


def test_padding_is_shown_and_is_copied_around_the_kernel() -> None:
    sch = schedule(products()[0])
    kernel = sch[FIRST].name("m", "n", "k").pad(m=4, n=16).tile(m=4)

    assert "pad m from 7 to 8\npad n from 33 to 48" in str(kernel)
    assert "for m in 8 by 4: 2 times" in str(kernel)
    assert kernel.sizes == {"m": 8, "n": 48, "k": 60}
    module = str(sch.module())
    assert "parallel [8, 48] reduce [60]" in module
    assert kernel.undo(2).sizes == {"m": 7, "n": 33, "k": 60}


def test_a_padded_convolution_reads_the_rows_that_its_new_points_need(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gawee_dialect.passes.tensors.join_positions.LONGEST", 0)
    model, inputs = network()
    kernel = schedule(model, EXACT_CODE)["conv *"]

    kernel.pad(d2=8, d3=8).vectorize(d3=8)

    assert {verdict for _, verdict in kernel.prove()} == {"proved"}
    expected = np.asarray(model.run(inputs, "llvm")["y"], np.float32)
    assert_computes(kernel.network, model, np.asarray(inputs["x"], np.float32), expected)


def test_parts_of_a_reduction_have_a_size() -> None:
    kernel = schedule(products()[0])[FIRST].name("m", "n", "k").split_reduction(k=3)

    assert kernel.sizes == {"m": 7, "n": 33, "k_parts": 3, "k": 20}


def test_steps_are_undone() -> None:
    kernel = schedule(products()[0])[FIRST].tile(d0=4)
    before = kernel.script

    kernel.vectorize(d1=16).unroll("d0").undo(2)

    assert kernel.script == before
    assert kernel.undo().script == Script()
    with pytest.raises(GaweeError, match="cannot undo 1 steps: expected at most 0"):
        kernel.undo()


def test_an_illegal_step_changes_nothing() -> None:
    kernel = schedule(products()[0])[FIRST].tile(d0=4)
    before = kernel.script

    with pytest.raises(GaweeError, match=r"test.mlir:6:3: .*cannot take the step tile\(d1=34\)"):
        kernel.tile(d1=34)

    assert kernel.script == before


def test_a_program_is_applied_to_other_kernels() -> None:
    sch = schedule(products()[0])
    first = sch[FIRST].vectorize(d1=16).unroll("d1")

    others = first.apply_to(kind="matmul", where=lambda kernel: kernel.sizes["d1"] < 33)

    assert [each.description for each in others] == ["matmul 7x21 over 33 f32"]
    assert sch[SECOND].script == first.script
    assert sch.select("conv") == []


def test_a_program_that_one_kernel_cannot_take_is_taken_by_none() -> None:
    sch = schedule(products()[0])
    sch[SECOND].tile(d0=2)

    with pytest.raises(GaweeError, match="got 33"):
        sch.apply(Script().tile(d1=33), list(sch))

    assert [str(each.script) for each in sch] == ["", "tile(d0=2)"]


def test_kernels_are_found_by_node_pattern_and_key() -> None:
    sch = schedule(products()[0])
    (first, second) = sch
    (key,) = sch.keys_of(second).values()

    assert len(sch) == 2
    assert sch["test.mlir:6:3"] is sch[FIRST] is first
    assert sch[key] is second
    with pytest.raises(GaweeError, match=r"expected one kernel 'matmul \*', got 2") as caught:
        sch["matmul *"]
    assert "hint: kernels: matmul 7x33 over 60 f32, addf maximumf: test.mlir:6:3; " in str(
        caught.value
    )


def test_a_module_without_main_has_no_kernels() -> None:
    with pytest.raises(GaweeError, match="expected a function '@main' in the module, got none"):
        schedule(ModuleOp([]))


# Algorithms.


def test_an_algorithm_is_a_step_before_all_others() -> None:
    model, inputs = network()
    kernel = schedule(model, ONE_THREAD)["conv *"]

    assert "winograd F(4x4)" in str(kernel.algorithm("winograd", tile=4))
    assert "winograd F(2x2)" in str(kernel.algorithm("winograd", tile=2))
    with pytest.raises(GaweeError, match="has no loops that steps change") as caught:
        kernel.tile(d1=16)
    assert 'hint: the step algorithm("direct") makes loops of it' in str(caught.value)

    kernel.algorithm("direct").tile(d1=16).vectorize(d1=8).unroll("d1")

    assert kernel.sizes["d1"] == 32
    with pytest.raises(GaweeError, match="expected it before all others"):
        kernel.algorithm("winograd")
    (got,) = model.run(inputs, "llvm").values()
    sch = kernel.network
    run = model.compile(replace(ONE_THREAD, schedules=sch.database()), cache=False)
    assert_allclose(run(inputs["x"]), got, rtol=0, atol=1e-5 * float(np.ptp(np.asarray(got))))


def test_numbers_that_no_plan_has_are_refused() -> None:
    kernel = schedule(network()[0], ONE_THREAD)["conv *"]

    with pytest.raises(GaweeError, match="expected one of its plans, got tile=3"):
        kernel.algorithm("winograd", tile=3)

    assert kernel.script == Script()


def test_a_kernel_without_a_choice_has_one_algorithm() -> None:
    kernel = schedule(products()[0])[FIRST]

    with pytest.raises(GaweeError, match="expected a kernel that has a choice"):
        kernel.algorithm("winograd")


def test_steps_of_loops_that_are_gone_are_told() -> None:
    sch = schedule(network()[0], CodeOptions(target="haswell", num_threads=2))
    kernel = sch["conv *"].tile(d1=16)
    key = sch.keys_of(kernel)[Decision.ALGORITHM]
    other = Database([Entry(key, sch.cpu, Script().algorithm("winograd", tile=4))])

    sch.options = replace(sch.options, schedules=other)
    with pytest.raises(GaweeError, match="is another kernel by the algorithms: choose these"):
        sch.lower()


# What the compiler chooses.


def network_file(name: str) -> Path:
    """Find one of three small networks."""
    folder = ROOT / ("examples/digits" if name == "graph" else "tests/networks")
    return folder / f"{name}.json"


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("graph", "skylake-avx512"),
        ("transformer_block", "haswell"),
        pytest.param("lstm", "skylake-avx512", marks=full_run),
    ],
)
def test_what_the_compiler_chose_makes_the_same_code_when_it_is_read(
    name: str, target: str, tmp_path: Path
) -> None:
    model = gawee_dialect.load(network_file(name))
    options = CodeOptions(target=target, num_threads=2)
    path = tmp_path / "chosen.py"

    chosen, again = lowered_as_chosen_and_as_read(model, options, path, Level.LLVM)
    assert object_of(again, options) == object_of(chosen, options)


@full_run
@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("mobilenetv2", "haswell"),
        ("unet", "skylake-avx512"),  # whose encoder is a ResNet
        ("bert-small", "haswell"),
    ],
)
def test_the_choices_for_a_benchmarked_network_make_the_same_kernels(
    name: str, target: str, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    from benchmarks.models import build

    model = Model.from_torch((network := build(name))[0], network[1:])
    options = CodeOptions(target=target, num_threads=2)

    # No pass after this level reads what was chosen.
    lowered_as_chosen_and_as_read(model, options, tmp_path / "chosen.py", Level.KERNELS)


def lowered_as_chosen_and_as_read(
    model: Model, options: CodeOptions, path: Path, level: Level
) -> tuple[ModuleOp, ModuleOp]:
    """Write what the compiler chooses to a file, read it, and compare what a level has of both."""
    schedule(model, options).assign().save(path)
    read = replace(options, schedules=read_schedules(path))
    chosen, again = (model.lowered(level, each) for each in (options, read))
    assert str(again) == str(chosen)
    assert read.schedules.entries
    return chosen, again


def object_of(module: ModuleOp, options: CodeOptions) -> bytes:
    """Return the machine code of a module of llvm."""
    parsed, machine = optimized_module(module, Target.of(options.machine.processor), jit=False)
    return emit_object(machine, parsed)


@pytest.mark.parametrize("algorithms", ["fast", EXACT])
def test_algorithms_are_read_as_they_were_chosen(algorithms: str, tmp_path: Path) -> None:
    model = network()[0]
    options = CodeOptions(target="haswell", algorithms=algorithms, num_threads=1)
    path = tmp_path / "chosen.py"

    schedule(model, options).assign().save(path)

    assert ("winograd" in path.read_text()) == (algorithms == "fast")
    read = replace(options, schedules=read_schedules(path))
    assert str(model.lowered("llvm", read)) == str(model.lowered("llvm", options))
    again = schedule(model, read)
    assert again.text() == path.read_text()


def test_steps_that_were_read_are_taken_further() -> None:
    model, x, expected = products()
    first = schedule(model)
    first[FIRST].tile(d0=4)

    second = schedule(model, CodeOptions(schedules=first.database()))
    second[FIRST].vectorize(d1=16)

    assert str(second[FIRST].script) == "tile(d0=4).vectorize(d1=16)"
    assert_computes(second, model, x, expected)


def test_a_step_of_a_file_that_does_not_fit_is_told_with_its_line(tmp_path: Path) -> None:
    model = products()[0]
    sch = schedule(model)
    sch[FIRST].tile(d0=4)
    path = tmp_path / "mine.py"
    path.write_text(sch.text().replace("d0=4", "d0=400"))

    with pytest.raises(GaweeError) as caught:
        model.lowered("kernels", CodeOptions(schedules=read_schedules(path)))

    assert "test.mlir:6:3: error: 'gawee.kernel' op cannot take the step tile(d0=400)" in str(
        caught.value
    )
    assert f"hint: the schedule is that of {path}:5" in str(caught.value)
