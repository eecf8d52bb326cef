"""Memory for intermediate values and prepared weights: aligned, zeroed, in one piece."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.backend.memory import CACHE_LINE, HUGE_PAGE, aligned_bytes, arena, new_array
from gawee_dialect.backend.signature import Buffer
from tests.backend.test_compiled import NETWORK, SCALE, SHIFT
from tests.loops_level import llvm_module


@pytest.mark.parametrize(
    ("size", "alignment"),
    [(0, 64), (1, 64), (777, 64), (HUGE_PAGE - 1, 64), (HUGE_PAGE, HUGE_PAGE)],
)
def test_memory_is_zeroed_and_aligned_to_huge_pages_where_it_fills_one(
    size: int, alignment: int
) -> None:
    memory = aligned_bytes(size)

    assert memory.ctypes.data % alignment == 0
    assert memory.size == max(1, size)
    assert not memory.any()
    memory[:] = 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_large_memory_is_not_shared_with_processes_forked_later() -> None:
    memory = aligned_bytes(HUGE_PAGE)

    child = os.fork()
    if not child:
        memory[0] = 1
        os._exit(0)
    os.waitpid(child, 0)

    assert memory[0] == 0


def test_arrays_of_an_arena_are_side_by_side_and_do_not_overlap() -> None:
    shapes = [(3, 5), (), (700, 1000), (0, 4), (7,)]
    buffers = tuple(
        Buffer(index, "output", str(index), shape, np.dtype(np.float32))
        for index, shape in enumerate(shapes)
    )

    arrays = arena(buffers)

    assert [array.shape for array in arrays.values()] == shapes
    for number, array in enumerate(arrays.values(), 1):
        assert array.ctypes.data % CACHE_LINE == 0
        array[...] = number
    assert [float(array.sum()) / max(1, array.size) for array in arrays.values()] == [1, 2, 3, 0, 5]
    assert arrays["0"].ctypes.data % HUGE_PAGE == 0


@pytest.mark.parametrize("shape", [(3, 5), (), (0, 4), (700, 1001)])
def test_an_output_is_aligned_and_its_views_keep_it(shape: tuple[int, ...]) -> None:
    dtype = np.dtype(np.float32)

    array = new_array(Buffer(0, "output", "y", shape, dtype))

    assert (array.shape, array.dtype) == (shape, dtype)
    assert array.dtype is dtype
    assert array.ctypes.data % CACHE_LINE == 0
    array[...] = 3
    # A reference to a part keeps the whole: its memory is not used again meanwhile.
    part = array[...].reshape(-1)[1:]
    assert part.base is array


def test_a_model_tells_what_it_needs() -> None:
    model = CompiledModel(llvm_module(NETWORK), {"layer.scale": SCALE, "layer.shift": SHIFT})

    memory = model.memory

    assert memory.workspace == model.signature.workspace_size
    assert memory.prepared == sum(array.nbytes for array in model.prepared_values().values())


def printed(program: str, *arguments: str) -> list[str]:
    """What Python prints that runs a program and has nothing to warn of."""
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


FORGET = r"""
import pathlib, re
from llvmlite import binding
from gawee_dialect.backend.memory import LLVM, forget_code_of

def megabytes():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"RssFile:\s+(\d+)", status)[1]) / 1024

def compiled():
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine()
    return machine.emit_assembly(binding.parse_assembly("define i32 @f() { ret i32 7 }"))

first = compiled()
before = megabytes()
forget_code_of(LLVM)
print(before - megabytes())
print(compiled() == first)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_code_that_was_forgotten_is_there_when_it_is_called() -> None:
    freed, same = printed(FORGET)

    assert same == "True"
    assert float(freed) > 15  # of the 40 MB and more that its constructors and this code touch


APART = """
import sys
import numpy as np
from gawee_dialect.frontends.mlir_text import module_of_text
from gawee_dialect.model import Model

TEXT = '''func.func @main(%x: tensor<3x5xf32> {gawee.input = "x"})
    -> (tensor<3x5xf32> {gawee.output = "y"}) {
  %0 = gawee.OP %x : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %0 : tensor<3x5xf32>
}'''
x = np.linspace(-2, 3, 15, dtype=np.float32).reshape(3, 5)
for op, expected in (("relu", np.maximum(x, 0)), ("abs", np.abs(x))):
    compiled = Model(module_of_text(TEXT.replace("OP", op))).compile(cache=False)
    assert np.array_equal(compiled(x), expected)
    print("gawee_dialect.passes.pipelines" in sys.modules)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="forks on Linux")
def test_the_first_network_of_a_process_is_compiled_apart_and_later_ones_are_not() -> None:
    assert printed(APART) == ["False", "True"]


KEPT = """
import sys
import numpy as np
from gawee_dialect.frontends.mlir_text import module_of_text
from gawee_dialect.model import Model

TEXT = '''func.func @main(%x: tensor<7xf32> {gawee.input = "x"}) -> (tensor<7xf32> {gawee.output = "y"}) {
  %0 = gawee.relu %x : (tensor<7xf32>) -> tensor<7xf32>
  func.return %0 : tensor<7xf32>
}'''
x = np.linspace(-2, 3, 7, dtype=np.float32)
assert np.array_equal(Model(module_of_text(TEXT)).compile()(x), np.maximum(x, 0))
print("xdsl.dialects.llvm" in sys.modules)
"""


def test_code_that_was_kept_is_ready_without_the_llvm_dialect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAWEE_CACHE_DIR", str(tmp_path))
    printed(KEPT)

    assert printed(KEPT) == ["False"]


REFUSED = """
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import module_of_text
from gawee_dialect.model import Model
try:
    Model(module_of_text("func.func private @other() -> ()")).compile(cache=False)
except GaweeError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="forks on Linux")
def test_what_is_wrong_with_the_first_network_is_told_once_and_here() -> None:
    told = printed(REFUSED)

    assert sum("error: " in line for line in told) == 1
    assert "'@main'" in told[0]


PREPARED = """
import pathlib, re, sys
import numpy as np
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.frontends.mlir_text import module_of_text
from gawee_dialect.model import Model
from gawee_dialect.parameters.archives import SafetensorsFile

LAYERS, WIDTH = 6, 1536
WEIGHT = f"tensor<{WIDTH}x{WIDTH}xf32>"
ROWS = f"tensor<9x{WIDTH}xf32>"
arguments = "".join(f', %w{n}: {WEIGHT} {{gawee.parameter = "w{n}"}}' for n in range(LAYERS))
body = "".join(
    f"%{n + 1} = gawee.matmul %{n}, %w{n} : ({ROWS}, {WEIGHT}) -> {ROWS}\\n" for n in range(LAYERS)
).replace("%0,", "%x,")
text = f'''func.func @main(%x: {ROWS} {{gawee.input = "x"}}{arguments})
    -> ({ROWS} {{gawee.output = "y"}}) {{ {body} func.return %{LAYERS} : {ROWS} }}'''

def megabytes(what):
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(rf"{what}:\\s+(\\d+)", status)[1]) / 1024

store = SafetensorsFile(pathlib.Path(sys.argv[1]))
compiled = Model(module_of_text(text), store).compile(CodeOptions(num_threads=1), cache=False)
x = np.random.default_rng(1).standard_normal((9, WIDTH), np.float32)
first, before = compiled(x), megabytes("VmRSS")
pathlib.Path("/proc/self/clear_refs").write_text("5")
compiled.rebind(store)
most = megabytes("VmHWM") - before
assert np.array_equal(first, compiled(x))
expected = x.astype(np.float64)
for n in range(LAYERS):
    expected = expected @ store[f"w{n}"].T.astype(np.float64)
print(compiled.memory.prepared / 2**20)
print(most)
print(abs(first - expected).max() / abs(expected).max())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_parameters_of_a_file_are_in_memory_a_few_at_a_time(tmp_path: Path) -> None:
    save_file = pytest.importorskip("safetensors.numpy").save_file
    draw = np.random.default_rng(0).standard_normal
    weights = {f"w{n}": draw((1536, 1536), np.float32) / 39 for n in range(6)}
    save_file(weights, tmp_path / "weights.safetensors")

    prepared, most, error = map(float, printed(PREPARED, str(tmp_path / "weights.safetensors")))

    assert prepared > 50
    assert prepared < most < prepared + 30  # 9 MB are one; without parts, 54 more are there
    assert error < 1e-5


SIZES = r"""
import pathlib, re
import numpy as np
from gawee_dialect.backend.memory import give_back
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.frontends.mlir_text import module_of_text
from gawee_dialect.model import Model

TEXT = '''func.func @main(%x: tensor<?x509xf32> {gawee.input = "x", gawee.sizes = ["rows", "-"]},
    %past: tensor<?x509xf32> {gawee.input = "past", gawee.sizes = ["length", "-"]})
    -> (tensor<?x509xf32> {gawee.output = "y"})
    attributes {gawee.ranges = {rows = "1 to 700", length = "1 to 900"}} {
  %0 = gawee.reduce_sum %past axes [0] keep_dims : (tensor<?x509xf32>) -> tensor<1x509xf32>
  %1 = gawee.add %x, %0 : (tensor<?x509xf32>, tensor<1x509xf32>) -> tensor<?x509xf32>
  func.return %1 : tensor<?x509xf32>
}'''

def kilobytes():
    give_back()
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"RssAnon:\s+(\d+)", status)[1])

model, sizes = Model(module_of_text(TEXT)), {"rows": (1, 700)}
compiled = model.compile(CodeOptions(num_threads=1), cache=False, sizes=sizes)
x, past = np.ones((700, 509), np.float32), np.ones((900, 509), np.float32)
for length in (900, *[100, 300, 500, 700, 900] * 10):
    assert compiled(x, past[:length])[699, 508] == 1 + length
    if length == 900:
        print(kilobytes())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_outputs_of_many_sizes_are_kept_as_those_of_one() -> None:
    first, *_, last = map(int, printed(SIZES))

    assert last - first < 300  # an output has 1400
