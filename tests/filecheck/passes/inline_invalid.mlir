// RUN: gawee-opt --inline --verify-diagnostics %s | filecheck %s

// CHECK: inline_invalid.mlir:10:3: error: 'func.call' op cannot be inlined: expected '@first' not to call itself, at any distance
func.func private @first(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = func.call @second(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func private @second(%x: tensor<3xf32>) -> tensor<3xf32> {

  %0 = func.call @first(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
