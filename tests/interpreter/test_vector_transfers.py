"""Transfers of vectors of several dimensions, and what is masked, against upstream's native code.

Equal bits are expected: nothing is rounded but sums, which both take in the order of the axes.
"""

import re

import numpy as np
import pytest

from gawee_dialect.interpreter import RunError
from tests.interpreter.modules import random, run
from tests.upstream_mlir import PASSES, requires_upstream, run_upstream

AT = PASSES.index("convert-scf-to-cf")
UPSTREAM = (
    "canonicalize",
    "func.func(lower-vector-mask,lower-vector-multi-reduction)",
    PASSES[0],
    "convert-vector-to-scf",
    *PASSES[1:AT],
    *("convert-vector-to-llvm", "convert-ub-to-llvm"),
    *PASSES[AT:],
)

BODIES: dict[str, str] = {
    "what is not in bounds is padding": """
  %v = vector.transfer_read %x[%c2, %c1], %p : tensor<5x6xf32>, vector<4x8xf32>
  %y = vector.transfer_write %v, %e[%c0, %c0] : vector<4x8xf32>, tensor<8x8xf32>""",
    "axes in another order": """
  %v = vector.transfer_read %x[%c0, %c1], %p {permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : tensor<5x6xf32>, vector<4x8xf32>
  %y = vector.transfer_write %v, %e[%c1, %c2] {permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : vector<4x8xf32>, tensor<8x8xf32>""",
    "one row for all": """
  %v = vector.transfer_read %x[%c2, %c0], %p {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (0, d1)>} : tensor<5x6xf32>, vector<4x4xf32>
  %y = vector.transfer_write %v, %e[%c1, %c2] : vector<4x4xf32>, tensor<8x8xf32>""",
    "one column, along another axis": """
  %v = vector.transfer_read %x[%c0, %c2], %p {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (d0)>} : tensor<5x6xf32>, vector<4xf32>
  %y = vector.transfer_write %v, %e[%c2, %c1] {in_bounds = [true]} : vector<4xf32>, tensor<8x8xf32>""",
    "lanes that a mask has set": """
  %m = vector.create_mask %c2, %c3 : vector<4x8xi1>
  %v = vector.mask %m { vector.transfer_read %x[%c1, %c0], %p {in_bounds = [true, true]} : tensor<5x6xf32>, vector<4x8xf32> } : vector<4x8xi1> -> vector<4x8xf32>
  %n = vector.create_mask %c3, %c2 : vector<4x8xi1>
  %y = vector.mask %n { vector.transfer_write %v, %e[%c0, %c0] {in_bounds = [true, true]} : vector<4x8xf32>, tensor<8x8xf32> } : vector<4x8xi1> -> tensor<8x8xf32>""",
    "a mask of a transfer itself": """
  %m = vector.create_mask %c3, %c2 : vector<4x8xi1>
  %v = vector.transfer_read %x[%c0, %c0], %p, %m : tensor<5x6xf32>, vector<4x8xf32>
  %y = vector.transfer_write %v, %e[%c0, %c0], %m : vector<4x8xf32>, tensor<8x8xf32>""",
    "sums of rows and columns": """
  %v = vector.transfer_read %x[%c0, %c0], %p {in_bounds = [true, true]} : tensor<5x6xf32>, vector<4x4xf32>
  %s = vector.transfer_read %x[%c1, %c1], %p {in_bounds = [true]} : tensor<5x6xf32>, vector<4xf32>
  %r = vector.multi_reduction <add>, %v, %s [0] : vector<4x4xf32> to vector<4xf32>
  %y = vector.transfer_write %r, %e[%c2, %c1] {in_bounds = [true]} : vector<4xf32>, tensor<8x8xf32>""",
    "a maximum of lanes that are set": """
  %m = vector.create_mask %c3, %c2 : vector<4x4xi1>
  %v = vector.transfer_read %x[%c0, %c0], %p {in_bounds = [true, true]} : tensor<5x6xf32>, vector<4x4xf32>
  %s = vector.transfer_read %x[%c1, %c1], %p {in_bounds = [true]} : tensor<5x6xf32>, vector<4xf32>
  %r = vector.mask %m { vector.multi_reduction <maximumf>, %v, %s [0] : vector<4x4xf32> to vector<4xf32> } : vector<4x4xi1> -> vector<4xf32>
  %y = vector.transfer_write %r, %e[%c2, %c1] {in_bounds = [true]} : vector<4xf32>, tensor<8x8xf32>""",
}


def program(body: str) -> str:
    numbers = "".join(f"  %c{n} = arith.constant {n} : index\n" for n in range(7))
    return f"""
func.func @main(%x: tensor<5x6xf32> {{gawee.input = "x"}}, %e: tensor<8x8xf32> {{gawee.input = "e"}})
    -> (tensor<8x8xf32> {{gawee.output = "y"}}) {{
{numbers}  %p = arith.constant -7.0 : f32{body}
  return %y : tensor<8x8xf32>
}}"""


@requires_upstream
@pytest.mark.parametrize("name", BODIES)
def test_transfers_are_upstreams(name: str) -> None:
    text, x, e = program(BODIES[name]), random((5, 6)), random((8, 8), seed=1)

    (y,) = run(text, x=x, e=e)

    (expected,) = run_upstream(text, [x, e], passes=UPSTREAM)
    np.testing.assert_array_equal(y, expected)
    assert not np.array_equal(y, e)


def test_what_is_masked_off_has_the_other_value() -> None:
    body = """
  %m = vector.create_mask %c3 : vector<4xi1>
  %v = vector.transfer_read %x[%c0, %c0], %p : tensor<5x6xf32>, vector<4xf32>
  %w = vector.transfer_read %x[%c1, %c0], %p : tensor<5x6xf32>, vector<4xf32>
  %a = vector.mask %m, %w { arith.addf %v, %v : vector<4xf32> } : vector<4xi1> -> vector<4xf32>
  %y = vector.transfer_write %a, %e[%c0, %c0] : vector<4xf32>, tensor<8x8xf32>"""
    x = random((5, 6))

    (y,) = run(program(body), x=x, e=random((8, 8)))

    np.testing.assert_array_equal(y[0, :4], [*(2 * x[0, :3]), x[1, 3]])


def test_what_begins_before_memory_is_padding_until_there() -> None:
    body = """
  %v = vector.transfer_read %x[%n, %n], %p : tensor<5x6xf32>, vector<3x4xf32>
  %y = vector.transfer_write %v, %e[%c0, %n] : vector<3x4xf32>, tensor<8x8xf32>"""
    x = random((5, 6))
    text = program("\n  %n = arith.constant -1 : index" + body)

    (y,) = run(text, x=x, e=random((8, 8)))

    expected = np.pad(x[:2, :3], ((1, 0), (1, 0)), constant_values=-7)[:, 1:]
    np.testing.assert_array_equal(y[:3, :3], expected)


def test_memory_is_written_in_its_place() -> None:
    text = """
func.func @main(%x: memref<5x6xf32> {gawee.input = "x"}, %y: memref<8x8xf32> {gawee.output = "y"}) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%c0, %c0], %zero : memref<5x6xf32>, vector<8x8xf32>
  vector.transfer_write %v, %y[%c0, %c0] : vector<8x8xf32>, memref<8x8xf32>
  vector.transfer_write %v, %y[%c5, %c0] : vector<8x8xf32>, memref<8x8xf32>
  return
}"""
    x = random((5, 6))

    (y,) = run(text, x=x)

    expected = np.pad(x, ((0, 3), (0, 2)))
    expected[5:, :6] = x[:3]
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            """
  %v = vector.transfer_read %x[%c2, %c0], %p {in_bounds = [true, true]} : tensor<5x6xf32>, vector<4x4xf32>
  %y = vector.transfer_write %v, %e[%c0, %c0] : vector<4x4xf32>, tensor<8x8xf32>""",
            "'vector.transfer_read' op cannot run: index 5 is out of bounds for dimension 0 of size 5",
        ),
        (
            """
  %v = vector.transfer_read %x[%c6, %c0], %p : tensor<5x6xf32>, vector<4xf32>
  %y = vector.transfer_write %v, %e[%c0, %c0] : vector<4xf32>, tensor<8x8xf32>""",
            "index 6 is out of bounds for dimension 0 of size 5",
        ),
    ],
)
def test_what_leaves_memory_is_told(body: str, message: str) -> None:
    with pytest.raises(RunError, match=re.escape(message)):
        run(program(body), x=random((5, 6)), e=random((8, 8)))
