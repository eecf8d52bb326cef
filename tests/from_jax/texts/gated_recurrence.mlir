#map = affine_map<(d0, d1) -> (d0, d1)>
module @jit_gated_recurrence {
  func.func public @main(%arg0: tensor<5x2x3xf32>, %arg1: tensor<2x4xf32>, %arg2: tensor<3x12xf32>, %arg3: tensor<4x12xf32>) -> tensor<2x4xf32> {
    %c4_i32 = arith.constant 4 : i32
    %cst = arith.constant 1.000000e+00 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    %c0_i32 = arith.constant 0 : i32
    %c5_i32 = arith.constant 5 : i32
    %c1_i32 = arith.constant 1 : i32
    %0 = scf.for %arg4 = %c0_i32 to %c5_i32 step %c1_i32 iter_args(%arg5 = %arg1) -> (tensor<2x4xf32>)  : i32 {
      %1 = arith.subi %c4_i32, %arg4 : i32
      %2 = arith.index_cast %1 : i32 to index
      %3 = arith.maxsi %2, %c0 : index
      %4 = arith.minsi %3, %c4 : index
      %extracted_slice = tensor.extract_slice %arg0[%4, 0, 0] [1, 2, 3] [1, 1, 1] : tensor<5x2x3xf32> to tensor<1x2x3xf32>
      %collapsed = tensor.collapse_shape %extracted_slice [[0, 1], [2]] : tensor<1x2x3xf32> into tensor<2x3xf32>
      %5 = tensor.empty() : tensor<2x12xf32>
      %6 = linalg.fill ins(%cst_0 : f32) outs(%5 : tensor<2x12xf32>) -> tensor<2x12xf32>
      %7 = linalg.matmul ins(%collapsed, %arg2 : tensor<2x3xf32>, tensor<3x12xf32>) outs(%6 : tensor<2x12xf32>) -> tensor<2x12xf32>
      %extracted_slice_1 = tensor.extract_slice %7[0, 0] [2, 4] [1, 1] : tensor<2x12xf32> to tensor<2x4xf32>
      %extracted_slice_2 = tensor.extract_slice %7[0, 4] [2, 4] [1, 1] : tensor<2x12xf32> to tensor<2x4xf32>
      %extracted_slice_3 = tensor.extract_slice %7[0, 8] [2, 4] [1, 1] : tensor<2x12xf32> to tensor<2x4xf32>
      %8 = tensor.empty() : tensor<2x12xf32>
      %9 = linalg.fill ins(%cst_0 : f32) outs(%8 : tensor<2x12xf32>) -> tensor<2x12xf32>
      %10 = linalg.matmul ins(%arg5, %arg3 : tensor<2x4xf32>, tensor<4x12xf32>) outs(%9 : tensor<2x12xf32>) -> tensor<2x12xf32>
      %extracted_slice_4 = tensor.extract_slice %10[0, 0] [2, 4] [1, 1] : tensor<2x12xf32> to tensor<2x4xf32>
      %extracted_slice_5 = tensor.extract_slice %10[0, 4] [2, 4] [1, 1] : tensor<2x12xf32> to tensor<2x4xf32>
      %extracted_slice_6 = tensor.extract_slice %10[0, 8] [2, 4] [1, 1] : tensor<2x12xf32> to tensor<2x4xf32>
      %11 = tensor.empty() : tensor<2x4xf32>
      %12 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_1, %extracted_slice_4 : tensor<2x4xf32>, tensor<2x4xf32>) outs(%11 : tensor<2x4xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %45 = arith.addf %in, %in_7 : f32
        linalg.yield %45 : f32
      } -> tensor<2x4xf32>
      %13 = tensor.empty() : tensor<2x4xf32>
      %14 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%12 : tensor<2x4xf32>) outs(%13 : tensor<2x4xf32>) {
      ^bb0(%in: f32, %out: f32):
        %45 = arith.negf %in : f32
        linalg.yield %45 : f32
      } -> tensor<2x4xf32>
      %15 = tensor.empty() : tensor<2x4xf32>
      %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%14 : tensor<2x4xf32>) outs(%15 : tensor<2x4xf32>) {
      ^bb0(%in: f32, %out: f32):
        %45 = math.exp %in : f32
        linalg.yield %45 : f32
      } -> tensor<2x4xf32>
      %17 = tensor.empty() : tensor<2x4xf32>
      %18 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%16 : tensor<2x4xf32>) outs(%17 : tensor<2x4xf32>) {
      ^bb0(%in: f32, %out: f32):
        %45 = arith.addf %in, %cst : f32
        linalg.yield %45 : f32
      } -> tensor<2x4xf32>
      %19 = tensor.empty() : tensor<2x4xf32>
      %20 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%18 : tensor<2x4xf32>) outs(%19 : tensor<2x4xf32>) {
      ^bb0(%in: f32, %out: f32):
        %45 = arith.divf %cst, %in : f32
        linalg.yield %45 : f32
      } -> tensor<2x4xf32>
      %21 = tensor.empty() : tensor<2x4xf32>
      %22 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_2, %extracted_slice_5 : tensor<2x4xf32>, tensor<2x4xf32>) outs(%21 : tensor<2x4xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %45 = arith.addf %in, %in_7 : f32
        linalg.yield %45 : f32
      } -> tensor<2x4xf32>
      %23 = tensor.empty() : tensor<2x4xf32>
      %24 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%22 : tensor<2x4xf32>) outs(%23 : tensor<2x4xf32>) {
      ^bb0(%in: f32, %out: f32):
        %45 = arith.negf %in : f32
        linalg.yield %45 : f32
      } -> tensor<2x4xf32>
      %25 = tensor.empty() : tensor<2x4xf32>
      %26 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%24 : tensor<2x4xf32>) outs(%25 : tensor<2x4xf32>) {
      ^bb0(%in: f32, %out: f32):
        %45 = math.exp %in : f32
        linalg.yield %45 : f32
      } -> tensor<2x4xf32>
      %27 = tensor.empty() : tensor<2x4xf32>
      %28 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%26 : tensor<2x4xf32>) outs(%27 : tensor<2x4xf32>) {
      ^bb0(%in: f32, %out: f32):
        %45 = arith.addf %in, %cst : f32
        linalg.yield %45 : f32
      } -> tensor<2x4xf32>
      %29 = tensor.empty() : tensor<2x4xf32>
      %30 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%28 : tensor<2x4xf32>) outs(%29 : tensor<2x4xf32>) {
      ^bb0(%in: f32, %out: f32):
        %45 = arith.divf %cst, %in : f32
        linalg.yield %45 : f32
      } -> tensor<2x4xf32>
      %31 = tensor.empty() : tensor<2x4xf32>
      %32 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%30, %extracted_slice_6 : tensor<2x4xf32>, tensor<2x4xf32>) outs(%31 : tensor<2x4xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %45 = arith.mulf %in, %in_7 : f32
        linalg.yield %45 : f32
      } -> tensor<2x4xf32>
      %33 = tensor.empty() : tensor<2x4xf32>
      %34 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_3, %32 : tensor<2x4xf32>, tensor<2x4xf32>) outs(%33 : tensor<2x4xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %45 = arith.addf %in, %in_7 : f32
        linalg.yield %45 : f32
      } -> tensor<2x4xf32>
      %35 = tensor.empty() : tensor<2x4xf32>
      %36 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%34 : tensor<2x4xf32>) outs(%35 : tensor<2x4xf32>) {
      ^bb0(%in: f32, %out: f32):
        %45 = math.tanh %in : f32
        linalg.yield %45 : f32
      } -> tensor<2x4xf32>
      %37 = tensor.empty() : tensor<2x4xf32>
      %38 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%20 : tensor<2x4xf32>) outs(%37 : tensor<2x4xf32>) {
      ^bb0(%in: f32, %out: f32):
        %45 = arith.subf %cst, %in : f32
        linalg.yield %45 : f32
      } -> tensor<2x4xf32>
      %39 = tensor.empty() : tensor<2x4xf32>
      %40 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%38, %36 : tensor<2x4xf32>, tensor<2x4xf32>) outs(%39 : tensor<2x4xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %45 = arith.mulf %in, %in_7 : f32
        linalg.yield %45 : f32
      } -> tensor<2x4xf32>
      %41 = tensor.empty() : tensor<2x4xf32>
      %42 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%20, %arg5 : tensor<2x4xf32>, tensor<2x4xf32>) outs(%41 : tensor<2x4xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %45 = arith.mulf %in, %in_7 : f32
        linalg.yield %45 : f32
      } -> tensor<2x4xf32>
      %43 = tensor.empty() : tensor<2x4xf32>
      %44 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%40, %42 : tensor<2x4xf32>, tensor<2x4xf32>) outs(%43 : tensor<2x4xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %45 = arith.addf %in, %in_7 : f32
        linalg.yield %45 : f32
      } -> tensor<2x4xf32>
      scf.yield %44 : tensor<2x4xf32>
    }
    return %0 : tensor<2x4xf32>
  }
}

