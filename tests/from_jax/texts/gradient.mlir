#map = affine_map<(d0, d1) -> (d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<() -> ()>
#map3 = affine_map<(d0, d1) -> ()>
#map4 = affine_map<(d0, d1) -> (d1, d0)>
module @jit_gradient {
  func.func public @main(%arg0: tensor<3x7xf32>, %arg1: tensor<7x5xf32>, %arg2: tensor<5xf32>, %arg3: tensor<5x2xf32>) -> (tensor<7x5xf32>, tensor<5x2xf32>) {
    %cst = arith.constant 0.166666672 : f32
    %cst_0 = arith.constant 2.000000e+00 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<3x5xf32>
    %1 = linalg.fill ins(%cst_2 : f32) outs(%0 : tensor<3x5xf32>) -> tensor<3x5xf32>
    %2 = linalg.matmul ins(%arg0, %arg1 : tensor<3x7xf32>, tensor<7x5xf32>) outs(%1 : tensor<3x5xf32>) -> tensor<3x5xf32>
    %3 = tensor.empty() : tensor<3x5xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg2 : tensor<5xf32>) outs(%3 : tensor<3x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<3x5xf32>
    %5 = tensor.empty() : tensor<3x5xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%2, %4 : tensor<3x5xf32>, tensor<3x5xf32>) outs(%5 : tensor<3x5xf32>) {
    ^bb0(%in: f32, %in_3: f32, %out: f32):
      %47 = arith.addf %in, %in_3 : f32
      linalg.yield %47 : f32
    } -> tensor<3x5xf32>
    %7 = tensor.empty() : tensor<3x5xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<3x5xf32>) outs(%7 : tensor<3x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %47 = math.tanh %in : f32
      linalg.yield %47 : f32
    } -> tensor<3x5xf32>
    %9 = tensor.empty() : tensor<3x5xf32>
    %10 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<3x5xf32>) outs(%9 : tensor<3x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %47 = arith.subf %cst_1, %in : f32
      linalg.yield %47 : f32
    } -> tensor<3x5xf32>
    %11 = tensor.empty() : tensor<3x2xf32>
    %12 = linalg.fill ins(%cst_2 : f32) outs(%11 : tensor<3x2xf32>) -> tensor<3x2xf32>
    %13 = linalg.matmul ins(%8, %arg3 : tensor<3x5xf32>, tensor<5x2xf32>) outs(%12 : tensor<3x2xf32>) -> tensor<3x2xf32>
    %14 = tensor.empty() : tensor<3x2xf32>
    %15 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%13 : tensor<3x2xf32>) outs(%14 : tensor<3x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %47 = arith.mulf %in, %cst_0 : f32
      linalg.yield %47 : f32
    } -> tensor<3x2xf32>
    %16 = tensor.empty() : tensor<f32>
    %17 = linalg.generic {indexing_maps = [#map2], iterator_types = []} outs(%16 : tensor<f32>) {
    ^bb0(%out: f32):
      linalg.yield %cst : f32
    } -> tensor<f32>
    %18 = tensor.empty() : tensor<3x2xf32>
    %19 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%17 : tensor<f32>) outs(%18 : tensor<3x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<3x2xf32>
    %20 = tensor.empty() : tensor<3x2xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%19, %15 : tensor<3x2xf32>, tensor<3x2xf32>) outs(%20 : tensor<3x2xf32>) {
    ^bb0(%in: f32, %in_3: f32, %out: f32):
      %47 = arith.mulf %in, %in_3 : f32
      linalg.yield %47 : f32
    } -> tensor<3x2xf32>
    %22 = tensor.empty() : tensor<2x3xf32>
    %23 = linalg.generic {indexing_maps = [#map4, #map1], iterator_types = ["parallel", "parallel"]} ins(%21 : tensor<3x2xf32>) outs(%22 : tensor<2x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x3xf32>
    %24 = tensor.empty() : tensor<2x5xf32>
    %25 = linalg.fill ins(%cst_2 : f32) outs(%24 : tensor<2x5xf32>) -> tensor<2x5xf32>
    %26 = linalg.matmul ins(%23, %8 : tensor<2x3xf32>, tensor<3x5xf32>) outs(%25 : tensor<2x5xf32>) -> tensor<2x5xf32>
    %27 = tensor.empty() : tensor<5x2xf32>
    %28 = linalg.generic {indexing_maps = [#map4, #map1], iterator_types = ["parallel", "parallel"]} ins(%26 : tensor<2x5xf32>) outs(%27 : tensor<5x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<5x2xf32>
    %29 = tensor.empty() : tensor<2x5xf32>
    %30 = linalg.generic {indexing_maps = [#map4, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg3 : tensor<5x2xf32>) outs(%29 : tensor<2x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x5xf32>
    %31 = tensor.empty() : tensor<3x5xf32>
    %32 = linalg.fill ins(%cst_2 : f32) outs(%31 : tensor<3x5xf32>) -> tensor<3x5xf32>
    %33 = linalg.matmul ins(%21, %30 : tensor<3x2xf32>, tensor<2x5xf32>) outs(%32 : tensor<3x5xf32>) -> tensor<3x5xf32>
    %34 = tensor.empty() : tensor<3x5xf32>
    %35 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%33, %10 : tensor<3x5xf32>, tensor<3x5xf32>) outs(%34 : tensor<3x5xf32>) {
    ^bb0(%in: f32, %in_3: f32, %out: f32):
      %47 = arith.mulf %in, %in_3 : f32
      linalg.yield %47 : f32
    } -> tensor<3x5xf32>
    %36 = tensor.empty() : tensor<3x5xf32>
    %37 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%35, %8 : tensor<3x5xf32>, tensor<3x5xf32>) outs(%36 : tensor<3x5xf32>) {
    ^bb0(%in: f32, %in_3: f32, %out: f32):
      %47 = arith.mulf %in, %in_3 : f32
      linalg.yield %47 : f32
    } -> tensor<3x5xf32>
    %38 = tensor.empty() : tensor<3x5xf32>
    %39 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%35, %37 : tensor<3x5xf32>, tensor<3x5xf32>) outs(%38 : tensor<3x5xf32>) {
    ^bb0(%in: f32, %in_3: f32, %out: f32):
      %47 = arith.addf %in, %in_3 : f32
      linalg.yield %47 : f32
    } -> tensor<3x5xf32>
    %40 = tensor.empty() : tensor<5x3xf32>
    %41 = linalg.generic {indexing_maps = [#map4, #map1], iterator_types = ["parallel", "parallel"]} ins(%39 : tensor<3x5xf32>) outs(%40 : tensor<5x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<5x3xf32>
    %42 = tensor.empty() : tensor<5x7xf32>
    %43 = linalg.fill ins(%cst_2 : f32) outs(%42 : tensor<5x7xf32>) -> tensor<5x7xf32>
    %44 = linalg.matmul ins(%41, %arg0 : tensor<5x3xf32>, tensor<3x7xf32>) outs(%43 : tensor<5x7xf32>) -> tensor<5x7xf32>
    %45 = tensor.empty() : tensor<7x5xf32>
    %46 = linalg.generic {indexing_maps = [#map4, #map1], iterator_types = ["parallel", "parallel"]} ins(%44 : tensor<5x7xf32>) outs(%45 : tensor<7x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<7x5xf32>
    return %46, %28 : tensor<7x5xf32>, tensor<5x2xf32>
  }
}

