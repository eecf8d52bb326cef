// RUN: not gawee-opt --check-indices %s 2>&1 | filecheck %s

// CHECK: check_indices_blocks_invalid.mlir:4:1: error: 'func.func' op expected one block where indices are checked, got 2
func.func @main(%x: tensor<5x3xf32>, %i: tensor<4xi64>) -> tensor<4x3xf32> {
  cf.br ^next
^next:
  %y = gawee.gather %x, %i axis 0 : (tensor<5x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}
