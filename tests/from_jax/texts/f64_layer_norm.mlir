#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map3 = affine_map<(d0, d1, d2) -> (d2)>
module @jit_layer_norm {
  func.func public @main(%arg0: tensor<2x5x6xf64>, %arg1: tensor<6xf64>, %arg2: tensor<6xf64>) -> tensor<2x5x6xf64> {
    %cst = arith.constant 1.000000e-05 : f64
    %cst_0 = arith.constant 6.000000e+00 : f64
    %cst_1 = arith.constant 0.000000e+00 : f64
    %0 = tensor.empty() : tensor<2x5xf64>
    %1 = linalg.fill ins(%cst_1 : f64) outs(%0 : tensor<2x5xf64>) -> tensor<2x5xf64>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0 : tensor<2x5x6xf64>) outs(%1 : tensor<2x5xf64>) {
    ^bb0(%in: f64, %out: f64):
      %32 = arith.addf %out, %in : f64
      linalg.yield %32 : f64
    } -> tensor<2x5xf64>
    %expanded = tensor.expand_shape %2 [[0], [1, 2]] output_shape [2, 5, 1] : tensor<2x5xf64> into tensor<2x5x1xf64>
    %3 = tensor.empty() : tensor<2x5x1xf64>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<2x5x1xf64>) outs(%3 : tensor<2x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %32 = arith.divf %in, %cst_0 : f64
      linalg.yield %32 : f64
    } -> tensor<2x5x1xf64>
    %5 = tensor.empty() : tensor<2x5x6xf64>
    %6 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4 : tensor<2x5x1xf64>) outs(%5 : tensor<2x5x6xf64>) {
    ^bb0(%in: f64, %out: f64):
      linalg.yield %in : f64
    } -> tensor<2x5x6xf64>
    %7 = tensor.empty() : tensor<2x5x6xf64>
    %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %6 : tensor<2x5x6xf64>, tensor<2x5x6xf64>) outs(%7 : tensor<2x5x6xf64>) {
    ^bb0(%in: f64, %in_3: f64, %out: f64):
      %32 = arith.subf %in, %in_3 : f64
      linalg.yield %32 : f64
    } -> tensor<2x5x6xf64>
    %9 = tensor.empty() : tensor<2x5x6xf64>
    %10 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8 : tensor<2x5x6xf64>) outs(%9 : tensor<2x5x6xf64>) {
    ^bb0(%in: f64, %out: f64):
      %32 = arith.mulf %in, %in : f64
      linalg.yield %32 : f64
    } -> tensor<2x5x6xf64>
    %11 = tensor.empty() : tensor<2x5xf64>
    %12 = linalg.fill ins(%cst_1 : f64) outs(%11 : tensor<2x5xf64>) -> tensor<2x5xf64>
    %13 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%10 : tensor<2x5x6xf64>) outs(%12 : tensor<2x5xf64>) {
    ^bb0(%in: f64, %out: f64):
      %32 = arith.addf %out, %in : f64
      linalg.yield %32 : f64
    } -> tensor<2x5xf64>
    %expanded_2 = tensor.expand_shape %13 [[0], [1, 2]] output_shape [2, 5, 1] : tensor<2x5xf64> into tensor<2x5x1xf64>
    %14 = tensor.empty() : tensor<2x5x1xf64>
    %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_2 : tensor<2x5x1xf64>) outs(%14 : tensor<2x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %32 = arith.divf %in, %cst_0 : f64
      linalg.yield %32 : f64
    } -> tensor<2x5x1xf64>
    %16 = tensor.empty() : tensor<2x5x1xf64>
    %17 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<2x5x1xf64>) outs(%16 : tensor<2x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %32 = arith.addf %in, %cst : f64
      linalg.yield %32 : f64
    } -> tensor<2x5x1xf64>
    %18 = tensor.empty() : tensor<2x5x1xf64>
    %19 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<2x5x1xf64>) outs(%18 : tensor<2x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %32 = math.sqrt %in : f64
      linalg.yield %32 : f64
    } -> tensor<2x5x1xf64>
    %20 = tensor.empty() : tensor<2x5x6xf64>
    %21 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19 : tensor<2x5x1xf64>) outs(%20 : tensor<2x5x6xf64>) {
    ^bb0(%in: f64, %out: f64):
      linalg.yield %in : f64
    } -> tensor<2x5x6xf64>
    %22 = tensor.empty() : tensor<2x5x6xf64>
    %23 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8, %21 : tensor<2x5x6xf64>, tensor<2x5x6xf64>) outs(%22 : tensor<2x5x6xf64>) {
    ^bb0(%in: f64, %in_3: f64, %out: f64):
      %32 = arith.divf %in, %in_3 : f64
      linalg.yield %32 : f64
    } -> tensor<2x5x6xf64>
    %24 = tensor.empty() : tensor<2x5x6xf64>
    %25 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1 : tensor<6xf64>) outs(%24 : tensor<2x5x6xf64>) {
    ^bb0(%in: f64, %out: f64):
      linalg.yield %in : f64
    } -> tensor<2x5x6xf64>
    %26 = tensor.empty() : tensor<2x5x6xf64>
    %27 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23, %25 : tensor<2x5x6xf64>, tensor<2x5x6xf64>) outs(%26 : tensor<2x5x6xf64>) {
    ^bb0(%in: f64, %in_3: f64, %out: f64):
      %32 = arith.mulf %in, %in_3 : f64
      linalg.yield %32 : f64
    } -> tensor<2x5x6xf64>
    %28 = tensor.empty() : tensor<2x5x6xf64>
    %29 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg2 : tensor<6xf64>) outs(%28 : tensor<2x5x6xf64>) {
    ^bb0(%in: f64, %out: f64):
      linalg.yield %in : f64
    } -> tensor<2x5x6xf64>
    %30 = tensor.empty() : tensor<2x5x6xf64>
    %31 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27, %29 : tensor<2x5x6xf64>, tensor<2x5x6xf64>) outs(%30 : tensor<2x5x6xf64>) {
    ^bb0(%in: f64, %in_3: f64, %out: f64):
      %32 = arith.addf %in, %in_3 : f64
      linalg.yield %32 : f64
    } -> tensor<2x5x6xf64>
    return %31 : tensor<2x5x6xf64>
  }
}

