#map = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d2, d1, d0)>
module @jit_dilated_convolution {
  func.func public @main(%arg0: tensor<2x3x11xf32>, %arg1: tensor<5x3x3xf32>) -> tensor<2x5x7xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<2x11x3xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<2x3x11xf32>) outs(%0 : tensor<2x11x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x11x3xf32>
    %2 = tensor.empty() : tensor<3x3x5xf32>
    %3 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1 : tensor<5x3x3xf32>) outs(%2 : tensor<3x3x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<3x3x5xf32>
    %4 = tensor.empty() : tensor<2x7x5xf32>
    %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<2x7x5xf32>) -> tensor<2x7x5xf32>
    %6 = linalg.conv_1d_nwc_wcf {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%1, %3 : tensor<2x11x3xf32>, tensor<3x3x5xf32>) outs(%5 : tensor<2x7x5xf32>) -> tensor<2x7x5xf32>
    %7 = tensor.empty() : tensor<2x5x7xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6 : tensor<2x7x5xf32>) outs(%7 : tensor<2x5x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x5x7xf32>
    return %8 : tensor<2x5x7xf32>
  }
}

