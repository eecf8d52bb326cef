#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<3x6xf32>) -> tensor<3x4xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %cst_1 = arith.constant 5.000000e-01 : f32
    %cst_2 = arith.constant dense_resource<torch_tensor_4_torch.float32> : tensor<4xf32>
    %cst_3 = arith.constant dense_resource<torch_tensor_4_6_torch.float32> : tensor<4x6xf32>
    %cst_4 = arith.constant 1.41421354 : f32
    %0 = tensor.empty() : tensor<6x4xf32>
    %transposed = linalg.transpose ins(%cst_3 : tensor<4x6xf32>) outs(%0 : tensor<6x4xf32>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<3x4xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<3x4xf32>) -> tensor<3x4xf32>
    %3 = linalg.matmul ins(%arg0, %transposed : tensor<3x6xf32>, tensor<6x4xf32>) outs(%2 : tensor<3x4xf32>) -> tensor<3x4xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %cst_2 : tensor<3x4xf32>, tensor<4xf32>) outs(%1 : tensor<3x4xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %6 = arith.addf %in, %in_5 : f32
      linalg.yield %6 : f32
    } -> tensor<3x4xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<3x4xf32>) outs(%1 : tensor<3x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %6 = arith.divf %in, %cst_4 : f32
      %7 = math.erf %6 : f32
      %8 = arith.addf %7, %cst_0 : f32
      %9 = arith.mulf %8, %cst_1 : f32
      %10 = arith.mulf %in, %9 : f32
      linalg.yield %10 : f32
    } -> tensor<3x4xf32>
    return %5 : tensor<3x4xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_4_torch.float32: "0x040000008086ABBE82B0A73DE3179ABD518C783E",
      torch_tensor_4_6_torch.float32: "0x040000008647A73EEE9B5ABEDCC0723ED1704E3DA7417F3DC8FA7F3E54B5A63E298609BD8974B5BECAE2623E141E8F3EB34DBB3EFA3A38BE599050BA6D1B833E7068BC3E88FDBF3EE9AFB43EBA0B8A3EAD1835BA8467B73E48F74ABEEBA083BE6192F73D"
    }
  }
#-}
