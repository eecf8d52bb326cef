// RUN: gawee-opt --load=%S/../../../examples/passes/sink_transpose.py --sink-transpose --canonicalize %s | filecheck %s
// RUN: gawee-opt --load=%S/../../../examples/passes/sink_transpose.py --sink-transpose --check-each %s -o %t

// CHECK-LABEL: func.func @a_pair_of_transposes_meets_and_cancels
// CHECK-NEXT:    %[[R:.*]] = gawee.relu %x : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT:    func.return %[[R]]
func.func @a_pair_of_transposes_meets_and_cancels(%x: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %t = gawee.transpose %x permutation [2, 0, 1] : (tensor<2x3x5xf32>) -> tensor<5x2x3xf32>
  %r = gawee.relu %t : (tensor<5x2x3xf32>) -> tensor<5x2x3xf32>
  %y = gawee.transpose %r permutation [1, 2, 0] : (tensor<5x2x3xf32>) -> tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @a_transpose_with_other_readers_is_kept
// CHECK-NEXT:    %t = gawee.transpose
func.func @a_transpose_with_other_readers_is_kept(%x: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %t = gawee.transpose %x permutation [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %r = gawee.relu %t : (tensor<3x2xf32>) -> tensor<3x2xf32>
  return %t, %r : tensor<3x2xf32>, tensor<3x2xf32>
}
