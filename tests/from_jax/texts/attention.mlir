#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module @jit_attention {
  func.func public @main(%arg0: tensor<1x2x5x4xf32>, %arg1: tensor<1x2x5x4xf32>, %arg2: tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32> {
    %cst = arith.constant 0xFF800000 : f32
    %cst_0 = arith.constant -1.000000e+09 : f32
    %cst_1 = arith.constant 2.000000e+00 : f32
    %cst_2 = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<1x2x4x5xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg1 : tensor<1x2x5x4xf32>) outs(%0 : tensor<1x2x4x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x4x5xf32>
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2], [3]] : tensor<1x2x5x4xf32> into tensor<2x5x4xf32>
    %collapsed_3 = tensor.collapse_shape %1 [[0, 1], [2], [3]] : tensor<1x2x4x5xf32> into tensor<2x4x5xf32>
    %2 = tensor.empty() : tensor<2x5x5xf32>
    %3 = linalg.fill ins(%cst_2 : f32) outs(%2 : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %4 = linalg.batch_matmul ins(%collapsed, %collapsed_3 : tensor<2x5x4xf32>, tensor<2x4x5xf32>) outs(%3 : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %expanded = tensor.expand_shape %4 [[0, 1], [2], [3]] output_shape [1, 2, 5, 5] : tensor<2x5x5xf32> into tensor<1x2x5x5xf32>
    %5 = tensor.empty() : tensor<1x2x5x5xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x2x5x5xf32>) outs(%5 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.divf %in, %cst_1 : f32
      linalg.yield %36 : f32
    } -> tensor<1x2x5x5xf32>
    %7 = tensor.empty() : tensor<5x5xi32>
    %8 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel", "parallel"]} outs(%7 : tensor<5x5xi32>) {
    ^bb0(%out: i32):
      %36 = linalg.index 0 : index
      %37 = arith.index_cast %36 : index to i32
      linalg.yield %37 : i32
    } -> tensor<5x5xi32>
    %9 = tensor.empty() : tensor<5x5xi32>
    %10 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel", "parallel"]} outs(%9 : tensor<5x5xi32>) {
    ^bb0(%out: i32):
      %36 = linalg.index 1 : index
      %37 = arith.index_cast %36 : index to i32
      linalg.yield %37 : i32
    } -> tensor<5x5xi32>
    %11 = tensor.empty() : tensor<5x5xi1>
    %12 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%8, %10 : tensor<5x5xi32>, tensor<5x5xi32>) outs(%11 : tensor<5x5xi1>) {
    ^bb0(%in: i32, %in_7: i32, %out: i1):
      %36 = arith.cmpi sge, %in, %in_7 : i32
      linalg.yield %36 : i1
    } -> tensor<5x5xi1>
    %13 = tensor.empty() : tensor<1x2x5x5xi1>
    %14 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12 : tensor<5x5xi1>) outs(%13 : tensor<1x2x5x5xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x2x5x5xi1>
    %15 = tensor.empty() : tensor<1x2x5x5xf32>
    %16 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%14, %6 : tensor<1x2x5x5xi1>, tensor<1x2x5x5xf32>) outs(%15 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: i1, %in_7: f32, %out: f32):
      %36 = arith.select %in, %in_7, %cst_0 : f32
      linalg.yield %36 : f32
    } -> tensor<1x2x5x5xf32>
    %17 = tensor.empty() : tensor<1x2x5xf32>
    %18 = linalg.fill ins(%cst : f32) outs(%17 : tensor<1x2x5xf32>) -> tensor<1x2x5xf32>
    %19 = linalg.generic {indexing_maps = [#map1, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%16 : tensor<1x2x5x5xf32>) outs(%18 : tensor<1x2x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.maximumf %out, %in : f32
      linalg.yield %36 : f32
    } -> tensor<1x2x5xf32>
    %20 = tensor.empty() : tensor<1x2x5x5xf32>
    %21 = linalg.generic {indexing_maps = [#map4, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%19 : tensor<1x2x5xf32>) outs(%20 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x5x5xf32>
    %22 = tensor.empty() : tensor<1x2x5x5xf32>
    %23 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%16, %21 : tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>) outs(%22 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %36 = arith.subf %in, %in_7 : f32
      linalg.yield %36 : f32
    } -> tensor<1x2x5x5xf32>
    %24 = tensor.empty() : tensor<1x2x5x5xf32>
    %25 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%23 : tensor<1x2x5x5xf32>) outs(%24 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = math.exp %in : f32
      linalg.yield %36 : f32
    } -> tensor<1x2x5x5xf32>
    %26 = tensor.empty() : tensor<1x2x5xf32>
    %27 = linalg.fill ins(%cst_2 : f32) outs(%26 : tensor<1x2x5xf32>) -> tensor<1x2x5xf32>
    %28 = linalg.generic {indexing_maps = [#map1, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%25 : tensor<1x2x5x5xf32>) outs(%27 : tensor<1x2x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.addf %out, %in : f32
      linalg.yield %36 : f32
    } -> tensor<1x2x5xf32>
    %29 = tensor.empty() : tensor<1x2x5x5xf32>
    %30 = linalg.generic {indexing_maps = [#map4, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%28 : tensor<1x2x5xf32>) outs(%29 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x5x5xf32>
    %31 = tensor.empty() : tensor<1x2x5x5xf32>
    %32 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%25, %30 : tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>) outs(%31 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %36 = arith.divf %in, %in_7 : f32
      linalg.yield %36 : f32
    } -> tensor<1x2x5x5xf32>
    %collapsed_4 = tensor.collapse_shape %32 [[0, 1], [2], [3]] : tensor<1x2x5x5xf32> into tensor<2x5x5xf32>
    %collapsed_5 = tensor.collapse_shape %arg2 [[0, 1], [2], [3]] : tensor<1x2x5x4xf32> into tensor<2x5x4xf32>
    %33 = tensor.empty() : tensor<2x5x4xf32>
    %34 = linalg.fill ins(%cst_2 : f32) outs(%33 : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
    %35 = linalg.batch_matmul ins(%collapsed_4, %collapsed_5 : tensor<2x5x5xf32>, tensor<2x5x4xf32>) outs(%34 : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
    %expanded_6 = tensor.expand_shape %35 [[0, 1], [2], [3]] output_shape [1, 2, 5, 4] : tensor<2x5x4xf32> into tensor<1x2x5x4xf32>
    return %expanded_6 : tensor<1x2x5x4xf32>
  }
}

