module {
  func.func @main(%x: tensor<3xf32>) -> tensor<2xf32> {
    %w = arith.constant dense_resource<layer.weight> : tensor<2x3xf32>
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2xf32>
    %z = linalg.fill ins(%c : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
    %y = linalg.matvec ins(%w, %x : tensor<2x3xf32>, tensor<3xf32>) outs(%z : tensor<2xf32>) -> tensor<2xf32>
    return %y : tensor<2xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      layer.weight: "0x040000000000803F000000C0000040400000003F00008040000080BF"
    }
  }
#-}
