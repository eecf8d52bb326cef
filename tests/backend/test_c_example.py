"""The program that --emit example writes: built by hand and by CMake, and run on raw files."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import gawee_dialect
from gawee_dialect.backend.c_entry import C_KEYWORDS
from gawee_dialect.backend.compiled import export
from gawee_dialect.backend.export import C_TYPES, FORMATS
from gawee_dialect.tools.gawee_run import EMIT_KINDS, main
from tests.backend.test_compiled import NETWORK, SCALE, SHIFT, X, Z
from tests.closeness import assert_allclose
from tests.loops_level import llvm_module

GRAPH = Path(__file__).parents[2] / "examples" / "digits" / "graph.json"
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
BUILD = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I.."]

TYPES = """
func.func @main(%a: memref<3xi64> {gawee.input = "a"}, %b: memref<2xf16> {gawee.input = "b"},
                %c: memref<1xui8> {gawee.input = "c"}, %d: memref<3xi64> {gawee.output = "d"},
                %e: memref<2xf16> {gawee.output = "d.1"}, %f: memref<1xui8> {gawee.output = "status"}) {
  "memref.copy"(%a, %d) : (memref<3xi64>, memref<3xi64>) -> ()
  "memref.copy"(%b, %e) : (memref<2xf16>, memref<2xf16>) -> ()
  "memref.copy"(%c, %f) : (memref<1xui8>, memref<1xui8>) -> ()
  return
}
"""


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def two_layers(tmp_path: Path) -> Path:
    """Return the folder of an example of two inputs and two outputs, built, with its inputs."""
    parameters = {"layer.scale": SCALE, "layer.shift": SHIFT}
    export(llvm_module(NETWORK), "net", tmp_path, ["example"], parameters=parameters)
    folder = tmp_path / "net_example"
    built = run(folder, *BUILD, "main.c", "../net.o", "-lm", "-o", "net")
    assert built.stderr == ""
    (folder / "x.bin").write_bytes(X.tobytes())
    (folder / "z.bin").write_bytes(Z.tobytes())
    return folder


@needs_compiler
def test_the_example_prints_every_output(two_layers: Path) -> None:
    done = run(two_layers, "./net", "../net.weights.bin", "x.bin", "z.bin")

    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert (lines[0], lines[13]) == ("y: 3x4 float32", "sum: 3x4 float32")
    y = X * SCALE + SCALE * SHIFT
    np.testing.assert_array_equal(np.array(lines[1:13], np.float32), y.ravel())
    np.testing.assert_array_equal(np.array(lines[14:], np.float32), (y + Z).ravel())


@needs_compiler
def test_an_example_without_inputs(tmp_path: Path) -> None:
    network = """
      func.func @main(%out: memref<1xf32> {gawee.output = "y"}) {
        %value = arith.constant 1.5 : f32
        %first = arith.constant 0 : index
        memref.store %value, %out[%first] : memref<1xf32>
        return
      }
    """
    export(llvm_module(network), "net", tmp_path, ["example"])
    folder = tmp_path / "net_example"

    built = run(folder, *BUILD, "main.c", "../net.o", "-lm", "-o", "net")

    assert built.stderr == ""
    assert run(folder, "./net").stdout.splitlines() == ["y: 1 float32", "1.5"]


@needs_compiler
def test_the_example_writes_every_output(two_layers: Path) -> None:
    done = run(two_layers, "./net", "../net.weights.bin", "x.bin", "z.bin", "y.out", "sum.out")

    assert (done.returncode, done.stdout) == (0, "")
    y = X * SCALE + SCALE * SHIFT
    assert (two_layers / "y.out").read_bytes() == y.tobytes()
    assert (two_layers / "sum.out").read_bytes() == (y + Z).tobytes()


@needs_compiler
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "usage: ./net WEIGHTS X Z [Y SUM]\n"),
        (("x.bin", "x.bin", "z.bin"), "x.bin: is no file of weights\n"),
        (("../net.weights.bin", "none", "z.bin"), "none: expected a file of 48 bytes\n"),
        (("../net.weights.bin", "x.bin", "main.c"), "main.c: expected a file of 48 bytes\n"),
        (
            ("../net.weights.bin", "x.bin", "z.bin", "no/y", "sum"),
            "no/y: cannot be written\n",
        ),
    ],
)
def test_the_example_says_what_is_wrong(
    arguments: tuple[str, ...], expected: str, two_layers: Path
) -> None:
    done = run(two_layers, "./net", *arguments)

    assert (done.returncode, done.stdout, done.stderr) == (1, "", expected)


@needs_compiler
def test_arrays_of_other_types_and_no_weights(tmp_path: Path) -> None:
    export(llvm_module(TYPES), "net", tmp_path, ["example"], parameters={})
    folder = tmp_path / "net_example"
    assert run(folder, *BUILD, "main.c", "../net.o", "-o", "net").stderr == ""
    (folder / "a").write_bytes(np.array([1, -(2**62), 3], np.int64).tobytes())
    (folder / "b").write_bytes(np.array([1, -2], np.float16).tobytes())
    (folder / "c").write_bytes(b"\xc8")

    done = run(folder, "./net", "a", "b", "c")

    assert done.stdout.split() == [
        *("d:", "3", "int64", "1", str(-(2**62)), "3"),
        *("d_1:", "2", "float16", "0x3c00", "0xc000"),  # IEEE 754: 1 and -2
        *("status:", "1", "uint8", "200"),
    ]


SCALARS = """
func.func public @main(%x: memref<3xf32> {gawee.input = "x"}, %s: f32, %b: i1, %h: f16, %n: i32,
                       %k: index, %d: f64, %y: memref<4xf64> {gawee.output = "y"}) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %e = memref.load %x[%k] : memref<3xf32>
  %p = arith.mulf %e, %s : f32
  %q = arith.extf %p : f32 to f64
  %r = arith.select %b, %q, %d : f64
  memref.store %r, %y[%zero] : memref<4xf64>
  %f = arith.extf %h : f16 to f64
  memref.store %f, %y[%one] : memref<4xf64>
  %i = arith.sitofp %n : i32 to f64
  memref.store %i, %y[%two] : memref<4xf64>
  memref.store %d, %y[%three] : memref<4xf64>
  return
}
"""
CALLER = """
#include <stdio.h>
#include "net.h"
int main(void) {
    const float x[3] = {1, 2, 4};
    double y[4];
    net_run(x, 1.5f, 1, 0xc000, -7, 2, 0.1, y, NULL, NULL);
    printf("%g %g %g %g\\n", y[0], y[1], y[2], y[3]);
    net_run(x, 1.5f, 0, 0xc000, -7, 2, 0.1, y, NULL, NULL);
    printf("%g\\n", y[0]);
    return 0;
}
"""


@needs_compiler
def test_scalars_are_given_by_value(tmp_path: Path) -> None:
    export(llvm_module(SCALARS), "net", tmp_path, ["example"], parameters={})
    (tmp_path / "call.c").write_text(CALLER)
    command = [*BUILD, "-I.", "call.c", "net.o", "-o", "call"]
    assert run(tmp_path, *command).stderr == ""
    folder = tmp_path / "net_example"
    assert run(folder, *BUILD, "main.c", "../net.o", "-o", "net").stderr == ""
    arrays = [
        *(
            np.array([1, 2, 4], np.float32),
            np.float32(1.5),
            np.bool_(True),
            np.float16(-2),
            np.int32(-7),
        ),
        *(np.int64(2), np.float64(0.1)),
    ]
    for name, array in zip("xsbhnkd", arrays, strict=True):
        (folder / name).write_bytes(array.tobytes())

    assert run(tmp_path, "./call").stdout == "6 -2 -7 0.1\n0.1\n"
    assert run(folder, "./net", *"xsbhnkd").stdout.split()[-4:] == [
        "6",
        "-2",
        "-7",
        "0.10000000000000001",
    ]


@needs_compiler
@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs CMake")
@pytest.mark.parametrize("threads", ["1", "2"])
def test_cmake_builds_the_example(threads: str, tmp_path: Path) -> None:
    emit = [str(GRAPH), "--emit", "example", "--num-threads", threads]
    assert main([*emit, "--emit-dir", str(tmp_path)]) == 0
    (tmp_path / "x").write_bytes(np.zeros((1, 1, 8, 8), np.float32).tobytes())

    configured = run(tmp_path, "cmake", "-S", "digits_example", "-B", "build")
    if "OpenMP" in configured.stderr:
        pytest.skip("needs OpenMP for C")
    assert configured.returncode == 0, configured.stderr
    built = run(tmp_path, "cmake", "--build", "build")
    assert built.returncode == 0, built.stdout + built.stderr
    done = run(tmp_path, "build/digits_example", "digits.weights.bin", "x", "y")

    assert (done.returncode, done.stderr) == (0, "")
    expected = gawee_dialect.load(GRAPH).run({"x": np.zeros((1, 1, 8, 8), np.float32)})["fc"]
    found = np.fromfile(tmp_path / "y", np.float32).reshape(expected.shape)
    # Winograd's f32 sums in another order: within 1e-4 of the range
    assert_allclose(found, expected, rtol=0, atol=1e-4 * np.ptp(expected).item())


def test_the_tool_writes_every_kind_that_there_is() -> None:
    from gawee_dialect.backend.export import KINDS

    assert EMIT_KINDS == KINDS
    assert FORMATS.keys() == C_TYPES.keys()
    assert "workspace" in C_KEYWORDS  # a local name of the program
