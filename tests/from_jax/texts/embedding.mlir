#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0, d1) -> (d1, d0)>
module @jit_embedding {
  func.func public @main(%arg0: tensor<9x4xf32>, %arg1: tensor<2x5xi32>) -> tensor<2x5x9xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c9_i32 = arith.constant 9 : i32
    %c0_i32 = arith.constant 0 : i32
    %0 = tensor.empty() : tensor<2x5xi1>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<2x5xi32>) outs(%0 : tensor<2x5xi1>) {
    ^bb0(%in: i32, %out: i1):
      %13 = arith.cmpi slt, %in, %c0_i32 : i32
      linalg.yield %13 : i1
    } -> tensor<2x5xi1>
    %2 = tensor.empty() : tensor<2x5xi32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<2x5xi32>) outs(%2 : tensor<2x5xi32>) {
    ^bb0(%in: i32, %out: i32):
      %13 = arith.addi %in, %c9_i32 : i32
      linalg.yield %13 : i32
    } -> tensor<2x5xi32>
    %4 = tensor.empty() : tensor<2x5xi32>
    %5 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%1, %3, %arg1 : tensor<2x5xi1>, tensor<2x5xi32>, tensor<2x5xi32>) outs(%4 : tensor<2x5xi32>) {
    ^bb0(%in: i1, %in_1: i32, %in_2: i32, %out: i32):
      %13 = arith.select %in, %in_1, %in_2 : i32
      linalg.yield %13 : i32
    } -> tensor<2x5xi32>
    %expanded = tensor.expand_shape %5 [[0], [1, 2]] output_shape [2, 5, 1] : tensor<2x5xi32> into tensor<2x5x1xi32>
    %6 = tensor.empty() : tensor<2x5x1x4xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<2x5x1xi32>) outs(%6 : tensor<2x5x1x4xf32>) {
    ^bb0(%in: i32, %out: f32):
      %13 = arith.index_cast %in : i32 to index
      %14 = linalg.index 3 : index
      %extracted = tensor.extract %arg0[%13, %14] : tensor<9x4xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x5x1x4xf32>
    %8 = tensor.empty() : tensor<4x9xf32>
    %9 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<9x4xf32>) outs(%8 : tensor<4x9xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x9xf32>
    %collapsed = tensor.collapse_shape %7 [[0, 1], [2, 3]] : tensor<2x5x1x4xf32> into tensor<10x4xf32>
    %10 = tensor.empty() : tensor<10x9xf32>
    %11 = linalg.fill ins(%cst : f32) outs(%10 : tensor<10x9xf32>) -> tensor<10x9xf32>
    %12 = linalg.matmul ins(%collapsed, %9 : tensor<10x4xf32>, tensor<4x9xf32>) outs(%11 : tensor<10x9xf32>) -> tensor<10x9xf32>
    %expanded_0 = tensor.expand_shape %12 [[0, 1], [2]] output_shape [2, 5, 9] : tensor<10x9xf32> into tensor<2x5x9xf32>
    return %expanded_0 : tensor<2x5x9xf32>
  }
}

