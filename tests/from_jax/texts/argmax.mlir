#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
module @jit_most_likely {
  func.func public @main(%arg0: tensor<4x7xf32>) -> (tensor<4xi32>, tensor<4xf32>) {
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant 0xFF800000 : f32
    %0 = tensor.empty() : tensor<4x7xi32>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%0 : tensor<4x7xi32>) {
    ^bb0(%out: i32):
      %10 = linalg.index 1 : index
      %11 = arith.index_cast %10 : index to i32
      linalg.yield %11 : i32
    } -> tensor<4x7xi32>
    %2 = tensor.empty() : tensor<4xf32>
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<4xf32>) -> tensor<4xf32>
    %4 = tensor.empty() : tensor<4xi32>
    %5 = linalg.fill ins(%c0_i32 : i32) outs(%4 : tensor<4xi32>) -> tensor<4xi32>
    %6:2 = linalg.generic {indexing_maps = [#map, #map, #map1, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0, %1 : tensor<4x7xf32>, tensor<4x7xi32>) outs(%3, %5 : tensor<4xf32>, tensor<4xi32>) {
    ^bb0(%in: f32, %in_0: i32, %out: f32, %out_1: i32):
      %10 = arith.cmpf ogt, %out, %in : f32
      %11 = arith.cmpf une, %out, %out : f32
      %12 = arith.ori %10, %11 : i1
      %13 = arith.cmpf oeq, %out, %in : f32
      %14 = arith.cmpi slt, %out_1, %in_0 : i32
      %15 = arith.andi %13, %14 : i1
      %16 = arith.ori %12, %15 : i1
      %17 = arith.select %12, %out, %in : f32
      %18 = arith.select %16, %out_1, %in_0 : i32
      linalg.yield %17, %18 : f32, i32
    } -> (tensor<4xf32>, tensor<4xi32>)
    %7 = tensor.empty() : tensor<4xf32>
    %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<4xf32>) -> tensor<4xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<4x7xf32>) outs(%8 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %10 = arith.maximumf %out, %in : f32
      linalg.yield %10 : f32
    } -> tensor<4xf32>
    return %6#1, %9 : tensor<4xi32>, tensor<4xf32>
  }
}

