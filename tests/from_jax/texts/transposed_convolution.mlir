module @jit_transposed_convolution {
  func.func public @main(%arg0: tensor<1x4x3x2xf32>, %arg1: tensor<3x3x2x3xf32>) -> tensor<1x8x6x3xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<1x8x6x3xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<1x8x6x3xf32>) -> tensor<1x8x6x3xf32>
    %2 = tensor.empty() : tensor<1x10x8x2xf32>
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<1x10x8x2xf32>) -> tensor<1x10x8x2xf32>
    %inserted_slice = tensor.insert_slice %arg0 into %3[0, 2, 2, 0] [1, 4, 3, 2] [1, 2, 2, 1] : tensor<1x4x3x2xf32> into tensor<1x10x8x2xf32>
    %4 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%inserted_slice, %arg1 : tensor<1x10x8x2xf32>, tensor<3x3x2x3xf32>) outs(%1 : tensor<1x8x6x3xf32>) -> tensor<1x8x6x3xf32>
    return %4 : tensor<1x8x6x3xf32>
  }
}

