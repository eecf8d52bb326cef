#map = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d3, d2, d0, d1)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d3, d0, d1, d2)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d2, d3, d0, d1)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3, d0)>
module @jit_gradient_of_convolution {
  func.func public @main(%arg0: tensor<2x3x7x6xf32>, %arg1: tensor<4x3x3x3xf32>) -> tensor<4x3x3x3xf32> {
    %cst = arith.constant 1.000000e+00 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
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
    %5 = linalg.fill ins(%cst_0 : f32) outs(%4 : tensor<2x7x6x4xf32>) -> tensor<2x7x6x4xf32>
    %padded = tensor.pad %1 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%arg2: index, %arg3: index, %arg4: index, %arg5: index):
      tensor.yield %cst_0 : f32
    } : tensor<2x7x6x3xf32> to tensor<2x9x8x3xf32>
    %6 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded, %3 : tensor<2x9x8x3xf32>, tensor<3x3x3x4xf32>) outs(%5 : tensor<2x7x6x4xf32>) -> tensor<2x7x6x4xf32>
    %7 = tensor.empty() : tensor<2x4x7x6xf32>
    %8 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6 : tensor<2x7x6x4xf32>) outs(%7 : tensor<2x4x7x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x7x6xf32>
    %9 = tensor.empty() : tensor<2x4x7x6xi1>
    %10 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8 : tensor<2x4x7x6xf32>) outs(%9 : tensor<2x4x7x6xi1>) {
    ^bb0(%in: f32, %out: i1):
      %22 = arith.cmpf ogt, %in, %cst_0 : f32
      linalg.yield %22 : i1
    } -> tensor<2x4x7x6xi1>
    %11 = tensor.empty() : tensor<2x4x7x6xf32>
    %12 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%10 : tensor<2x4x7x6xi1>) outs(%11 : tensor<2x4x7x6xf32>) {
    ^bb0(%in: i1, %out: f32):
      %22 = arith.select %in, %cst, %cst_0 : f32
      linalg.yield %22 : f32
    } -> tensor<2x4x7x6xf32>
    %13 = tensor.empty() : tensor<3x7x6x2xf32>
    %14 = linalg.generic {indexing_maps = [#map4, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<2x3x7x6xf32>) outs(%13 : tensor<3x7x6x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<3x7x6x2xf32>
    %15 = tensor.empty() : tensor<7x6x2x4xf32>
    %16 = linalg.generic {indexing_maps = [#map5, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12 : tensor<2x4x7x6xf32>) outs(%15 : tensor<7x6x2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<7x6x2x4xf32>
    %17 = tensor.empty() : tensor<3x3x3x4xf32>
    %18 = linalg.fill ins(%cst_0 : f32) outs(%17 : tensor<3x3x3x4xf32>) -> tensor<3x3x3x4xf32>
    %padded_1 = tensor.pad %14 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%arg2: index, %arg3: index, %arg4: index, %arg5: index):
      tensor.yield %cst_0 : f32
    } : tensor<3x7x6x2xf32> to tensor<3x9x8x2xf32>
    %19 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded_1, %16 : tensor<3x9x8x2xf32>, tensor<7x6x2x4xf32>) outs(%18 : tensor<3x3x3x4xf32>) -> tensor<3x3x3x4xf32>
    %20 = tensor.empty() : tensor<4x3x3x3xf32>
    %21 = linalg.generic {indexing_maps = [#map6, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%19 : tensor<3x3x3x4xf32>) outs(%20 : tensor<4x3x3x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x3x3x3xf32>
    return %21 : tensor<4x3x3x3xf32>
  }
}

