// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @non_max_suppression_in_a_batch
// CHECK-NEXT:  %r = gawee.non_max_suppression %c, %o : (tensor<2x5xi1>, tensor<2x5x5xi1>) -> tensor<2x5xi1>
func.func @non_max_suppression_in_a_batch(%c: tensor<2x5xi1>, %o: tensor<2x5x5xi1>) -> tensor<2x5xi1> {
  %r = gawee.non_max_suppression %c, %o : (tensor<2x5xi1>, tensor<2x5x5xi1>) -> tensor<2x5xi1>
  func.return %r : tensor<2x5xi1>
}
