#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d4, d2 * 2 + d5, d3)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)>
#map3 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#map4 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d3, d5)>
#map5 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4, d5)>
module @jit_gradient_of_pooling {
  func.func public @main(%arg0: tensor<1x6x4x3xf32>) -> tensor<1x6x4x3xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %c2 = arith.constant 2 : index
    %c-1_i32 = arith.constant -1 : i32
    %cst_1 = arith.constant 2.000000e+00 : f32
    %0 = tensor.empty() : tensor<2x2xf32>
    %1 = tensor.empty() : tensor<1x3x2x3xf32>
    %2 = linalg.fill ins(%cst_0 : f32) outs(%1 : tensor<1x3x2x3xf32>) -> tensor<1x3x2x3xf32>
    %3 = linalg.pooling_nhwc_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%arg0, %0 : tensor<1x6x4x3xf32>, tensor<2x2xf32>) outs(%2 : tensor<1x3x2x3xf32>) -> tensor<1x3x2x3xf32>
    %4 = tensor.empty() : tensor<1x3x2x3xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%3 : tensor<1x3x2x3xf32>) outs(%4 : tensor<1x3x2x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %14 = arith.mulf %in, %cst_1 : f32
      linalg.yield %14 : f32
    } -> tensor<1x3x2x3xf32>
    %6 = tensor.empty() : tensor<1x3x2x3xf32>
    %7 = tensor.empty() : tensor<1x3x2x3xi32>
    %8 = linalg.fill ins(%c-1_i32 : i32) outs(%7 : tensor<1x3x2x3xi32>) -> tensor<1x3x2x3xi32>
    %9 = tensor.empty() : tensor<2x2xf32>
    %10:2 = linalg.generic {indexing_maps = [#map1, #map2, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%arg0, %9 : tensor<1x6x4x3xf32>, tensor<2x2xf32>) outs(%6, %8 : tensor<1x3x2x3xf32>, tensor<1x3x2x3xi32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32, %out_3: i32):
      %14 = arith.cmpf oge, %in, %out : f32
      %15 = arith.cmpi eq, %out_3, %c-1_i32 : i32
      %16 = arith.ori %14, %15 : i1
      %17 = linalg.index 4 : index
      %18 = linalg.index 5 : index
      %19 = arith.muli %17, %c2 : index
      %20 = arith.addi %19, %18 : index
      %21 = arith.index_cast %20 : index to i32
      %22 = arith.select %16, %21, %out_3 : i32
      %23 = arith.select %16, %in, %out : f32
      linalg.yield %23, %22 : f32, i32
    } -> (tensor<1x3x2x3xf32>, tensor<1x3x2x3xi32>)
    %11 = tensor.empty() : tensor<1x3x2x2x2x3xf32>
    %12 = linalg.fill ins(%cst : f32) outs(%11 : tensor<1x3x2x2x2x3xf32>) -> tensor<1x3x2x2x2x3xf32>
    %13 = linalg.generic {indexing_maps = [#map4, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%10#1, %5 : tensor<1x3x2x3xi32>, tensor<1x3x2x3xf32>) outs(%12 : tensor<1x3x2x2x2x3xf32>) {
    ^bb0(%in: i32, %in_2: f32, %out: f32):
      %14 = arith.addf %in_2, %out : f32
      %15 = linalg.index 2 : index
      %16 = linalg.index 4 : index
      %17 = arith.muli %15, %c2 : index
      %18 = arith.addi %17, %16 : index
      %19 = arith.index_cast %18 : index to i32
      %20 = arith.cmpi eq, %19, %in : i32
      %21 = arith.select %20, %14, %out : f32
      linalg.yield %21 : f32
    } -> tensor<1x3x2x2x2x3xf32>
    %collapsed = tensor.collapse_shape %13 [[0], [1, 2], [3, 4], [5]] : tensor<1x3x2x2x2x3xf32> into tensor<1x6x4x3xf32>
    return %collapsed : tensor<1x6x4x3xf32>
  }
}

