// RUN: gawee-opt --hoist-parameter-computation --split-input-file --verify-diagnostics %s | filecheck %s

// CHECK: error: 'func.func' op expected '@prepare' to return value '0', got 0 values
func.func @main(%p: tensor<2x3xf32> {gawee.prepared = "0"}, %v: tensor<2x3xf32> {gawee.parameter = "v"}) -> tensor<2x3xf32> {
  %q = gawee.mul %p, %v : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %q : tensor<2x3xf32>
}
