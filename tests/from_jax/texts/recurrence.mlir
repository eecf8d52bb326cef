#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
module @jit_recurrence {
  func.func public @main(%arg0: tensor<5x2x3xf32>, %arg1: tensor<2x4xf32>, %arg2: tensor<3x4xf32>, %arg3: tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<5x2x4xf32>) {
    %cst = arith.constant 0.000000e+00 : f32
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<5x2x4xf32>
    %c0_i32 = arith.constant 0 : i32
    %c5_i32 = arith.constant 5 : i32
    %c1_i32 = arith.constant 1 : i32
    %0:2 = scf.for %arg4 = %c0_i32 to %c5_i32 step %c1_i32 iter_args(%arg5 = %arg1, %arg6 = %cst_0) -> (tensor<2x4xf32>, tensor<5x2x4xf32>)  : i32 {
      %1 = arith.index_cast %arg4 : i32 to index
      %2 = arith.maxsi %1, %c0 : index
      %3 = arith.minsi %2, %c4 : index
      %extracted_slice = tensor.extract_slice %arg0[%3, 0, 0] [1, 2, 3] [1, 1, 1] : tensor<5x2x3xf32> to tensor<1x2x3xf32>
      %collapsed = tensor.collapse_shape %extracted_slice [[0, 1], [2]] : tensor<1x2x3xf32> into tensor<2x3xf32>
      %4 = tensor.empty() : tensor<2x4xf32>
      %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<2x4xf32>) -> tensor<2x4xf32>
      %6 = linalg.matmul ins(%collapsed, %arg2 : tensor<2x3xf32>, tensor<3x4xf32>) outs(%5 : tensor<2x4xf32>) -> tensor<2x4xf32>
      %7 = tensor.empty() : tensor<2x4xf32>
      %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<2x4xf32>) -> tensor<2x4xf32>
      %9 = linalg.matmul ins(%arg5, %arg3 : tensor<2x4xf32>, tensor<4x4xf32>) outs(%8 : tensor<2x4xf32>) -> tensor<2x4xf32>
      %10 = tensor.empty() : tensor<2x4xf32>
      %11 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %9 : tensor<2x4xf32>, tensor<2x4xf32>) outs(%10 : tensor<2x4xf32>) {
      ^bb0(%in: f32, %in_1: f32, %out: f32):
        %19 = arith.addf %in, %in_1 : f32
        linalg.yield %19 : f32
      } -> tensor<2x4xf32>
      %12 = tensor.empty() : tensor<2x4xf32>
      %13 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%11 : tensor<2x4xf32>) outs(%12 : tensor<2x4xf32>) {
      ^bb0(%in: f32, %out: f32):
        %19 = math.tanh %in : f32
        linalg.yield %19 : f32
      } -> tensor<2x4xf32>
      %14 = tensor.empty() : tensor<1x2x4xf32>
      %15 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13 : tensor<2x4xf32>) outs(%14 : tensor<1x2x4xf32>) {
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      } -> tensor<1x2x4xf32>
      %16 = arith.index_cast %arg4 : i32 to index
      %17 = arith.maxsi %16, %c0 : index
      %18 = arith.minsi %17, %c4 : index
      %inserted_slice = tensor.insert_slice %15 into %arg6[%18, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<1x2x4xf32> into tensor<5x2x4xf32>
      scf.yield %13, %inserted_slice : tensor<2x4xf32>, tensor<5x2x4xf32>
    }
    return %0#0, %0#1 : tensor<2x4xf32>, tensor<5x2x4xf32>
  }
}

