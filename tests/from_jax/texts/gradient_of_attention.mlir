#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d2, d0, d1, d3)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d1, d2)>
module @jit_gradient_of_attention {
  func.func public @main(%arg0: tensor<1x2x5x4xf32>, %arg1: tensor<1x2x5x4xf32>, %arg2: tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32> {
    %cst = arith.constant 1.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant -1.000000e+09 : f32
    %cst_2 = arith.constant 2.000000e+00 : f32
    %cst_3 = arith.constant 0.000000e+00 : f32
    %cst_4 = arith.constant dense<1.000000e+00> : tensor<2x5x4xf32>
    %0 = tensor.empty() : tensor<1x2x4x5xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg1 : tensor<1x2x5x4xf32>) outs(%0 : tensor<1x2x4x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x4x5xf32>
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2], [3]] : tensor<1x2x5x4xf32> into tensor<2x5x4xf32>
    %collapsed_5 = tensor.collapse_shape %1 [[0, 1], [2], [3]] : tensor<1x2x4x5xf32> into tensor<2x4x5xf32>
    %2 = tensor.empty() : tensor<2x5x5xf32>
    %3 = linalg.fill ins(%cst_3 : f32) outs(%2 : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %4 = linalg.batch_matmul ins(%collapsed, %collapsed_5 : tensor<2x5x4xf32>, tensor<2x4x5xf32>) outs(%3 : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %expanded = tensor.expand_shape %4 [[0, 1], [2], [3]] output_shape [1, 2, 5, 5] : tensor<2x5x5xf32> into tensor<1x2x5x5xf32>
    %5 = tensor.empty() : tensor<1x2x5x5xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x2x5x5xf32>) outs(%5 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %69 = arith.divf %in, %cst_2 : f32
      linalg.yield %69 : f32
    } -> tensor<1x2x5x5xf32>
    %7 = tensor.empty() : tensor<5x5xi32>
    %8 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel", "parallel"]} outs(%7 : tensor<5x5xi32>) {
    ^bb0(%out: i32):
      %69 = linalg.index 0 : index
      %70 = arith.index_cast %69 : index to i32
      linalg.yield %70 : i32
    } -> tensor<5x5xi32>
    %9 = tensor.empty() : tensor<5x5xi32>
    %10 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel", "parallel"]} outs(%9 : tensor<5x5xi32>) {
    ^bb0(%out: i32):
      %69 = linalg.index 1 : index
      %70 = arith.index_cast %69 : index to i32
      linalg.yield %70 : i32
    } -> tensor<5x5xi32>
    %11 = tensor.empty() : tensor<5x5xi1>
    %12 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%8, %10 : tensor<5x5xi32>, tensor<5x5xi32>) outs(%11 : tensor<5x5xi1>) {
    ^bb0(%in: i32, %in_13: i32, %out: i1):
      %69 = arith.cmpi sge, %in, %in_13 : i32
      linalg.yield %69 : i1
    } -> tensor<5x5xi1>
    %13 = tensor.empty() : tensor<1x2x5x5xi1>
    %14 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12 : tensor<5x5xi1>) outs(%13 : tensor<1x2x5x5xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x2x5x5xi1>
    %15 = tensor.empty() : tensor<1x2x5x5xf32>
    %16 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%14, %6 : tensor<1x2x5x5xi1>, tensor<1x2x5x5xf32>) outs(%15 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: i1, %in_13: f32, %out: f32):
      %69 = arith.select %in, %in_13, %cst_1 : f32
      linalg.yield %69 : f32
    } -> tensor<1x2x5x5xf32>
    %17 = tensor.empty() : tensor<1x2x5xf32>
    %18 = linalg.fill ins(%cst_0 : f32) outs(%17 : tensor<1x2x5xf32>) -> tensor<1x2x5xf32>
    %19 = linalg.generic {indexing_maps = [#map1, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%16 : tensor<1x2x5x5xf32>) outs(%18 : tensor<1x2x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %69 = arith.maximumf %out, %in : f32
      linalg.yield %69 : f32
    } -> tensor<1x2x5xf32>
    %20 = tensor.empty() : tensor<1x2x5x5xf32>
    %21 = linalg.generic {indexing_maps = [#map4, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%19 : tensor<1x2x5xf32>) outs(%20 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x5x5xf32>
    %22 = tensor.empty() : tensor<1x2x5x5xf32>
    %23 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%16, %21 : tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>) outs(%22 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %69 = arith.subf %in, %in_13 : f32
      linalg.yield %69 : f32
    } -> tensor<1x2x5x5xf32>
    %24 = tensor.empty() : tensor<1x2x5x5xf32>
    %25 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%23 : tensor<1x2x5x5xf32>) outs(%24 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %69 = math.exp %in : f32
      linalg.yield %69 : f32
    } -> tensor<1x2x5x5xf32>
    %26 = tensor.empty() : tensor<1x2x5xf32>
    %27 = linalg.fill ins(%cst_3 : f32) outs(%26 : tensor<1x2x5xf32>) -> tensor<1x2x5xf32>
    %28 = linalg.generic {indexing_maps = [#map1, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%25 : tensor<1x2x5x5xf32>) outs(%27 : tensor<1x2x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %69 = arith.addf %out, %in : f32
      linalg.yield %69 : f32
    } -> tensor<1x2x5xf32>
    %expanded_6 = tensor.expand_shape %28 [[0], [1], [2, 3]] output_shape [1, 2, 5, 1] : tensor<1x2x5xf32> into tensor<1x2x5x1xf32>
    %29 = tensor.empty() : tensor<1x2x5x1xf32>
    %30 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_6 : tensor<1x2x5x1xf32>) outs(%29 : tensor<1x2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %69 = arith.mulf %in, %in : f32
      linalg.yield %69 : f32
    } -> tensor<1x2x5x1xf32>
    %31 = tensor.empty() : tensor<1x2x5x1xf32>
    %32 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%30 : tensor<1x2x5x1xf32>) outs(%31 : tensor<1x2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %69 = arith.divf %cst, %in : f32
      linalg.yield %69 : f32
    } -> tensor<1x2x5x1xf32>
    %33 = tensor.empty() : tensor<1x2x4x5xf32>
    %34 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg2 : tensor<1x2x5x4xf32>) outs(%33 : tensor<1x2x4x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x4x5xf32>
    %collapsed_7 = tensor.collapse_shape %34 [[0, 1], [2], [3]] : tensor<1x2x4x5xf32> into tensor<2x4x5xf32>
    %35 = tensor.empty() : tensor<2x5x5xf32>
    %36 = linalg.fill ins(%cst_3 : f32) outs(%35 : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %37 = linalg.batch_matmul ins(%cst_4, %collapsed_7 : tensor<2x5x4xf32>, tensor<2x4x5xf32>) outs(%36 : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %expanded_8 = tensor.expand_shape %37 [[0, 1], [2], [3]] output_shape [1, 2, 5, 5] : tensor<2x5x5xf32> into tensor<1x2x5x5xf32>
    %38 = tensor.empty() : tensor<1x2x5x5xf32>
    %39 = linalg.generic {indexing_maps = [#map5, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32 : tensor<1x2x5x1xf32>) outs(%38 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x5x5xf32>
    %40 = tensor.empty() : tensor<1x2x5x5xf32>
    %41 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_8, %39 : tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>) outs(%40 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %69 = arith.mulf %in, %in_13 : f32
      linalg.yield %69 : f32
    } -> tensor<1x2x5x5xf32>
    %42 = tensor.empty() : tensor<1x2x5x5xf32>
    %43 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%41, %25 : tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>) outs(%42 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %69 = arith.mulf %in, %in_13 : f32
      linalg.yield %69 : f32
    } -> tensor<1x2x5x5xf32>
    %44 = tensor.empty() : tensor<1x2x5xf32>
    %45 = linalg.fill ins(%cst_3 : f32) outs(%44 : tensor<1x2x5xf32>) -> tensor<1x2x5xf32>
    %46 = linalg.generic {indexing_maps = [#map1, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%43 : tensor<1x2x5x5xf32>) outs(%45 : tensor<1x2x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %69 = arith.addf %out, %in : f32
      linalg.yield %69 : f32
    } -> tensor<1x2x5xf32>
    %47 = tensor.empty() : tensor<1x2x5xf32>
    %48 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%46 : tensor<1x2x5xf32>) outs(%47 : tensor<1x2x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %69 = arith.negf %in : f32
      linalg.yield %69 : f32
    } -> tensor<1x2x5xf32>
    %expanded_9 = tensor.expand_shape %48 [[0], [1], [2, 3]] output_shape [1, 2, 5, 1] : tensor<1x2x5xf32> into tensor<1x2x5x1xf32>
    %49 = tensor.empty() : tensor<1x2x5x5xf32>
    %50 = linalg.generic {indexing_maps = [#map4, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%28 : tensor<1x2x5xf32>) outs(%49 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x5x5xf32>
    %51 = tensor.empty() : tensor<1x2x5x5xf32>
    %52 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_8, %50 : tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>) outs(%51 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %69 = arith.divf %in, %in_13 : f32
      linalg.yield %69 : f32
    } -> tensor<1x2x5x5xf32>
    %53 = tensor.empty() : tensor<2x5xf32>
    %54 = linalg.fill ins(%cst_3 : f32) outs(%53 : tensor<2x5xf32>) -> tensor<2x5xf32>
    %55 = linalg.generic {indexing_maps = [#map7, #map8], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%expanded_9 : tensor<1x2x5x1xf32>) outs(%54 : tensor<2x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %69 = arith.addf %out, %in : f32
      linalg.yield %69 : f32
    } -> tensor<2x5xf32>
    %56 = tensor.empty() : tensor<1x2x5x5xf32>
    %57 = linalg.generic {indexing_maps = [#map9, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%55 : tensor<2x5xf32>) outs(%56 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x5x5xf32>
    %58 = tensor.empty() : tensor<1x2x5x5xf32>
    %59 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%52, %57 : tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>) outs(%58 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %69 = arith.addf %in, %in_13 : f32
      linalg.yield %69 : f32
    } -> tensor<1x2x5x5xf32>
    %60 = tensor.empty() : tensor<1x2x5x5xf32>
    %61 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%59, %25 : tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>) outs(%60 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %69 = arith.mulf %in, %in_13 : f32
      linalg.yield %69 : f32
    } -> tensor<1x2x5x5xf32>
    %62 = tensor.empty() : tensor<1x2x5x5xf32>
    %63 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%14, %61 : tensor<1x2x5x5xi1>, tensor<1x2x5x5xf32>) outs(%62 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: i1, %in_13: f32, %out: f32):
      %69 = arith.select %in, %in_13, %cst_3 : f32
      linalg.yield %69 : f32
    } -> tensor<1x2x5x5xf32>
    %64 = tensor.empty() : tensor<1x2x5x5xf32>
    %65 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%63 : tensor<1x2x5x5xf32>) outs(%64 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %69 = arith.divf %in, %cst_2 : f32
      linalg.yield %69 : f32
    } -> tensor<1x2x5x5xf32>
    %collapsed_10 = tensor.collapse_shape %65 [[0, 1], [2], [3]] : tensor<1x2x5x5xf32> into tensor<2x5x5xf32>
    %collapsed_11 = tensor.collapse_shape %arg1 [[0, 1], [2], [3]] : tensor<1x2x5x4xf32> into tensor<2x5x4xf32>
    %66 = tensor.empty() : tensor<2x5x4xf32>
    %67 = linalg.fill ins(%cst_3 : f32) outs(%66 : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
    %68 = linalg.batch_matmul ins(%collapsed_10, %collapsed_11 : tensor<2x5x5xf32>, tensor<2x5x4xf32>) outs(%67 : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
    %expanded_12 = tensor.expand_shape %68 [[0, 1], [2], [3]] output_shape [1, 2, 5, 4] : tensor<2x5x4xf32> into tensor<1x2x5x4xf32>
    return %expanded_12 : tensor<1x2x5x4xf32>
  }
}

