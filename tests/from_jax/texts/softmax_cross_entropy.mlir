#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<(d0, d1) -> (d0, 0)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map6 = affine_map<(d0, d1) -> ()>
#map7 = affine_map<() -> ()>
module @jit_softmax_cross_entropy {
  func.func public @main(%arg0: tensor<4x6xf32>, %arg1: tensor<4xi32>) -> tensor<f32> {
    %cst = arith.constant 4.000000e+00 : f32
    %cst_0 = arith.constant 0x7FC00000 : f32
    %c5 = arith.constant 5 : index
    %c0 = arith.constant 0 : index
    %true = arith.constant true
    %c5_i32 = arith.constant 5 : i32
    %c6_i32 = arith.constant 6 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_1 = arith.constant 0.000000e+00 : f32
    %cst_2 = arith.constant 0xFF800000 : f32
    %0 = tensor.empty() : tensor<4xf32>
    %1 = linalg.fill ins(%cst_2 : f32) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<4x6xf32>) outs(%1 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = arith.maximumf %out, %in : f32
      linalg.yield %44 : f32
    } -> tensor<4xf32>
    %3 = tensor.empty() : tensor<4x6xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<4xf32>) outs(%3 : tensor<4x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x6xf32>
    %5 = tensor.empty() : tensor<4x6xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %4 : tensor<4x6xf32>, tensor<4x6xf32>) outs(%5 : tensor<4x6xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %44 = arith.subf %in, %in_5 : f32
      linalg.yield %44 : f32
    } -> tensor<4x6xf32>
    %7 = tensor.empty() : tensor<4x6xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<4x6xf32>) outs(%7 : tensor<4x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = math.exp %in : f32
      linalg.yield %44 : f32
    } -> tensor<4x6xf32>
    %9 = tensor.empty() : tensor<4xf32>
    %10 = linalg.fill ins(%cst_1 : f32) outs(%9 : tensor<4xf32>) -> tensor<4xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%8 : tensor<4x6xf32>) outs(%10 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = arith.addf %out, %in : f32
      linalg.yield %44 : f32
    } -> tensor<4xf32>
    %12 = tensor.empty() : tensor<4xf32>
    %13 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%11 : tensor<4xf32>) outs(%12 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = math.log %in : f32
      linalg.yield %44 : f32
    } -> tensor<4xf32>
    %expanded = tensor.expand_shape %13 [[0, 1]] output_shape [4, 1] : tensor<4xf32> into tensor<4x1xf32>
    %14 = tensor.empty() : tensor<4x6xf32>
    %15 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel"]} ins(%expanded : tensor<4x1xf32>) outs(%14 : tensor<4x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x6xf32>
    %16 = tensor.empty() : tensor<4x6xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %15 : tensor<4x6xf32>, tensor<4x6xf32>) outs(%16 : tensor<4x6xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %44 = arith.subf %in, %in_5 : f32
      linalg.yield %44 : f32
    } -> tensor<4x6xf32>
    %expanded_3 = tensor.expand_shape %arg1 [[0, 1]] output_shape [4, 1] : tensor<4xi32> into tensor<4x1xi32>
    %18 = tensor.empty() : tensor<4x1xi1>
    %19 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%expanded_3 : tensor<4x1xi32>) outs(%18 : tensor<4x1xi1>) {
    ^bb0(%in: i32, %out: i1):
      %44 = arith.cmpi slt, %in, %c0_i32 : i32
      linalg.yield %44 : i1
    } -> tensor<4x1xi1>
    %20 = tensor.empty() : tensor<4x1xi32>
    %21 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%expanded_3 : tensor<4x1xi32>) outs(%20 : tensor<4x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      %44 = arith.addi %in, %c6_i32 : i32
      linalg.yield %44 : i32
    } -> tensor<4x1xi32>
    %22 = tensor.empty() : tensor<4x1xi32>
    %23 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%19, %21, %expanded_3 : tensor<4x1xi1>, tensor<4x1xi32>, tensor<4x1xi32>) outs(%22 : tensor<4x1xi32>) {
    ^bb0(%in: i1, %in_5: i32, %in_6: i32, %out: i32):
      %44 = arith.select %in, %in_5, %in_6 : i32
      linalg.yield %44 : i32
    } -> tensor<4x1xi32>
    %expanded_4 = tensor.expand_shape %23 [[0], [1, 2]] output_shape [4, 1, 1] : tensor<4x1xi32> into tensor<4x1x1xi32>
    %24 = tensor.empty() : tensor<4x1x1xi1>
    %25 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_4 : tensor<4x1x1xi32>) outs(%24 : tensor<4x1x1xi1>) {
    ^bb0(%in: i32, %out: i1):
      %44 = arith.cmpi sge, %in, %c0_i32 : i32
      linalg.yield %44 : i1
    } -> tensor<4x1x1xi1>
    %26 = tensor.empty() : tensor<4x1x1xi1>
    %27 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_4 : tensor<4x1x1xi32>) outs(%26 : tensor<4x1x1xi1>) {
    ^bb0(%in: i32, %out: i1):
      %44 = arith.cmpi sle, %in, %c5_i32 : i32
      linalg.yield %44 : i1
    } -> tensor<4x1x1xi1>
    %28 = tensor.empty() : tensor<4x1x1xi1>
    %29 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%25, %27 : tensor<4x1x1xi1>, tensor<4x1x1xi1>) outs(%28 : tensor<4x1x1xi1>) {
    ^bb0(%in: i1, %in_5: i1, %out: i1):
      %44 = arith.andi %in, %in_5 : i1
      linalg.yield %44 : i1
    } -> tensor<4x1x1xi1>
    %30 = tensor.empty() : tensor<4x1xi1>
    %31 = linalg.fill ins(%true : i1) outs(%30 : tensor<4x1xi1>) -> tensor<4x1xi1>
    %32 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%29 : tensor<4x1x1xi1>) outs(%31 : tensor<4x1xi1>) {
    ^bb0(%in: i1, %out: i1):
      %44 = arith.andi %out, %in : i1
      linalg.yield %44 : i1
    } -> tensor<4x1xi1>
    %33 = tensor.empty() : tensor<4x1xf32>
    %34 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%33 : tensor<4x1xf32>) {
    ^bb0(%out: f32):
      %44 = linalg.index 0 : index
      %extracted = tensor.extract %expanded_4[%44, %c0, %c0] : tensor<4x1x1xi32>
      %45 = arith.index_cast %extracted : i32 to index
      %46 = arith.maxsi %45, %c0 : index
      %47 = arith.minsi %46, %c5 : index
      %extracted_5 = tensor.extract %17[%44, %47] : tensor<4x6xf32>
      linalg.yield %extracted_5 : f32
    } -> tensor<4x1xf32>
    %35 = tensor.empty() : tensor<4x1xf32>
    %36 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%32, %34 : tensor<4x1xi1>, tensor<4x1xf32>) outs(%35 : tensor<4x1xf32>) {
    ^bb0(%in: i1, %in_5: f32, %out: f32):
      %44 = arith.select %in, %in_5, %cst_0 : f32
      linalg.yield %44 : f32
    } -> tensor<4x1xf32>
    %37 = tensor.empty() : tensor<f32>
    %38 = linalg.fill ins(%cst_1 : f32) outs(%37 : tensor<f32>) -> tensor<f32>
    %39 = linalg.generic {indexing_maps = [#map, #map6], iterator_types = ["reduction", "reduction"]} ins(%36 : tensor<4x1xf32>) outs(%38 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = arith.addf %out, %in : f32
      linalg.yield %44 : f32
    } -> tensor<f32>
    %40 = tensor.empty() : tensor<f32>
    %41 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = []} ins(%39 : tensor<f32>) outs(%40 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = arith.divf %in, %cst : f32
      linalg.yield %44 : f32
    } -> tensor<f32>
    %42 = tensor.empty() : tensor<f32>
    %43 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = []} ins(%41 : tensor<f32>) outs(%42 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = arith.negf %in : f32
      linalg.yield %44 : f32
    } -> tensor<f32>
    return %43 : tensor<f32>
  }
}

