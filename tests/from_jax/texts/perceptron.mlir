#map = affine_map<(d0, d1) -> (d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
module @jit_perceptron {
  func.func public @main(%arg0: tensor<3x7xf32>, %arg1: tensor<7x5xf32>, %arg2: tensor<5xf32>, %arg3: tensor<5x2xf32>) -> tensor<3x2xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<3x5xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<3x5xf32>) -> tensor<3x5xf32>
    %2 = linalg.matmul ins(%arg0, %arg1 : tensor<3x7xf32>, tensor<7x5xf32>) outs(%1 : tensor<3x5xf32>) -> tensor<3x5xf32>
    %3 = tensor.empty() : tensor<3x5xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg2 : tensor<5xf32>) outs(%3 : tensor<3x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<3x5xf32>
    %5 = tensor.empty() : tensor<3x5xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%2, %4 : tensor<3x5xf32>, tensor<3x5xf32>) outs(%5 : tensor<3x5xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %12 = arith.addf %in, %in_0 : f32
      linalg.yield %12 : f32
    } -> tensor<3x5xf32>
    %7 = tensor.empty() : tensor<3x5xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<3x5xf32>) outs(%7 : tensor<3x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %12 = math.tanh %in : f32
      linalg.yield %12 : f32
    } -> tensor<3x5xf32>
    %9 = tensor.empty() : tensor<3x2xf32>
    %10 = linalg.fill ins(%cst : f32) outs(%9 : tensor<3x2xf32>) -> tensor<3x2xf32>
    %11 = linalg.matmul ins(%8, %arg3 : tensor<3x5xf32>, tensor<5x2xf32>) outs(%10 : tensor<3x2xf32>) -> tensor<3x2xf32>
    return %11 : tensor<3x2xf32>
  }
}

