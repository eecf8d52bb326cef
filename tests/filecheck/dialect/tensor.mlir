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

// CHECK-LABEL: func.func @a_tile_is_filled_up_to_a_static_size
// CHECK:       tensor.pad %x low[0, 0] high[%n, 0]
// CHECK:       tensor<?x5xf32> to tensor<3x5xf32>
func.func @a_tile_is_filled_up_to_a_static_size(%x: tensor<?x5xf32>, %n: index, %v: f32) -> tensor<3x5xf32> {
  %p = tensor.pad %x low[0, 0] high[%n, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<?x5xf32> to tensor<3x5xf32>
  return %p : tensor<3x5xf32>
}

// CHECK-LABEL: func.func @a_reshape_to_sizes_of_run_time
// CHECK: tensor.reshape %x(%s) : (tensor<4x3xf32>, tensor<2xindex>) -> tensor<?x6xf32>
func.func @a_reshape_to_sizes_of_run_time(%x: tensor<4x3xf32>, %s: tensor<2xindex>) -> tensor<?x6xf32> {
  %r = tensor.reshape %x(%s) : (tensor<4x3xf32>, tensor<2xindex>) -> tensor<?x6xf32>
  return %r : tensor<?x6xf32>
}
