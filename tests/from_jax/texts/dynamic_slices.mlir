#map = affine_map<() -> ()>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
module @jit_dynamic_slices {
  func.func public @main(%arg0: tensor<5x7xf32>, %arg1: tensor<i32>) -> tensor<5x7xf32> {
    %c7_i32 = arith.constant 7 : i32
    %cst = arith.constant 2.000000e+00 : f32
    %c4 = arith.constant 4 : index
    %c3 = arith.constant 3 : index
    %c0 = arith.constant 0 : index
    %c5_i32 = arith.constant 5 : i32
    %c0_i32 = arith.constant 0 : i32
    %0 = tensor.empty() : tensor<i1>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg1 : tensor<i32>) outs(%0 : tensor<i1>) {
    ^bb0(%in: i32, %out: i1):
      %18 = arith.cmpi slt, %in, %c0_i32 : i32
      linalg.yield %18 : i1
    } -> tensor<i1>
    %2 = tensor.empty() : tensor<i32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg1 : tensor<i32>) outs(%2 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %18 = arith.addi %in, %c5_i32 : i32
      linalg.yield %18 : i32
    } -> tensor<i32>
    %4 = tensor.empty() : tensor<i32>
    %5 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = []} ins(%1, %3, %arg1 : tensor<i1>, tensor<i32>, tensor<i32>) outs(%4 : tensor<i32>) {
    ^bb0(%in: i1, %in_1: i32, %in_2: i32, %out: i32):
      %18 = arith.select %in, %in_1, %in_2 : i32
      linalg.yield %18 : i32
    } -> tensor<i32>
    %extracted = tensor.extract %5[] : tensor<i32>
    %6 = arith.index_cast %extracted : i32 to index
    %7 = arith.maxsi %6, %c0 : index
    %8 = arith.minsi %7, %c3 : index
    %extracted_slice = tensor.extract_slice %arg0[%8, 0] [2, 3] [1, 1] : tensor<5x7xf32> to tensor<2x3xf32>
    %9 = tensor.empty() : tensor<2x3xf32>
    %10 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice : tensor<2x3xf32>) outs(%9 : tensor<2x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %18 = arith.mulf %in, %cst : f32
      linalg.yield %18 : f32
    } -> tensor<2x3xf32>
    %11 = tensor.empty() : tensor<i32>
    %12 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg1 : tensor<i32>) outs(%11 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %18 = arith.addi %in, %c7_i32 : i32
      linalg.yield %18 : i32
    } -> tensor<i32>
    %13 = tensor.empty() : tensor<i32>
    %14 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = []} ins(%1, %12, %arg1 : tensor<i1>, tensor<i32>, tensor<i32>) outs(%13 : tensor<i32>) {
    ^bb0(%in: i1, %in_1: i32, %in_2: i32, %out: i32):
      %18 = arith.select %in, %in_1, %in_2 : i32
      linalg.yield %18 : i32
    } -> tensor<i32>
    %extracted_0 = tensor.extract %14[] : tensor<i32>
    %15 = arith.index_cast %extracted_0 : i32 to index
    %16 = arith.maxsi %15, %c0 : index
    %17 = arith.minsi %16, %c4 : index
    %inserted_slice = tensor.insert_slice %10 into %arg0[0, %17] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<5x7xf32>
    return %inserted_slice : tensor<5x7xf32>
  }
}

