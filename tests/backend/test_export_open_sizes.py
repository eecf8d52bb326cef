"""A C program calls code whose sizes are open, at several of them."""

import ctypes
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.code_options import CodeOptions
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import module_of_text
from gawee_dialect.model import Model
from tests.closeness import assert_allclose

PLAIN = CodeOptions(algorithms="plain")

NETWORK = """
func.func @main(%x: tensor<?x?x6xf32> {gawee.input = "x", gawee.sizes = ["batch", "length", "-"]},
                %w: tensor<5x6xf32> {gawee.parameter = "w"})
    -> (tensor<?x?x5xf32> {gawee.output = "y"})
    attributes {gawee.ranges = {batch = "1 to 3", length = "4 to 64 step 4"}} {
  %0 = gawee.matmul %x, %w : (tensor<?x?x6xf32>, tensor<5x6xf32>) -> tensor<?x?x5xf32>
  %1 = gawee.softmax %0 axis 1 : (tensor<?x?x5xf32>) -> tensor<?x?x5xf32>
  func.return %1 : tensor<?x?x5xf32>
}
"""

MAIN = """\
#include <stdio.h>
#include "net.h"

int main(void) {
    static const int64_t cases[][2] = {{1, 4}, {3, 64}, {2, 20}, {4, 4}, {1, 6}, {1, 68}};
    void *weights = NULL;
    FILE *in = fopen("x", "rb"), *out = fopen("y", "wb");
    if (net_load("net.weights.bin", &weights) != NET_LOADED || !in || !out)
        return 1;
    for (int i = 0; i < 6; i++) {
        const int64_t *sizes = cases[i];
        size_t bytes = net_workspace_size(sizes), rows = (size_t)(sizes[0] * sizes[1]);
        void *workspace = net_allocate(bytes);
        float *x = net_allocate(rows * 6 * 4), *y = net_allocate(rows * 5 * 4);
        if (i < 3 && fread(x, 24, rows, in) != rows)
            return 1;
        int status = net_run(sizes, x, y, weights, workspace);
        printf("%d %d\\n", status, bytes >= (i < 3 ? rows * 5 * 4 : 0) && (i < 3) == (bytes > 0));
        if (status == 0)
            fwrite(y, 20, rows, out);
        net_free(x), net_free(y), net_free(workspace);
    }
    net_free(weights);
    return fclose(out);
}
"""


def network() -> tuple[Model, np.ndarray]:
    weights = np.random.default_rng(1).standard_normal((5, 6), np.float32)
    return Model(module_of_text(NETWORK), {"w": weights}), weights


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.parametrize("options", [PLAIN, CodeOptions(num_threads=1)], ids=["plain", "kernels"])
def test_c_calls_at_several_sizes(options: CodeOptions, tmp_path: Path) -> None:
    model, weights = network()
    model.save(tmp_path, ("obj", "header"), options, name="net")
    (tmp_path / "main.c").write_text(MAIN)
    rng = np.random.default_rng(2)
    cases = [rng.standard_normal((*sizes, 6), np.float32) for sizes in ((1, 4), (3, 64), (2, 20))]
    (tmp_path / "x").write_bytes(b"".join(each.tobytes() for each in cases))

    build = ["cc", "-Wall", "-Wextra", "-Werror", "main.c", "net.o", "-lm", "-o", "main"]
    subprocess.run(build, cwd=tmp_path, check=True)
    printed = subprocess.run("./main", cwd=tmp_path, check=True, capture_output=True, text=True)

    # A batch of 4, and lengths that are no multiple of 4, and beyond 64.
    assert printed.stdout.split("\n")[:6] == ["0 1", "0 1", "0 1", "1 1", "2 1", "2 1"]
    found = np.frombuffer((tmp_path / "y").read_bytes(), np.float32)
    powers = [np.exp(each.astype(np.float64) @ weights.T.astype(np.float64)) for each in cases]
    expected = np.concatenate([(each / each.sum(1, keepdims=True)).ravel() for each in powers])
    # Sums of six products, and of as many powers as the length, in float32.
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-6)


IMAGES = """
func.func @main(%x: tensor<?x16x20x20xf32> {gawee.input = "x", gawee.sizes = ["batch", "-", "-", "-"]},
                %w: tensor<16x16x3x3xf32> {gawee.parameter = "w"})
    -> (tensor<?x16x20x20xf32> {gawee.output = "y"})
    attributes {gawee.ranges = {batch = "1 to 9"}} {
  %0 = gawee.conv %x, %w strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<?x16x20x20xf32>, tensor<16x16x3x3xf32>) -> tensor<?x16x20x20xf32>
  %1 = gawee.relu %0 : (tensor<?x16x20x20xf32>) -> tensor<?x16x20x20xf32>
  func.return %1 : tensor<?x16x20x20xf32>
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_c_calls_convolutions_of_any_number_of_images(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    import torch

    rng = np.random.default_rng(3)
    weights = rng.standard_normal((16, 16, 3, 3), np.float32)
    model = Model(module_of_text(IMAGES), {"w": weights})
    options = CodeOptions(num_threads=1)
    assert any(op.name == "gawee.winograd" for op in model.lowered("kernels", options).walk())
    model.save(tmp_path, ("obj", "header"), options, name="net")
    loads = "int load(const char *path, void **weights) { return net_load(path, weights); }\n"
    (tmp_path / "load.c").write_text(f'#include "net.h"\n{loads}')
    build = ["cc", "-shared", "-fPIC", "load.c", "net.o", "-lm", "-o", "net.so"]
    subprocess.run(build, cwd=tmp_path, check=True)

    library = ctypes.CDLL(str(tmp_path / "net.so"))
    library.net_workspace_size.restype = ctypes.c_size_t
    loaded = ctypes.c_void_p()
    assert library.load(bytes(tmp_path / "net.weights.bin"), ctypes.byref(loaded)) == 0
    for batch in (1, 9, 4):
        x = rng.standard_normal((batch, 16, 20, 20), np.float32)
        y = np.empty_like(x)
        sizes = (ctypes.c_int64 * 1)(batch)
        workspace = np.empty(library.net_workspace_size(sizes), np.uint8)
        pointers = (ctypes.c_void_p(each.ctypes.data) for each in (x, y))
        place = ctypes.c_void_p(workspace.ctypes.data)
        assert library.net_run(sizes, *pointers, loaded, place) == 0
        taken = torch.from_numpy(x).double(), torch.from_numpy(weights).double()
        expected = torch.conv2d(*taken, padding=1).relu().numpy()
        # Sums of 144 products by Winograd's algorithm, whose transforms add some roundings.
        assert_allclose(y, expected, rtol=1e-3, atol=1e-3)


def test_header_and_manifest_say_the_sizes(tmp_path: Path) -> None:
    model, _ = network()

    model.save(tmp_path, ("header",), PLAIN, name="net")

    header = (tmp_path / "net.h").read_text()
    assert "size_t net_workspace_size(const int64_t sizes[2]);" in header
    assert "int net_run(const int64_t sizes[2], const float *x, float *y," in header
    assert (
        "1: size 'batch' is not of 1 to 3\n   2: size 'length' is not of 4 to 64 step 4" in header
    )
    manifest = json.loads((tmp_path / "net.json").read_text())
    assert manifest["inputs"][0]["shape"] == ["batch", "length", 6]
    assert manifest["sizes"][1] == {"name": "length", "low": 4, "high": 64, "step": 4}
    assert manifest["workspace_size"] is None


def test_an_example_of_open_sizes_is_refused(tmp_path: Path) -> None:
    model, _ = network()

    with pytest.raises(GaweeError, match="cannot write an example for open sizes: 'batch'"):
        model.save(tmp_path, ("example",), PLAIN, name="net")

    assert not list(tmp_path.iterdir())
