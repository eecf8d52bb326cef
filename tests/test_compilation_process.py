"""The process that compiles for another: what it is asked, and what happens when it ends."""

import subprocess
import sys

import numpy as np
import pytest

from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.compilation import program_of
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import module_of_text
from gawee_dialect.pytorch import compilation_process
from gawee_dialect.pytorch.compilation_process import CompilationProcess

NETWORK = """
func.func @main(%x: tensor<3x7xf32> {gawee.input = "x"}) -> (tensor<3x7xf32> {gawee.output = "y"}) {
  %y = "gawee.relu"(%x) : (tensor<3x7xf32>) -> tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}
"""


@pytest.fixture
def process() -> CompilationProcess:
    return CompilationProcess()


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("GAWEE_CACHE_DIR", str(tmp_path))


def check(process: CompilationProcess) -> None:
    module = module_of_text(NETWORK)
    program = program_of(module, CodeOptions(), cache=True, elsewhere=process.code)
    x = np.linspace(-1, 1, 21, dtype=np.float32).reshape(3, 7)
    np.testing.assert_array_equal(CompiledModel(program).run({"x": x})["y"], np.maximum(x, 0))


def test_a_process_makes_several_programs(process: CompilationProcess) -> None:
    module = module_of_text(NETWORK)
    first = process.code(module, CodeOptions())

    assert first is not None
    assert process.code(module, CodeOptions()) == first
    check(process)


def ended(status: int) -> "subprocess.Popen[bytes]":
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", f"import os; os._exit({status})"]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe)


def test_another_process_takes_what_an_idle_one_left(
    process: CompilationProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = compilation_process._started
    processes = iter([ended(0)])
    monkeypatch.setattr(compilation_process, "_started", lambda: next(processes, None) or start())

    check(process)


def test_a_process_that_crashes_is_told(
    process: CompilationProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compilation_process, "_started", lambda: ended(7))

    with pytest.raises(GaweeError, match="the process that compiles ended with status 7"):
        check(process)


def test_without_a_process_this_one_compiles(
    process: CompilationProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> None:
        raise BlockingIOError

    monkeypatch.setattr(compilation_process, "_started", fails)

    check(process)


def test_what_it_cannot_make_is_made_here(
    process: CompilationProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compilation_process, "generic_text", lambda _: "no module")

    assert process.code(module_of_text(NETWORK), CodeOptions()) is None
    check(process)
