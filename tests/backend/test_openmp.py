"""Parallel loops: every number of threads computes what one does, and what NumPy does."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.backend import openmp
from gawee_dialect.backend.compiled import CompiledModel, export
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.interpreter import run_module
from gawee_dialect.passes.loops.convert_scf_to_openmp import ConvertScfToOpenMP
from gawee_dialect.passes.loops.convert_to_llvm import ConvertToLLVM
from gawee_dialect.tools.server.fork_server import CLIENT, start_for_children
from gawee_dialect.universe import make_context
from tests.backend.parallel_loops import EXPECTED, INPUTS, ROWS, TWO_LOOPS, runtime
from tests.effort import crossed, full_run
from tests.loops_level import llvm_module, run_native
from tests.upstream_loops import UpstreamNative
from tests.upstream_mlir import requires_upstream, run_mlir_opt

Run = Callable[[str], subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def run_alone(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return what runs a program in a process of its own, where no thread was started yet.

    It is forked from one that has `parallel_loops`, which takes longer to import than to use.
    """
    environment = dict(os.environ)
    start_for_children(environment, ("tests.backend.parallel_loops",))
    path = tmp_path_factory.mktemp("alone") / "program.py"
    command = [sys.executable, "-I", "-S", CLIENT, "tests.docs.python_block", path]

    def run(program: str) -> subprocess.CompletedProcess[str]:
        path.write_text(program)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done

    return run


@pytest.mark.parametrize("threads", [1, 2, 3, 20])
@pytest.mark.parametrize("pool", [True, False], ids=["pool", "library"])
def test_any_number_of_threads_computes_the_same(
    threads: int, pool: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not pool:
        monkeypatch.setattr(openmp, "_pool", lambda: None)
    model = CompiledModel(llvm_module(ROWS), num_threads=threads)

    np.testing.assert_array_equal(model(**INPUTS), EXPECTED)


@pytest.mark.parametrize("convert", [False, True], ids=["scf", "omp"])
def test_the_interpreter_runs_parallel_loops_one_iteration_after_the_other(convert: bool) -> None:
    module = parse_mlir(make_context(), ROWS, "rows.mlir")
    if convert:
        ConvertScfToOpenMP().apply(make_context(), module)

    result = run_module(module, INPUTS)["y"]

    np.testing.assert_array_equal(result, EXPECTED)


def test_without_the_conversion_the_loops_run_on_one_thread() -> None:
    module = parse_mlir(make_context(), ROWS, "rows.mlir")
    ConvertToLLVM().apply(make_context(), module)

    np.testing.assert_array_equal(CompiledModel(module)(**INPUTS), EXPECTED)
    assert "GOMP" not in str(module)


@requires_upstream
def test_upstream_accepts_the_omp_level() -> None:
    module = parse_mlir(make_context(), ROWS, "rows.mlir")
    ConvertScfToOpenMP().apply(make_context(), module)

    text = run_mlir_opt(str(module))

    assert text.count("omp.loop_nest") == 2
    assert text.count("collapse(2)") == 1


@requires_upstream
def test_upstream_translates_the_same_functions() -> None:
    module = llvm_module(ROWS)
    CompiledModel(module)  # makes the runtime known to LLVM

    result = UpstreamNative(module).call("main", INPUTS)["y"]

    np.testing.assert_array_equal(result, EXPECTED)


DYNAMIC = """
func.func @main(%size: memref<1xindex> {gawee.input = "size"}, %y: memref<40xi64> {gawee.output = "y"}) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %n = memref.load %size[%c0] : memref<1xindex>
  scf.parallel (%i) = (%c3) to (%n) step (%c3) {
    %v = arith.index_cast %i : index to i64
    memref.store %v, %y[%i] : memref<40xi64>
    scf.reduce
  }
  return
}
"""


@pytest.mark.parametrize("bound", [-4, 0, 3, 4, 36, 37, 40])
def test_bounds_need_not_be_constants(bound: int) -> None:
    text = DYNAMIC.replace("memref<1xindex>", "memref<1xi64>").replace(
        "%n = memref.load %size[%c0] : memref<1xi64>",
        "%wide = memref.load %size[%c0] : memref<1xi64>\n"
        "  %n = arith.index_cast %wide : i64 to index\n"
        "  %zero = arith.constant 0 : i64\n"
        "  %c1 = arith.constant 1 : index\n"
        "  %c40 = arith.constant 40 : index\n"
        "  scf.parallel (%i) = (%c0) to (%c40) step (%c1) {\n"
        "    memref.store %zero, %y[%i] : memref<40xi64>\n"
        "    scf.reduce\n"
        "  }",
    )
    expected = np.zeros(40, np.int64)
    for index in range(3, bound, 3):
        expected[index] = index

    result = run_native(text, "main", {"size": np.array([bound])})["y"]

    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_second_loop_of_a_region_waits_for_the_first(threads: int) -> None:
    module = parse_mlir(make_context(), TWO_LOOPS, "two.mlir")
    x = np.arange(50, dtype=np.float32)
    np.testing.assert_array_equal(run_module(module, {"x": x})["y"], x[::-1])
    model = CompiledModel(llvm_module(TWO_LOOPS), num_threads=threads)

    for _ in range(10):
        np.testing.assert_array_equal(model(x), x[::-1])


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux's list of threads")
def test_one_thread_starts_none(run_alone: Run) -> None:
    # In a process of its own: threads of other tests stay.
    program = """
import sys
from tests.backend.parallel_loops import *
model = CompiledModel(llvm_module(ROWS), num_threads=1)
before = thread_count()
model(**INPUTS)
alone = thread_count()
model.num_threads = 3
model(**INPUTS)
print(before, alone, thread_count())
"""
    before, alone, several = map(int, run_alone(program).stdout.split())

    assert alone == before
    assert several == before + 2


FORKING = """
import os
from tests.backend.parallel_loops import *
{without_pool}
model = CompiledModel(llvm_module(ROWS), num_threads=2)
{before}
child = os.fork()
same = np.array_equal(model(**INPUTS), EXPECTED)
if child == 0:
    os._exit(thread_count() if same else 0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), same)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    ("without_pool", "threads"),
    [("", 2), pytest.param("openmp.start_pool = lambda threads: None", 1, marks=full_run)],
)
def test_a_forked_process_does_not_wait_for_threads_that_it_has_not(
    without_pool: str, threads: int, run_alone: Run
) -> None:
    done = run_alone(FORKING.format(without_pool=without_pool, before="model(**INPUTS)"))

    assert done.stdout == f"{threads} True\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    ("before", "without_pool"),
    crossed(
        ["", "model.num_threads = 1; model(**INPUTS); model.num_threads = 2"],
        ["", "openmp.start_pool = lambda threads: None"],
    ),
)
def test_a_process_that_was_forked_before_the_first_team_has_teams(
    before: str, without_pool: str, run_alone: Run
) -> None:
    done = run_alone(FORKING.format(without_pool=without_pool, before=before))

    assert (done.stdout, done.stderr) == ("2 True\n", "")


def test_the_limit_of_the_calling_thread_is_put_back() -> None:
    model = CompiledModel(llvm_module(ROWS), num_threads=3)
    runtime().set_limit(7)

    model(**INPUTS)

    assert runtime().limit() == 7


def test_several_threads_call_with_limits_of_their_own() -> None:
    models = [CompiledModel(llvm_module(ROWS), num_threads=count) for count in (1, 2, 3)]
    wrong: list[int] = []

    def call(model: CompiledModel) -> None:
        for _ in range(20):
            if not np.array_equal(model(**INPUTS), EXPECTED):
                wrong.append(model.num_threads)

    threads = [threading.Thread(target=call, args=(model,)) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []


def test_calls_at_one_time_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openmp, "cores", lambda: 4)
    teams = runtime()
    limits: list[int] = []

    def nested(depth: object) -> None:
        limits.append(teams.limit())
        if isinstance(depth, int) and depth:
            openmp.call_in_team(nested, depth - 1, 3 if depth == 1 else None, teams)
            limits.append(teams.limit())

    openmp.call_in_team(nested, 2, None, teams)
    openmp.call_in_team(nested, 0, None, teams)

    # alone all of them; two at a time half of them each; an explicit number is kept
    assert limits == [4, 2, 3, 2, 4, 4]
    assert CompiledModel(llvm_module(ROWS)).num_threads == openmp.physical_cores()


@pytest.mark.parametrize(("said", "threads"), [("3", 3), ("4,2", 4), ("all", None), ("0", None)])
def test_the_environment_says_how_many_threads_there_are(
    said: str, threads: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", said)
    openmp.cores.cache_clear()

    assert openmp.cores() == (threads or openmp.physical_cores())
    assert CompiledModel(llvm_module(ROWS), num_threads=2).num_threads == 2

    openmp.cores.cache_clear()


@pytest.mark.parametrize("threads", [0, -2])
def test_less_than_one_thread_is_refused(threads: int) -> None:
    with pytest.raises(GaweeError, match=f"expected at least 1 thread, got {threads}"):
        CompiledModel(llvm_module(ROWS), num_threads=threads)


WITHOUT_RUNTIME = """
import warnings
from gawee_dialect.backend import openmp
from tests.backend.parallel_loops import *
openmp.start_pool = lambda threads: None
openmp.find_library = lambda: None
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        model = CompiledModel(llvm_module(ROWS), num_threads=4)
        assert np.array_equal(model(**INPUTS), EXPECTED)
for each in caught:
    print(each.category.__name__, each.message)
"""


def test_without_a_runtime_one_thread_does_it_and_one_warning_says_so(run_alone: Run) -> None:
    assert run_alone(WITHOUT_RUNTIME).stdout == (
        "RuntimeWarning no OpenMP runtime was found, so compiled models run on one thread; "
        "'pip install intel-openmp' brings one\n"
    )


def test_a_runtime_that_the_process_has_is_used_where_teams_wait_in_their_middle() -> None:
    pytest.importorskip("torch")
    program = """
import torch
torch.ones(4096, 64) @ torch.ones(64, 64)
from gawee_dialect.backend import openmp
from tests.backend.parallel_loops import *
model = CompiledModel(llvm_module(TWO_LOOPS), num_threads=2)
x = np.arange(50, dtype=np.float32)
assert np.array_equal(model(x), x[::-1])
print(runtime(openmp.BARRIER).name)
print(len([path for path in openmp._loaded_files()]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    name, count = done.stdout.split()

    assert "/torch/" in name
    assert count == "1"


RUN_EXPORTED = """
import ctypes, os, sys
import numpy as np
from tests.backend.parallel_loops import EXPECTED, INPUTS, thread_count
before = thread_count()
library = ctypes.CDLL(sys.argv[1])
y, workspace = np.zeros((7, 13), np.float32), np.zeros(2048, np.uint8)
aligned = workspace[-workspace.ctypes.data % 64 :]
arrays = (INPUTS["x"], INPUTS["scale"], y, None, aligned)
library.rows_run(*(ctypes.c_void_p(None if a is None else a.ctypes.data) for a in arrays))
assert np.array_equal(y, EXPECTED)
print(thread_count() - before)
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.parametrize("parallel", [False, True])
def test_a_shared_library_links_openmp_where_it_has_parallel_loops(
    tmp_path: Path, parallel: bool
) -> None:
    module = parse_mlir(make_context(), ROWS, "rows.mlir")
    if parallel:
        ConvertScfToOpenMP().apply(make_context(), module)
    ConvertToLLVM().apply(make_context(), module)
    export(module, "rows", tmp_path, ["shared"])

    done = subprocess.run(
        [sys.executable, "-c", RUN_EXPORTED, tmp_path / "rows.so"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "3"},
    )

    assert int(done.stdout) == (2 if parallel else 0)
    flags = json.loads((tmp_path / "rows.json").read_text())["link_flags"]
    assert flags == (["-fopenmp", "-lm"] if parallel else ["-lm"])
