"""A C program calls code whose sizes are open, at several of them."""

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
