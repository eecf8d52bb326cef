// RUN: gawee-opt --load=%S/../../../examples/passes/fold_exp.py --fold-exp %s | filecheck %s
// RUN: gawee-opt --load=%S/../../../examples/passes/fold_exp.py --fold-exp --check-each %s -o %t

// CHECK-LABEL: func.func @the_exponential_of_a_constant_is_one
// CHECK-NEXT:    %[[E:.*]] = gawee.constant dense<[1.000000e+00, 2.71828{{.*}}, 7.38905{{.*}}]> : tensor<3xf32>
// CHECK-NEXT:    gawee.mul %x, %[[E]]
func.func @the_exponential_of_a_constant_is_one(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = gawee.constant dense<[0.0, 1.0, 2.0]> : tensor<3xf32>
  %e = gawee.exp %c : (tensor<3xf32>) -> tensor<3xf32>
  %y = gawee.mul %x, %e : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @an_input_is_not_folded
// CHECK:         gawee.exp %x
func.func @an_input_is_not_folded(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = gawee.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %e : tensor<2x3xf32>
}
