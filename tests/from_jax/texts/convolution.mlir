#map = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d3, d2, d0, d1)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
module @jit_convolution {
  func.func public @main(%arg0: tensor<2x3x7x6xf32>, %arg1: tensor<4x3x3x3xf32>) -> tensor<2x4x7x6xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<2x7x6x3xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<2x3x7x6xf32>) outs(%0 : tensor<2x7x6x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x7x6x3xf32>
    %2 = tensor.empty() : tensor<3x3x3x4xf32>
    %3 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg1 : tensor<4x3x3x3xf32>) outs(%2 : tensor<3x3x3x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<3x3x3x4xf32>
    %4 = tensor.empty() : tensor<2x7x6x4xf32>
    %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<2x7x6x4xf32>) -> tensor<2x7x6x4xf32>
    %padded = tensor.pad %1 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%arg2: index, %arg3: index, %arg4: index, %arg5: index):
      tensor.yield %cst : f32
    } : tensor<2x7x6x3xf32> to tensor<2x9x8x3xf32>
    %6 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded, %3 : tensor<2x9x8x3xf32>, tensor<3x3x3x4xf32>) outs(%5 : tensor<2x7x6x4xf32>) -> tensor<2x7x6x4xf32>
    %7 = tensor.empty() : tensor<2x4x7x6xf32>
    %8 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6 : tensor<2x7x6x4xf32>) outs(%7 : tensor<2x4x7x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x7x6xf32>
    %9 = tensor.empty() : tensor<2x4x7x6xf32>
    %10 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8 : tensor<2x4x7x6xf32>) outs(%9 : tensor<2x4x7x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %11 = arith.maximumf %in, %cst : f32
      linalg.yield %11 : f32
    } -> tensor<2x4x7x6xf32>
    return %10 : tensor<2x4x7x6xf32>
  }
}

