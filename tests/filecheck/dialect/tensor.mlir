// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @elements_are_computed_from_their_indices
// CHECK:       tensor.generate {
// CHECK-NEXT:  ^bb0(%[[I:.*]]: index, %[[J:.*]]: index):
// CHECK:       } : tensor<3x5xindex>
// CHECK:       tensor.generate %n {
// CHECK:       } : tensor<?xindex>
func.func @elements_are_computed_from_their_indices(%n: index) -> (tensor<3x5xindex>, tensor<?xindex>) {
  %t = tensor.generate {
  ^bb0(%i: index, %j: index):
    %0 = arith.addi %i, %j : index
    tensor.yield %0 : index
  } : tensor<3x5xindex>
  %u = tensor.generate %n {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<?xindex>
  return %t, %u : tensor<3x5xindex>, tensor<?xindex>
}
