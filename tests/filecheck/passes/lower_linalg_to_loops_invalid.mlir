// RUN: gawee-opt --lower-linalg-to-loops --verify-diagnostics %s | filecheck %s

// CHECK: error: 'linalg.exp' op cannot be removed by lower-linalg-to-loops: expected operands on buffers, got tensors; bufferize comes first
func.func @tensors_are_left_alone(%x: tensor<5xf32>, %e: tensor<5xf32>) -> tensor<5xf32> {
  %y = linalg.exp ins(%x : tensor<5xf32>) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  func.return %y : tensor<5xf32>
}
