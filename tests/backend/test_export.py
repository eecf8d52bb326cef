"""Files for C: a program built against the header runs the network without Python."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.backend.compiled import export
from gawee_dialect.diagnostics import GaweeError
from tests.backend.test_compiled import NETWORK, SCALE, SHIFT, X, Z
from tests.loops_level import llvm_module

LINEAR = """
func.func @main(%x: memref<5x7xf32> {gawee.input = "x"}, %w: memref<3x7xf32> {gawee.parameter = "w"},
                %y: memref<5x3xf32> {gawee.output = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c5 step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      %sum = scf.for %k = %c0 to %c7 step %c1 iter_args(%acc = %zero) -> (f32) {
        %a = memref.load %x[%i, %k] : memref<5x7xf32>
        %b = memref.load %w[%j, %k] : memref<3x7xf32>
        %product = arith.mulf %a, %b : f32
        %next = arith.addf %acc, %product : f32
        scf.yield %next : f32
      }
      memref.store %sum, %y[%i, %j] : memref<5x3xf32>
    }
  }
  return
}
"""

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")


@needs_compiler
@pytest.mark.parametrize("linked", ["net.o", "./net.so"])
def test_the_object_and_the_library_compute_what_numpy_does(tmp_path: Path, linked: str) -> None:
    random = np.random.default_rng(5)
    x = random.standard_normal((5, 7), np.float32)
    w = random.standard_normal((3, 7), np.float32)
    (tmp_path / "input.bin").write_bytes(x.tobytes())

    export(llvm_module(LINEAR), "net", tmp_path, ["shared", "example"], parameters={"w": w})
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-I."]
    build = ["cc", *flags, "net_example/main.c", linked, "-lm", "-o", "main"]
    subprocess.run(build, cwd=tmp_path, check=True)
    subprocess.run(["./main", "net.weights.bin", "input.bin", "y"], cwd=tmp_path, check=True)

    found = np.fromfile(tmp_path / "y", np.float32).reshape(5, 3)
    # seven f32 products in another order than NumPy's
    np.testing.assert_allclose(found, x @ w.T, rtol=1e-5, atol=1e-6)


@needs_compiler
def test_prepared_weights_and_odd_names_reach_c(tmp_path: Path) -> None:
    text = NETWORK.replace('gawee.input = "z"', 'gawee.input = "in.2"')
    text = text.replace('gawee.output = "sum"', 'gawee.output = "int"')
    parameters = {"layer.scale": SCALE, "layer.shift": SHIFT}
    arrays = f"float x[12] = {{{', '.join(map(str, X.ravel()))}}}, z[12];"
    (tmp_path / "main.c").write_text(f"""
#include <stdio.h>
#include <stdlib.h>
#include "two_layers.h"
int main(void) {{
    {arrays}
    float y[12], sum[12];
    for (int i = 0; i < 12; i++) z[i] = 100;
    void *weights, *workspace = two_layers_allocate(two_layers_workspace_size());
    if (two_layers_load("two_layers.weights.bin", &weights) != TWO_LAYERS_LOADED) return 1;
    if (two_layers_workspace_size() != 192) return 2;
    two_layers_run(x, z, y, sum, weights, workspace);
    for (int i = 0; i < 12; i++) printf("%.9g %.9g\\n", y[i], sum[i]);
    return 0;
}}
""")

    export(llvm_module(text), "two_layers", tmp_path, ["obj"], parameters=parameters)
    subprocess.run(["cc", "main.c", "two_layers.o", "-o", "main"], cwd=tmp_path, check=True)
    printed = subprocess.run("./main", cwd=tmp_path, check=True, capture_output=True, text=True)

    y, total = np.array(printed.stdout.split(), np.float32).reshape(12, 2).T
    expected = X * SCALE + SCALE * SHIFT
    np.testing.assert_array_equal(y, expected.ravel())
    np.testing.assert_array_equal(total, (expected + Z).ravel())
    header = (tmp_path / "two_layers.h").read_text()
    assert (
        "int two_layers_run(const float *x, const float *in_2, float *y, float *int_1, "
        "const void *weights, void *workspace);" in header
    )


def test_manifest_says_where_each_weight_is(tmp_path: Path) -> None:
    parameters = {"layer.scale": SCALE, "layer.shift": SHIFT}

    paths = export(llvm_module(NETWORK), "net", tmp_path, ["header"], parameters=parameters)

    assert sorted(path.name for path in paths) == ["net.h", "net.json", "net.weights.bin"]
    manifest = json.loads((tmp_path / "net.json").read_text())
    blob = (tmp_path / "net.weights.bin").read_bytes()
    assert manifest["workspace_size"] == 192
    assert manifest["weights_start"] == 64
    blob = blob[64:]
    assert manifest["weights_size"] == len(blob)
    assert [(w["name"], w["role"], w["offset"]) for w in manifest["weights"]] == [
        ("layer.scale", "parameter", 0),
        ("0", "prepared", 64),
    ]
    np.testing.assert_array_equal(np.frombuffer(blob, np.float32, 4, 64), SCALE * SHIFT)
    assert manifest["outputs"][1] == {
        "c_name": "sum",
        "name": "sum",
        "shape": [3, 4],
        "dtype": "float32",
    }


def test_text_outputs_hold_only_the_entry_points(tmp_path: Path) -> None:
    export(llvm_module(LINEAR), "net", tmp_path, ["ll", "asm"])

    ir, assembly = (tmp_path / "net.ll").read_text(), (tmp_path / "net.s").read_text()
    assert re.findall(r"^define (?!internal).*@(\w+)\(", ir, flags=re.MULTILINE) == [
        "net_workspace_size",
        "net_weights_size",
        "net_weights_id",
        "net_run",
    ]
    assert re.findall(r"\.globl\s+(\w+)", assembly) == [
        "net_workspace_size",
        "net_weights_size",
        "net_weights_id",
        "net_run",
    ]


def test_no_temporary_file_stays_behind(tmp_path: Path) -> None:
    export(llvm_module(LINEAR), "net", tmp_path, ["obj"])

    assert sorted(os.listdir(tmp_path)) == ["net.h", "net.json", "net.o"]


def test_a_missing_compiler_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-cc")

    with pytest.raises(GaweeError, match="cannot make a shared library because no C"):
        export(llvm_module(LINEAR), "net", tmp_path, ["shared"])

    assert os.listdir(tmp_path) == []


def test_a_link_failure_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "false")

    with pytest.raises(GaweeError, match="cannot link the shared library: exit code 1"):
        export(llvm_module(LINEAR), "net", tmp_path, ["shared"])


def test_names_and_kinds_are_checked(tmp_path: Path) -> None:
    with pytest.raises(GaweeError, match="expected a C identifier as name, got 'my-net'"):
        export(llvm_module(LINEAR), "my-net", tmp_path, ["obj"])
    with pytest.raises(GaweeError, match="unsupported output 'exe'; supported: ll, asm, obj"):
        export(llvm_module(LINEAR), "net", tmp_path, ["exe"])
    wrong = {"w": np.zeros((3, 6), np.float32)}
    with pytest.raises(GaweeError, match="parameter 'w': expected shape 3x7, got 3x6"):
        export(llvm_module(LINEAR), "net", tmp_path, ["header"], parameters=wrong)
