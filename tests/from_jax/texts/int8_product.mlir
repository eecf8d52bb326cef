#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> ()>
#map2 = affine_map<() -> ()>
module @jit_integer_product {
  func.func public @main(%arg0: tensor<3x7xi8>, %arg1: tensor<7x5xi8>, %arg2: tensor<f32>) -> tensor<3x5xi8> {
    %cst = arith.constant 1.270000e+02 : f32
    %cst_0 = arith.constant -1.280000e+02 : f32
    %c0_i32 = arith.constant 0 : i32
    %0 = tensor.empty() : tensor<3x5xi32>
    %1 = linalg.fill ins(%c0_i32 : i32) outs(%0 : tensor<3x5xi32>) -> tensor<3x5xi32>
    %2 = linalg.matmul ins(%arg0, %arg1 : tensor<3x7xi8>, tensor<7x5xi8>) outs(%1 : tensor<3x5xi32>) -> tensor<3x5xi32>
    %3 = tensor.empty() : tensor<3x5xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<3x5xi32>) outs(%3 : tensor<3x5xf32>) {
    ^bb0(%in: i32, %out: f32):
      %25 = arith.sitofp %in : i32 to f32
      linalg.yield %25 : f32
    } -> tensor<3x5xf32>
    %5 = tensor.empty() : tensor<3x5xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%arg2 : tensor<f32>) outs(%5 : tensor<3x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<3x5xf32>
    %7 = tensor.empty() : tensor<3x5xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%4, %6 : tensor<3x5xf32>, tensor<3x5xf32>) outs(%7 : tensor<3x5xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %25 = arith.mulf %in, %in_1 : f32
      linalg.yield %25 : f32
    } -> tensor<3x5xf32>
    %9 = tensor.empty() : tensor<3x5xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<3x5xf32>) outs(%9 : tensor<3x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %25 = math.roundeven %in : f32
      linalg.yield %25 : f32
    } -> tensor<3x5xf32>
    %11 = tensor.empty() : tensor<f32>
    %12 = linalg.generic {indexing_maps = [#map2], iterator_types = []} outs(%11 : tensor<f32>) {
    ^bb0(%out: f32):
      linalg.yield %cst_0 : f32
    } -> tensor<f32>
    %13 = tensor.empty() : tensor<3x5xf32>
    %14 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%12 : tensor<f32>) outs(%13 : tensor<3x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<3x5xf32>
    %15 = tensor.empty() : tensor<3x5xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%14, %10 : tensor<3x5xf32>, tensor<3x5xf32>) outs(%15 : tensor<3x5xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %25 = arith.maximumf %in, %in_1 : f32
      linalg.yield %25 : f32
    } -> tensor<3x5xf32>
    %17 = tensor.empty() : tensor<f32>
    %18 = linalg.generic {indexing_maps = [#map2], iterator_types = []} outs(%17 : tensor<f32>) {
    ^bb0(%out: f32):
      linalg.yield %cst : f32
    } -> tensor<f32>
    %19 = tensor.empty() : tensor<3x5xf32>
    %20 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%18 : tensor<f32>) outs(%19 : tensor<3x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<3x5xf32>
    %21 = tensor.empty() : tensor<3x5xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%20, %16 : tensor<3x5xf32>, tensor<3x5xf32>) outs(%21 : tensor<3x5xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %25 = arith.minimumf %in, %in_1 : f32
      linalg.yield %25 : f32
    } -> tensor<3x5xf32>
    %23 = tensor.empty() : tensor<3x5xi8>
    %24 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%22 : tensor<3x5xf32>) outs(%23 : tensor<3x5xi8>) {
    ^bb0(%in: f32, %out: i8):
      %25 = arith.fptosi %in : f32 to i8
      linalg.yield %25 : i8
    } -> tensor<3x5xi8>
    return %24 : tensor<3x5xi8>
  }
}

