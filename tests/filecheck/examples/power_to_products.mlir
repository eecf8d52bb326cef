// RUN: gawee-opt --load=%S/../../../examples/passes/power_to_products.py --power-to-products %s | filecheck %s
// RUN: gawee-opt --load=%S/../../../examples/passes/power_to_products.py --power-to-products --check-each %s -o %t

// CHECK-LABEL: func.func @a_cube_is_two_products
// CHECK:         %[[S:.*]] = gawee.mul %x, %x
// CHECK-NEXT:    gawee.mul %[[S]], %x
// CHECK-NOT:     gawee.pow
func.func @a_cube_is_two_products(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = gawee.constant dense<3.0> : tensor<f32>
  %y = gawee.pow %x, %c : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @other_exponents_are_kept
// CHECK:         gawee.pow
func.func @other_exponents_are_kept(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = gawee.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %y = gawee.pow %x, %c : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
