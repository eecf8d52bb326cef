#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<(d0, d1) -> ()>
module {
  func.func @main(%arg0: tensor<3x5xf32>, %arg1: tensor<3x4xf32>) -> tensor<3x4xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %cst_1 = arith.constant dense_resource<torch_tensor_12_torch.float32_1> : tensor<12xf32>
    %cst_2 = arith.constant dense_resource<torch_tensor_12_4_torch.float32> : tensor<12x4xf32>
    %cst_3 = arith.constant dense_resource<torch_tensor_12_torch.float32> : tensor<12xf32>
    %cst_4 = arith.constant dense_resource<torch_tensor_12_5_torch.float32> : tensor<12x5xf32>
    %cst_5 = arith.constant dense<1> : tensor<i64>
    %0 = tensor.empty() : tensor<5x12xf32>
    %transposed = linalg.transpose ins(%cst_4 : tensor<12x5xf32>) outs(%0 : tensor<5x12xf32>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<3x12xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<3x12xf32>) -> tensor<3x12xf32>
    %3 = linalg.matmul ins(%arg0, %transposed : tensor<3x5xf32>, tensor<5x12xf32>) outs(%2 : tensor<3x12xf32>) -> tensor<3x12xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %cst_3 : tensor<3x12xf32>, tensor<12xf32>) outs(%1 : tensor<3x12xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %20 = arith.addf %in, %in_12 : f32
      linalg.yield %20 : f32
    } -> tensor<3x12xf32>
    %extracted_slice = tensor.extract_slice %4[0, 0] [3, 4] [1, 1] : tensor<3x12xf32> to tensor<3x4xf32>
    %extracted_slice_6 = tensor.extract_slice %4[0, 4] [3, 4] [1, 1] : tensor<3x12xf32> to tensor<3x4xf32>
    %extracted_slice_7 = tensor.extract_slice %4[0, 8] [3, 4] [1, 1] : tensor<3x12xf32> to tensor<3x4xf32>
    %5 = tensor.empty() : tensor<4x12xf32>
    %transposed_8 = linalg.transpose ins(%cst_2 : tensor<12x4xf32>) outs(%5 : tensor<4x12xf32>) permutation = [1, 0] 
    %6 = linalg.matmul ins(%arg1, %transposed_8 : tensor<3x4xf32>, tensor<4x12xf32>) outs(%2 : tensor<3x12xf32>) -> tensor<3x12xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %cst_1 : tensor<3x12xf32>, tensor<12xf32>) outs(%1 : tensor<3x12xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %20 = arith.addf %in, %in_12 : f32
      linalg.yield %20 : f32
    } -> tensor<3x12xf32>
    %extracted_slice_9 = tensor.extract_slice %7[0, 0] [3, 4] [1, 1] : tensor<3x12xf32> to tensor<3x4xf32>
    %extracted_slice_10 = tensor.extract_slice %7[0, 4] [3, 4] [1, 1] : tensor<3x12xf32> to tensor<3x4xf32>
    %extracted_slice_11 = tensor.extract_slice %7[0, 8] [3, 4] [1, 1] : tensor<3x12xf32> to tensor<3x4xf32>
    %8 = tensor.empty() : tensor<3x4xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_6, %extracted_slice_10 : tensor<3x4xf32>, tensor<3x4xf32>) outs(%8 : tensor<3x4xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %20 = arith.addf %in, %in_12 : f32
      linalg.yield %20 : f32
    } -> tensor<3x4xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%9 : tensor<3x4xf32>) outs(%8 : tensor<3x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.negf %in : f32
      %21 = math.exp %20 : f32
      %22 = arith.addf %21, %cst_0 : f32
      %23 = arith.divf %cst_0, %22 : f32
      linalg.yield %23 : f32
    } -> tensor<3x4xf32>
    %11 = linalg.generic {indexing_maps = [#map2, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_5, %10 : tensor<i64>, tensor<3x4xf32>) outs(%8 : tensor<3x4xf32>) {
    ^bb0(%in: i64, %in_12: f32, %out: f32):
      %20 = arith.sitofp %in : i64 to f32
      %21 = arith.subf %20, %in_12 : f32
      linalg.yield %21 : f32
    } -> tensor<3x4xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice, %extracted_slice_9 : tensor<3x4xf32>, tensor<3x4xf32>) outs(%8 : tensor<3x4xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %20 = arith.addf %in, %in_12 : f32
      linalg.yield %20 : f32
    } -> tensor<3x4xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%12 : tensor<3x4xf32>) outs(%8 : tensor<3x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.negf %in : f32
      %21 = math.exp %20 : f32
      %22 = arith.addf %21, %cst_0 : f32
      %23 = arith.divf %cst_0, %22 : f32
      linalg.yield %23 : f32
    } -> tensor<3x4xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%13, %extracted_slice_11 : tensor<3x4xf32>, tensor<3x4xf32>) outs(%8 : tensor<3x4xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %20 = arith.mulf %in, %in_12 : f32
      linalg.yield %20 : f32
    } -> tensor<3x4xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_7, %14 : tensor<3x4xf32>, tensor<3x4xf32>) outs(%8 : tensor<3x4xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %20 = arith.addf %in, %in_12 : f32
      linalg.yield %20 : f32
    } -> tensor<3x4xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%15 : tensor<3x4xf32>) outs(%8 : tensor<3x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = math.tanh %in : f32
      linalg.yield %20 : f32
    } -> tensor<3x4xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%11, %16 : tensor<3x4xf32>, tensor<3x4xf32>) outs(%8 : tensor<3x4xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %20 = arith.mulf %in, %in_12 : f32
      linalg.yield %20 : f32
    } -> tensor<3x4xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%10, %arg1 : tensor<3x4xf32>, tensor<3x4xf32>) outs(%8 : tensor<3x4xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %20 = arith.mulf %in, %in_12 : f32
      linalg.yield %20 : f32
    } -> tensor<3x4xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%17, %18 : tensor<3x4xf32>, tensor<3x4xf32>) outs(%8 : tensor<3x4xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %20 = arith.addf %in, %in_12 : f32
      linalg.yield %20 : f32
    } -> tensor<3x4xf32>
    return %19 : tensor<3x4xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_12_torch.float32_1: "0x04000000C81163BE20CB93BC40BAA33E827FFE3E24344B3EC8558A3DFEA4AB3EC0BB96BEF8D0BE3D6C7AC6BE186EB1BED23E84BE",
      torch_tensor_12_4_torch.float32: "0x04000000005475BB5E54893E16B3D2BE8066BCBEF43245BEEC4B093E404F22BCCEFACA3E70BF35BD4C7B073EACBB1ABE7048C9BDB891F4BE528BA9BEE80E53BE00BB973C60694A3E189B993E8C8DADBEFCF45EBE98F7393E4E94D43E48BDD2BD5C91BF3E400DA5BD10B5583D4ACDE73ECE7BEDBE6629A1BEE09E01BEDC9347BE282FDD3E1AEFA5BEC0B06BBE1ADAB2BE76C2EFBE047095BE9E0EDC3EBC76643E0027783E406AD73C3A3F83BEC03EAD3D9E06EFBE1AFAB8BEC6F983BE2685A13E2619963E",
      torch_tensor_12_torch.float32: "0x0400000014B6333EDC72DB3C04725FBE02B2583E77A4DBBECBB687BE8546E5BD6C125FBE7E3420BEE9ABBBBE0CD3C2BD33C7C33D",
      torch_tensor_12_5_torch.float32: "0x0400000063354F3E042B383E09A287BE55590A3E62667B3E0C3467BD83E18B3C8237D43DBA0C8E3EDFDBDB3EC873B0BED8D227BE44FA333E3AB7BD3E1941C73E4409CA3EAF46B63D7C1CC7BEBA82283D393F8FBE8664D5BEEC70CB3E251AAE3E4768E4BEFE6DAB3D9A4A9ABD71B896BDD6A051BE321B303E299F87BE1AE1273E5D96673E5FEAA33E3C3B2B3E7D9FE2BEC88894BEE0A8643E9FB2BF3D539EB2BEEAD883BE1268D73E4E499A3E21AD47BE3684E6BD9D1EDABEFCB203BC316EACBEC19EB0BE89DCC9BC5284893D058B3BBE1FDE873ED9568BBE7AC3CF3E59EA9C3EDE16C1BE96F3E3BD604FA53C3DA1853DF339D93D"
    }
  }
#-}
