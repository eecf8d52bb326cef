"""What is known of one kernel's schedule serves all that compute the same, whatever their names."""

import pytest

from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.levels import Level, lower_to
from gawee_dialect.passes.tensors import assign_schedules
from gawee_dialect.passes.tensors.assign_schedules import best_tile
from gawee_dialect.passes.tensors.assign_schedules.kernel_accesses import KernelAccesses
from gawee_dialect.passes.tensors.assign_schedules.tiles import Tile
from gawee_dialect.target.description import Processor
from gawee_dialect.universe import make_context

THREE_PRODUCTS = """
func.func @main(%x: tensor<5x7xf32> {gawee.input = "x"},
                %a: tensor<7x7xf32> {gawee.parameter = "a"},
                %b: tensor<7x7xf32> {gawee.parameter = "b"},
                %c: tensor<9x7xf32> {gawee.parameter = "c"})
    -> (tensor<5x9xf32> {gawee.output = "y"}) {
  %first = gawee.matmul %x, %a : (tensor<5x7xf32>, tensor<7x7xf32>) -> tensor<5x7xf32>
  %second = gawee.matmul %first, %b : (tensor<5x7xf32>, tensor<7x7xf32>) -> tensor<5x7xf32>
  %y = gawee.matmul %second, %c : (tensor<5x7xf32>, tensor<9x7xf32>) -> tensor<5x9xf32>
  func.return %y : tensor<5x9xf32>
}
"""


def test_kernels_of_one_kind_are_scheduled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    products: list[tuple[int, ...]] = []

    def counted(kernel: KernelAccesses, processor: Processor) -> Tile:
        if kernel.op.initial is not None:
            products.append(kernel.op.sizes)
        return best_tile(kernel, processor)

    monkeypatch.setattr(assign_schedules, "best_tile", counted)
    lower_to(parse_mlir(make_context(), THREE_PRODUCTS, "test.mlir"), Level.KERNELS)

    assert products == [(5, 7, 7), (5, 9, 7)]
