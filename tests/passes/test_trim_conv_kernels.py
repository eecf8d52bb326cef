"""trim-conv-kernels leaves every convolution what it was; PyTorch is the judge."""

from itertools import product

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.model import Model
from tests.closeness import assert_allclose
from tests.passes.modules import op_names, parse, transform

torch = pytest.importorskip("torch")

SIZES = [(1, 1), (2, 5), (3, 1), (4, 7)]
KERNELS = [(3, 3), (1, 4), (2, 5)]
DILATIONS = [(1, 1), (3, 2), (7, 4)]
STRIDES = [(1, 1), (2, 3)]
PADDING = [(0, 0), (1, 2), (7, 7)]


def convolution(
    size: tuple[int, int],
    kernel: tuple[int, int],
    dilation: tuple[int, int],
    stride: tuple[int, int],
    padding: tuple[int, int],
) -> ModuleOp | None:
    """Return a convolution of 4 channels to 6 in 2 groups; None where no window fits."""
    along = zip(size, kernel, dilation, stride, padding, strict=True)
    result = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, d, s, p in along]
    if min(result) < 1:
        return None
    types = f"(tensor<2x4x{size[0]}x{size[1]}xf32>, tensor<6x2x{kernel[0]}x{kernel[1]}xf32>)"
    out = f"tensor<2x6x{result[0]}x{result[1]}xf32>"
    arguments = types[1:-1].split(", ")
    return parse(f"""
      func.func @main(%x: {arguments[0]} {{gawee.input = "x"}},
                      %w: {arguments[1]} {{gawee.parameter = "w"}})
          -> ({out} {{gawee.output = "y"}}) {{
        %y = gawee.conv %x, %w strides {list(stride)} padding {list(padding * 2)}
          dilations {list(dilation)} groups 2 : {types} -> {out}
        func.return %y : {out}
      }}""")


def test_every_window_sums_what_it_summed() -> None:
    random, trimmed, found = np.random.default_rng(3), 0, 0
    for case in product(SIZES, KERNELS, DILATIONS, STRIDES, PADDING):
        before = convolution(*case)
        if before is None:
            continue
        size, kernel, dilation, stride, padding = case
        after = transform(before, "trim-conv-kernels")
        x = random.standard_normal((2, 4, *size)).astype(np.float32)
        w = random.standard_normal((6, 2, *kernel)).astype(np.float32)
        expected = torch.nn.functional.conv2d(
            torch.from_numpy(x), torch.from_numpy(w), None, stride, padding, dilation, 2
        )
        found, trimmed = found + 1, trimmed + ("slice" in op_names(after))
        got = Model(after, {"w": w}).run({"x": x})["y"]
        # Sums of up to 20 products of normal numbers, in another order.
        assert_allclose(got, expected.numpy(), rtol=1e-5, atol=1e-5, err_msg=str(case))
    assert 20 < trimmed < found - 20


def test_a_pyramid_of_wide_rates_reads_and_stores_no_wide_padding() -> None:
    before = convolution((4, 7), (3, 3), (36, 36), (1, 1), (36, 36))
    assert before is not None
    compiled = Model(before, {"w": np.ones((6, 2, 3, 3), np.float32)}).compile(cache=False)

    x = np.arange(2 * 4 * 4 * 7, dtype=np.float32).reshape(2, 4, 4, 7)  # its sums are exact

    pairs = x.reshape(2, 2, 2, 4, 7).sum(2)
    np.testing.assert_array_equal(compiled(x), pairs.repeat(3, 1))
    assert compiled.memory.workspace < 4 * x.nbytes
