#map = affine_map<(d0) -> (d0)>
module @jit__lambda {
  func.func public @main(%arg0: tensor<7xf32>) -> tensor<7xf32> {
    %cst = arith.constant 5.000000e-01 : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %c1_i32 = arith.constant 1 : i32
    %c6_i32 = arith.constant 6 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_1 = arith.constant dense<1.000000e+00> : tensor<7xf32>
    %0 = tensor.empty() : tensor<7xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg0 : tensor<7xf32>) outs(%0 : tensor<7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %5 = math.absf %in : f32
      linalg.yield %5 : f32
    } -> tensor<7xf32>
    %2 = tensor.empty() : tensor<7xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%1 : tensor<7xf32>) outs(%2 : tensor<7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %5 = arith.addf %in, %cst_0 : f32
      linalg.yield %5 : f32
    } -> tensor<7xf32>
    %4 = scf.for %arg1 = %c0_i32 to %c6_i32 step %c1_i32 iter_args(%arg2 = %cst_1) -> (tensor<7xf32>)  : i32 {
      %5 = tensor.empty() : tensor<7xf32>
      %6 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%3, %arg2 : tensor<7xf32>, tensor<7xf32>) outs(%5 : tensor<7xf32>) {
      ^bb0(%in: f32, %in_2: f32, %out: f32):
        %11 = arith.divf %in, %in_2 : f32
        linalg.yield %11 : f32
      } -> tensor<7xf32>
      %7 = tensor.empty() : tensor<7xf32>
      %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%arg2, %6 : tensor<7xf32>, tensor<7xf32>) outs(%7 : tensor<7xf32>) {
      ^bb0(%in: f32, %in_2: f32, %out: f32):
        %11 = arith.addf %in, %in_2 : f32
        linalg.yield %11 : f32
      } -> tensor<7xf32>
      %9 = tensor.empty() : tensor<7xf32>
      %10 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%8 : tensor<7xf32>) outs(%9 : tensor<7xf32>) {
      ^bb0(%in: f32, %out: f32):
        %11 = arith.mulf %in, %cst : f32
        linalg.yield %11 : f32
      } -> tensor<7xf32>
      scf.yield %10 : tensor<7xf32>
    }
    return %4 : tensor<7xf32>
  }
}

