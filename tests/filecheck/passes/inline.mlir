// RUN: gawee-opt --inline --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @calls_of_calls_are_written_out
// CHECK:         %[[A:.*]] = linalg.exp ins(%x : tensor<3xf32>)
// CHECK:         %[[B:.*]] = linalg.add ins(%[[A]], %[[A]] : tensor<3xf32>, tensor<3xf32>)
// CHECK:         %[[C:.*]] = linalg.exp ins(%[[B]] : tensor<3xf32>)
// CHECK:         func.return %[[C]] : tensor<3xf32>
// CHECK-NOT:   @exponential
// CHECK-NOT:   @twice
func.func @calls_of_calls_are_written_out(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = func.call @twice(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = func.call @exponential(%0) : (tensor<3xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}
func.func private @twice(%a: tensor<3xf32>) -> tensor<3xf32> {
  %0 = func.call @exponential(%a) : (tensor<3xf32>) -> tensor<3xf32>
  %e = tensor.empty() : tensor<3xf32>
  %1 = linalg.add ins(%0, %0 : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}
func.func private @exponential(%a: tensor<3xf32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %0 = linalg.exp ins(%a : tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// CHECK-LABEL: func.func @functions_on_scalars_and_those_without_a_body_are_called
// CHECK:         %0 = func.call @square(%v) : (f32) -> f32
// CHECK:         %1 = func.call @elsewhere(%x) : (tensor<3xf32>) -> tensor<3xf32>
// CHECK:       func.func private @square
// CHECK:       func.func private @elsewhere
func.func @functions_on_scalars_and_those_without_a_body_are_called(%x: tensor<3xf32>, %v: f32) -> (f32, tensor<3xf32>) {
  %0 = func.call @square(%v) : (f32) -> f32
  %1 = func.call @elsewhere(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0, %1 : f32, tensor<3xf32>
}
func.func private @square(%a: f32) -> f32 {
  %0 = arith.mulf %a, %a : f32
  return %0 : f32
}
func.func private @elsewhere(tensor<3xf32>) -> tensor<3xf32>

// -----

// CHECK-LABEL: func.func @a_public_function_stays
// CHECK-NEXT:    func.return %x
// CHECK-LABEL: func.func @same
func.func @a_public_function_stays(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = func.call @same(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func @same(%a: tensor<3xf32>) -> tensor<3xf32> {
  return %a : tensor<3xf32>
}
