// RUN: gawee-opt --bufferize --split-input-file --verify-diagnostics %s | filecheck %s

// CHECK: bufferize_invalid.mlir:5:3: error: 'gawee.relu' op cannot be bufferized: no rule is for it
func.func @graph_op_is_left(%x: tensor<5xf32>) -> tensor<5xf32> {
  %y = gawee.relu %x : (tensor<5xf32>) -> tensor<5xf32>
  func.return %y : tensor<5xf32>
}
