// RUN: gawee-opt --load=%S/../../../examples/passes/sigmoid_to_silu.py --sigmoid-to-silu %s | filecheck %s
// RUN: gawee-opt --load=%S/../../../examples/passes/sigmoid_to_silu.py --sigmoid-to-silu --check-each %s -o %t

// CHECK-LABEL: func.func @a_gate_by_its_own_sigmoid_is_silu
// CHECK-NEXT:    %y = gawee.silu %x
// CHECK-NEXT:    func.return %y
func.func @a_gate_by_its_own_sigmoid_is_silu(%x: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %s = gawee.sigmoid %x : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %y = gawee.mul %s, %x : (tensor<2x3x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @the_sigmoid_of_another_value_is_kept
// CHECK:         gawee.mul
func.func @the_sigmoid_of_another_value_is_kept(%x: tensor<2x3x5xf32>, %z: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %s = gawee.sigmoid %z : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %y = gawee.mul %s, %x : (tensor<2x3x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}
