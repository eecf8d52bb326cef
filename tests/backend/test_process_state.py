"""What a process shares with others that compile in it: it is afterwards as it was before."""

import gc
import os
import subprocess
import sys
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from llvmlite import binding

from gawee_dialect.backend.code_generation import own_code_generation
from gawee_dialect.backend.jit import Target, compile_object, initialize, make_machine
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.garbage_collection import no_garbage_collection, rare_garbage_collection
from gawee_dialect.model import Model, load
from gawee_dialect.tools import gawee_opt
from gawee_dialect.universe import make_context

ROOT = Path(__file__).parent.parent.parent

# More values than registers: a scheduler orders loads and arithmetic otherwise than the text does.
LOADS = "\n".join(
    f"  %p{i} = getelementptr float, ptr %x, i64 {16 * i}\n  %v{i} = load <8 x float>, ptr %p{i}"
    for i in range(14)
)
PRODUCTS = [(i, j) for i in range(14) for j in range(3)]
SUMS = "\n".join(
    f"  %a{i}_{j} = call <8 x float> @llvm.fma.v8f32("
    f"<8 x float> %v{i}, <8 x float> %v{j}, <8 x float> %v{(i + j) % 14})"
    for i, j in PRODUCTS
)
STORES = "\n".join(
    f"  %q{i}_{j} = getelementptr float, ptr %y, i64 {8 * (3 * i + j)}\n"
    f"  store <8 x float> %a{i}_{j}, ptr %q{i}_{j}"
    for i, j in PRODUCTS
)
TILE = f"""
declare <8 x float> @llvm.fma.v8f32(<8 x float>, <8 x float>, <8 x float>)
define void @tile(ptr noalias %x, ptr noalias %y) {{
{LOADS}
{SUMS}
{STORES}
  ret void
}}
"""


def assembly() -> str:
    """Return what any user of llvmlite in this process gets."""
    machine = make_machine(Target(), jit=True)
    return machine.emit_assembly(binding.parse_assembly(TILE))


def test_llvm_options_are_ours_only_while_code_of_ours_is_emitted() -> None:
    initialize()
    before = assembly()

    with own_code_generation():
        with own_code_generation():
            pass
        ours = assembly()
    after = assembly()

    assert before == after
    assert ours != before  # else this test could not fail


def run(script: str) -> str:
    """Run a script in a process of its own; return what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-c", script]
    result = subprocess.run(
        words, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


COMPILED = """
import ctypes
import numpy as np
import gawee_dialect
from gawee_dialect.backend import openmp
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.universe import make_context

GRAPH = '''
func.func @main(%x: tensor<64x128x33xf32> {gawee.input = "x"})
    -> (tensor<64x128x33xf32> {gawee.output = "y"}) {
  %y = gawee.exp %x : (tensor<64x128x33xf32>) -> tensor<64x128x33xf32>
  func.return %y : tensor<64x128x33xf32>
}
'''

def gawee():
    module = parse_mlir(make_context(), GRAPH, "g")
    x = np.linspace(-3, 3, 64 * 128 * 33, dtype=np.float32).reshape(64, 128, 33)
    compiled = gawee_dialect.compile(
        module, options=gawee_dialect.CodeOptions(num_threads=2), cache=False
    )
    y = compiled(x)
    # A polynomial for exp: a few units in the last place.
    np.testing.assert_allclose(y, np.exp(x), rtol=1e-6)
    return compiled
"""
NUMBA = """
import numba

def make():
    @numba.njit(fastmath=True)
    def poly(x):
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i] * x[i] * x[i] - 2.0 * x[i]
        return total
    return poly

data = np.random.default_rng(0).standard_normal(1001)

def numba_says():
    function = make()
    value = function(data)
    (text,) = function.inspect_asm().values()
    lines = [line.split() for line in text.splitlines() if line.startswith(chr(9))]
    return value, [words[0] for words in lines if words and words[0][0] != '.']

before = numba_says()
compiled = gawee()
after = numba_says()
assert before[0] == after[0], (before[0], after[0])
assert before[1] == after[1], "other instructions"
expected = float(np.sum(data**3 - 2 * data))
assert abs(after[0] - expected) < 1e-9 * abs(expected) + 1e-9
print("same")
"""


def test_numba_compiles_and_computes_the_same_before_and_after() -> None:
    pytest.importorskip("numba")

    assert run(COMPILED + NUMBA) == "same\n"


def test_the_openmp_runtime_that_is_loaded_is_nobody_elses() -> None:
    script = """
names = openmp.SYMBOLS
whole = ctypes.CDLL(None)
before = [hasattr(whole, name) for name in names]
compiled = gawee()
after = [hasattr(ctypes.CDLL(None), name) for name in names]
assert before == after, (before, after)
print("same")
"""
    assert run(COMPILED + script) == "same\n"


def test_what_is_made_while_modules_are_loaded_is_old() -> None:
    program = """
import gc
from gawee_dialect.garbage_collection import no_garbage_collection
def old(module):
    with no_garbage_collection():
        made = []
        __import__(module)
    return any(each is made for each in gc.get_objects(generation=2))
print(old("this"), old("this"), gc.isenabled(), gc.get_freeze_count())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines()[-1] == "True False True 0"


def test_garbage_collection_is_as_it_was(tmp_path: Path) -> None:
    graph = tmp_path / "in.mlir"
    graph.write_text("func.func @main() {\n  return\n}\n")
    before = gc.isenabled(), gc.get_threshold()

    assert gawee_opt.main([str(graph), "--canonicalize", "-o", str(tmp_path / "out")]) == 0
    with rare_garbage_collection():
        with no_garbage_collection():
            inside = gc.isenabled()
        thresholds = gc.get_threshold()

    assert (gc.isenabled(), gc.get_threshold()) == before
    assert not inside
    assert thresholds != before[1]


@pytest.mark.parametrize("text", ["func.func @main() {\n  return\n}\n", "func.func @main("])
def test_garbage_is_collected_after_a_graph_is_read_or_refused(tmp_path: Path, text: str) -> None:
    graph = tmp_path / "in.mlir"
    graph.write_text(text)

    with nullcontext() if text.endswith("}\n") else pytest.raises(GaweeError):
        load(graph)
    assert gc.isenabled()


def megabytes() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_compiling_again_takes_no_more_memory() -> None:
    def compile_often() -> None:
        for _ in range(100):
            compile_object("define void @nothing() {\n  ret void\n}", Target())

    compile_often()
    before = megabytes()
    compile_often()

    # Each pass manager that stays is 0.03 MB.
    assert megabytes() - before < 1


@pytest.fixture
def many_switches() -> Generator[None]:
    """Let threads take turns after every few instructions."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def biased(rows: int) -> Model:
    """Return a network that adds 20, by ops whose regions xDSL makes when it is lowered."""
    type = f"tensor<{rows}x3xf32>"
    lines = [f"func.func @main(%x0: {type}) -> {type} {{"]
    lines.append("  %w = gawee.constant dense<[[1., 0., 0.], [0., 1., 0.], [0., 0., 1.]]>")
    lines[-1] += " : tensor<3x3xf32>\n  %b = gawee.constant dense<1.> : tensor<3xf32>"
    types = f"({type}, tensor<3x3xf32>, tensor<3xf32>) -> {type}"
    lines += [f"  %x{i + 1} = gawee.matmul %x{i}, %w bias %b : {types}" for i in range(20)]
    lines += [f"  return %x20 : {type}", "}"]
    return Model(parse_mlir(make_context(), "\n".join(lines), "biased.mlir"))


def test_threads_compile_one_network_and_several(many_switches: None) -> None:
    networks = [biased(5), biased(7)]
    expected = [str(each.lowered("linalg")) for each in networks]
    order = [0, 0, 0, 1, 1, 0, 1, 0]

    with ThreadPoolExecutor(len(order)) as pool:
        made = list(pool.map(lambda index: str(networks[index].lowered("linalg")), order))
        codes = list(pool.map(lambda index: networks[index].compile(cache=False), order))

    assert made == [expected[index] for index in order]
    for index, code in zip(order, codes, strict=True):
        x = np.linspace(-1, 1, 15 + 6 * index, dtype=np.float32).reshape(-1, 3)
        np.testing.assert_allclose(code(x), x + 20, rtol=1e-6)
