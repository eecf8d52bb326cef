#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @main(%arg0: tensor<1x5x8xf32>) -> tensor<1x5x8xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense_resource<torch_tensor_8_torch.float32> : tensor<8xf32>
    %cst_2 = arith.constant dense_resource<torch_tensor_8_8_torch.float32> : tensor<8x8xf32>
    %cst_3 = arith.constant dense_resource<torch_tensor_24_torch.float32> : tensor<24xf32>
    %cst_4 = arith.constant dense_resource<torch_tensor_24_8_torch.float32> : tensor<24x8xf32>
    %cst_5 = arith.constant 2.000000e+00 : f32
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<1x5x8xf32> into tensor<5x8xf32>
    %0 = tensor.empty() : tensor<8x24xf32>
    %transposed = linalg.transpose ins(%cst_4 : tensor<24x8xf32>) outs(%0 : tensor<8x24xf32>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<5x24xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<5x24xf32>) -> tensor<5x24xf32>
    %3 = linalg.matmul ins(%collapsed, %transposed : tensor<5x8xf32>, tensor<8x24xf32>) outs(%2 : tensor<5x24xf32>) -> tensor<5x24xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %cst_3 : tensor<5x24xf32>, tensor<24xf32>) outs(%1 : tensor<5x24xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %32 = arith.addf %in, %in_22 : f32
      linalg.yield %32 : f32
    } -> tensor<5x24xf32>
    %expanded = tensor.expand_shape %4 [[0, 1], [2, 3, 4]] output_shape [1, 5, 3, 2, 4] : tensor<5x24xf32> into tensor<1x5x3x2x4xf32>
    %5 = tensor.empty() : tensor<3x1x2x5x4xf32>
    %transposed_6 = linalg.transpose ins(%expanded : tensor<1x5x3x2x4xf32>) outs(%5 : tensor<3x1x2x5x4xf32>) permutation = [2, 0, 3, 1, 4] 
    %extracted_slice = tensor.extract_slice %transposed_6[0, 0, 0, 0, 0] [1, 1, 2, 5, 4] [1, 1, 1, 1, 1] : tensor<3x1x2x5x4xf32> to tensor<1x1x2x5x4xf32>
    %extracted_slice_7 = tensor.extract_slice %transposed_6[1, 0, 0, 0, 0] [1, 1, 2, 5, 4] [1, 1, 1, 1, 1] : tensor<3x1x2x5x4xf32> to tensor<1x1x2x5x4xf32>
    %extracted_slice_8 = tensor.extract_slice %transposed_6[2, 0, 0, 0, 0] [1, 1, 2, 5, 4] [1, 1, 1, 1, 1] : tensor<3x1x2x5x4xf32> to tensor<1x1x2x5x4xf32>
    %collapsed_9 = tensor.collapse_shape %extracted_slice_7 [[0, 1], [2], [3], [4]] : tensor<1x1x2x5x4xf32> into tensor<1x2x5x4xf32>
    %6 = tensor.empty() : tensor<1x2x4x5xf32>
    %transposed_10 = linalg.transpose ins(%collapsed_9 : tensor<1x2x5x4xf32>) outs(%6 : tensor<1x2x4x5xf32>) permutation = [0, 1, 3, 2] 
    %collapsed_11 = tensor.collapse_shape %extracted_slice [[0, 1, 2], [3], [4]] : tensor<1x1x2x5x4xf32> into tensor<2x5x4xf32>
    %collapsed_12 = tensor.collapse_shape %transposed_10 [[0, 1], [2], [3]] : tensor<1x2x4x5xf32> into tensor<2x4x5xf32>
    %7 = tensor.empty() : tensor<2x5x5xf32>
    %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %9 = linalg.batch_matmul ins(%collapsed_11, %collapsed_12 : tensor<2x5x4xf32>, tensor<2x4x5xf32>) outs(%8 : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %expanded_13 = tensor.expand_shape %9 [[0, 1], [2], [3]] output_shape [1, 2, 5, 5] : tensor<2x5x5xf32> into tensor<1x2x5x5xf32>
    %10 = tensor.empty() : tensor<1x2x5x5xf32>
    %11 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_13 : tensor<1x2x5x5xf32>) outs(%10 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %32 = arith.divf %in, %cst_5 : f32
      linalg.yield %32 : f32
    } -> tensor<1x2x5x5xf32>
    %12 = tensor.empty() : tensor<1x2x5xi64>
    %13 = linalg.fill ins(%c0_i64 : i64) outs(%12 : tensor<1x2x5xi64>) -> tensor<1x2x5xi64>
    %14 = tensor.empty() : tensor<1x2x5xf32>
    %15 = linalg.fill ins(%cst_0 : f32) outs(%14 : tensor<1x2x5xf32>) -> tensor<1x2x5xf32>
    %16:2 = linalg.generic {indexing_maps = [#map2, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%11 : tensor<1x2x5x5xf32>) outs(%15, %13 : tensor<1x2x5xf32>, tensor<1x2x5xi64>) {
    ^bb0(%in: f32, %out: f32, %out_22: i64):
      %32 = linalg.index 3 : index
      %33 = arith.index_cast %32 : index to i64
      %34 = arith.maximumf %in, %out : f32
      %35 = arith.cmpf ogt, %in, %out : f32
      %36 = arith.select %35, %33, %out_22 : i64
      linalg.yield %34, %36 : f32, i64
    } -> (tensor<1x2x5xf32>, tensor<1x2x5xi64>)
    %expanded_14 = tensor.expand_shape %16#0 [[0], [1], [2, 3]] output_shape [1, 2, 5, 1] : tensor<1x2x5xf32> into tensor<1x2x5x1xf32>
    %17 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%11, %expanded_14 : tensor<1x2x5x5xf32>, tensor<1x2x5x1xf32>) outs(%10 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %32 = arith.subf %in, %in_22 : f32
      linalg.yield %32 : f32
    } -> tensor<1x2x5x5xf32>
    %18 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%17 : tensor<1x2x5x5xf32>) outs(%10 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %32 = math.exp %in : f32
      linalg.yield %32 : f32
    } -> tensor<1x2x5x5xf32>
    %19 = tensor.empty() : tensor<1x2x5x1xf32>
    %20 = linalg.fill ins(%cst : f32) outs(%19 : tensor<1x2x5x1xf32>) -> tensor<1x2x5x1xf32>
    %21 = linalg.generic {indexing_maps = [#map2, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%18 : tensor<1x2x5x5xf32>) outs(%20 : tensor<1x2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %32 = arith.addf %in, %out : f32
      linalg.yield %32 : f32
    } -> tensor<1x2x5x1xf32>
    %22 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%18, %21 : tensor<1x2x5x5xf32>, tensor<1x2x5x1xf32>) outs(%10 : tensor<1x2x5x5xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %32 = arith.divf %in, %in_22 : f32
      linalg.yield %32 : f32
    } -> tensor<1x2x5x5xf32>
    %collapsed_15 = tensor.collapse_shape %22 [[0, 1], [2], [3]] : tensor<1x2x5x5xf32> into tensor<2x5x5xf32>
    %collapsed_16 = tensor.collapse_shape %extracted_slice_8 [[0, 1, 2], [3], [4]] : tensor<1x1x2x5x4xf32> into tensor<2x5x4xf32>
    %23 = tensor.empty() : tensor<2x5x4xf32>
    %24 = linalg.fill ins(%cst : f32) outs(%23 : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
    %25 = linalg.batch_matmul ins(%collapsed_15, %collapsed_16 : tensor<2x5x5xf32>, tensor<2x5x4xf32>) outs(%24 : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
    %expanded_17 = tensor.expand_shape %25 [[0, 1], [2], [3]] output_shape [1, 2, 5, 4] : tensor<2x5x4xf32> into tensor<1x2x5x4xf32>
    %26 = tensor.empty() : tensor<1x5x2x4xf32>
    %transposed_18 = linalg.transpose ins(%expanded_17 : tensor<1x2x5x4xf32>) outs(%26 : tensor<1x5x2x4xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_19 = tensor.collapse_shape %transposed_18 [[0, 1], [2, 3]] : tensor<1x5x2x4xf32> into tensor<5x8xf32>
    %27 = tensor.empty() : tensor<8x8xf32>
    %transposed_20 = linalg.transpose ins(%cst_2 : tensor<8x8xf32>) outs(%27 : tensor<8x8xf32>) permutation = [1, 0] 
    %28 = tensor.empty() : tensor<5x8xf32>
    %29 = linalg.fill ins(%cst : f32) outs(%28 : tensor<5x8xf32>) -> tensor<5x8xf32>
    %30 = linalg.matmul ins(%collapsed_19, %transposed_20 : tensor<5x8xf32>, tensor<8x8xf32>) outs(%29 : tensor<5x8xf32>) -> tensor<5x8xf32>
    %31 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%30, %cst_1 : tensor<5x8xf32>, tensor<8xf32>) outs(%28 : tensor<5x8xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %32 = arith.addf %in, %in_22 : f32
      linalg.yield %32 : f32
    } -> tensor<5x8xf32>
    %expanded_21 = tensor.expand_shape %31 [[0, 1], [2]] output_shape [1, 5, 8] : tensor<5x8xf32> into tensor<1x5x8xf32>
    return %expanded_21 : tensor<1x5x8xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_8_torch.float32: "0x040000000A8B383CF59B73BE655292BE8E49903ECCD06B3D972D963E79BDF2BDE947D53D",
      torch_tensor_8_8_torch.float32: "0x0400000021988DBE7FC13DBEFB2B923ED8E792BE13F9CFBC4312B33E23C8023EB401243C87DF9CBE9058333EC4EF80BE288ACDBD95F0F2BD147456BDFF717D3B5D4E953E33C9343D4123A23EAC765D3ECAE264BE3660223E78EC7FBEEB7019BEB3F7D43DA915EF3D48CE873E8C17E9BDF25E143AD3623A3EF80FAFBE9CDF823E5FB095BE6EAC9F3BE83576BD0DAD3EBE73673F3D33B0953E76A9D3BDB2F056BE5DE505BEC16AB3BE0D6C233EC1DF2DBE5D9A71BE2C9250BE0528503EE5B93F3EB1EF8A3EDE51033E0AD0F1BD9257CABD04EAD53DDECD943EF8DEC43D034C2BBEAA2F2ABEEF25ABBE7A6F9C3D762B4BBE7864A1BE4ABB9E3EAA1C6BBE8BBE24BD8871CF3D",
      torch_tensor_24_torch.float32: "0x04000000CD5F7FBED22C813CA2367FBEEB4B47BE40F652BE2773F73D5DBE57BEEDC1FCBB42AF733CE360693E0ED688BE428B78BED03852BE28677D3EE62302BE11B0983E79EA023EC25F373D487B2CBB01238FBDD6B1353DD656A5BD4ACE22BB43C6383D",
      torch_tensor_24_8_torch.float32: "0x0400000022792DBB9C36423EB1FC94BE1D3885BED6700BBEAB2AC23D578AE5BB40878F3EDE8300BD9799BF3D5DD3DABD1B548EBDC2EFACBE90C56FBE9F3D15BE4C94563C6B200F3E403B593EDE7075BE86A71DBEA77F033EF750963EE70395BD7A75873E1E6B69BD353C193DA1E8A33E20EDA7BEC5EA63BEAC4FB7BD661F0DBE9E669C3E85AA6ABE86A826BE53EF7CBE2089A9BE2D5653BE979A9B3E5E8C213E5F782F3E4952983C7B9C39BE6E01753D4D04A9BE68CC82BE4CA43ABE876C643E5D45543EF68F20BEF20251BCB38B673E12F5B33ECBAF0F3EA6A2433DF2BD723E522B55BE70ED863D65588CBE8AEC7ABEF2053BBE10D0233EFD98113E5B7456BEB8BFDA3DC5BF463E43C836BDCF2B5D3CAAC5A73DAE99603E4ED0AD3E6D7F8BBE1CAD04BEE7480E3EC4FB953E3C869D3E40B99F3E171A903D49699DBE2838053D4B7E62BEA4B3A8BE96D5A03ECBA3893E6492B4BEEC86873DC6F473BD5C4F6EBDC7B925BE65390B3ED06F56BE61B8043EFD15373E2B96813ECB5E073E4529B3BE76DA6ABE77C5343EE58C973DD5358DBE0B7850BE374BAA3EB8F2733EA3DB1DBE3F3DB6BD4D70ACBE123CD0BB775188BE67A18BBEE4959FBCEA6E593D0B4414BE5DD3563E8F505CBE6440A43EE51A783E88A698BE2536B4BD67B0823C8F49533D86BBAB3DFF120E3E4A7DAD3C2AA630BE0E502B3E81A4ADBE2E9556BE1842B5BD975A30BE714EFDBD0C5E94BEB0059ABDB5C69A3D16DB6BBE02A394BC3595813EE4DE14BD5DFD203C86DCF9BC2E8A923DCF32663E4A78AB3E30EA653EB9DCAB3E4477D1BC129DA2BE61A22BBE9783763EC23316BB33F333BE9DB78ABE4668A9BE24C898BE97DE92BD4F8B463EA4BB433EB094AEBE4ED5613E3BA68DBED01399BDF9CB12BEE6778BBDD42A8EBD0C70A2BE884C9CBE439B62BD88D2953B0F7724BE3361083E8FEDA2BEC476C3BC22319F3E34AC13BE0576A33E191D033EE55CA3BE970F653EEA1B27BDD59D21BEB1C0903EE64792BEE6641B3D619997BDA844813E4A1FCA3D26F62D3EE2B6FF3D4E1FAEBD044798BDB72C95BE252B443EB3B98F3E42B7773E"
    }
  }
#-}
