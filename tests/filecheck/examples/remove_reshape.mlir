// RUN: gawee-opt --load=%S/../../../examples/passes/remove_reshape.py --remove-reshape %s | filecheck %s
// RUN: gawee-opt --load=%S/../../../examples/passes/remove_reshape.py --remove-reshape --check-each %s -o %t

// CHECK-LABEL: func.func @a_reshape_there_and_back_is_nothing
// CHECK-NEXT:    func.return %x
func.func @a_reshape_there_and_back_is_nothing(%x: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %y = gawee.reshape %x shape [6, 5] : (tensor<2x3x5xf32>) -> tensor<6x5xf32>
  %z = gawee.reshape %y shape [2, 3, 5] : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
  return %z : tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @a_reshape_to_another_shape_is_kept
// CHECK-NEXT:    gawee.reshape %x shape [10, 3]
func.func @a_reshape_to_another_shape_is_kept(%x: tensor<2x3x5xf32>) -> tensor<10x3xf32> {
  %y = gawee.reshape %x shape [10, 3] : (tensor<2x3x5xf32>) -> tensor<10x3xf32>
  return %y : tensor<10x3xf32>
}
