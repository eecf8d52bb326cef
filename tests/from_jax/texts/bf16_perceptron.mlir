#map = affine_map<(d0, d1) -> (d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
module @jit_perceptron {
  func.func public @main(%arg0: tensor<3x7xbf16>, %arg1: tensor<7x5xbf16>, %arg2: tensor<5xbf16>, %arg3: tensor<5x2xbf16>) -> tensor<3x2xbf16> {
    %cst = arith.constant 0.000000e+00 : bf16
    %0 = tensor.empty() : tensor<3x5xbf16>
    %1 = linalg.fill ins(%cst : bf16) outs(%0 : tensor<3x5xbf16>) -> tensor<3x5xbf16>
    %2 = linalg.matmul ins(%arg0, %arg1 : tensor<3x7xbf16>, tensor<7x5xbf16>) outs(%1 : tensor<3x5xbf16>) -> tensor<3x5xbf16>
    %3 = tensor.empty() : tensor<3x5xbf16>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg2 : tensor<5xbf16>) outs(%3 : tensor<3x5xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      linalg.yield %in : bf16
    } -> tensor<3x5xbf16>
    %5 = tensor.empty() : tensor<3x5xbf16>
    %6 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%2, %4 : tensor<3x5xbf16>, tensor<3x5xbf16>) outs(%5 : tensor<3x5xbf16>) {
    ^bb0(%in: bf16, %in_0: bf16, %out: bf16):
      %12 = arith.addf %in, %in_0 : bf16
      linalg.yield %12 : bf16
    } -> tensor<3x5xbf16>
    %7 = tensor.empty() : tensor<3x5xbf16>
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<3x5xbf16>) outs(%7 : tensor<3x5xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      %12 = math.tanh %in : bf16
      linalg.yield %12 : bf16
    } -> tensor<3x5xbf16>
    %9 = tensor.empty() : tensor<3x2xbf16>
    %10 = linalg.fill ins(%cst : bf16) outs(%9 : tensor<3x2xbf16>) -> tensor<3x2xbf16>
    %11 = linalg.matmul ins(%8, %arg3 : tensor<3x5xbf16>, tensor<5x2xbf16>) outs(%10 : tensor<3x2xbf16>) -> tensor<3x2xbf16>
    return %11 : tensor<3x2xbf16>
  }
}

