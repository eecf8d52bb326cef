module {
  func.func @main(%arg0: tensor<1x4x7x6xf32>) -> tensor<1x6x5x4xf32> {
    %cst = arith.constant dense_resource<torch_tensor_6_2_3_3_torch.float32> : tensor<6x2x3x3xf32>
    %cst_0 = arith.constant dense_resource<torch_tensor_6_torch.float32> : tensor<6xf32>
    %0 = tensor.empty() : tensor<1x6x5x4xf32>
    %broadcasted = linalg.broadcast ins(%cst_0 : tensor<6xf32>) outs(%0 : tensor<1x6x5x4xf32>) dimensions = [0, 2, 3] 
    %expanded = tensor.expand_shape %arg0 [[0], [1, 2], [3], [4]] output_shape [1, 2, 2, 7, 6] : tensor<1x4x7x6xf32> into tensor<1x2x2x7x6xf32>
    %expanded_1 = tensor.expand_shape %cst [[0, 1], [2], [3], [4]] output_shape [2, 3, 2, 3, 3] : tensor<6x2x3x3xf32> into tensor<2x3x2x3x3xf32>
    %expanded_2 = tensor.expand_shape %broadcasted [[0], [1, 2], [3], [4]] output_shape [1, 2, 3, 5, 4] : tensor<1x6x5x4xf32> into tensor<1x2x3x5x4xf32>
    %1 = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%expanded, %expanded_1 : tensor<1x2x2x7x6xf32>, tensor<2x3x2x3x3xf32>) outs(%expanded_2 : tensor<1x2x3x5x4xf32>) -> tensor<1x2x3x5x4xf32>
    %collapsed = tensor.collapse_shape %1 [[0], [1, 2], [3], [4]] : tensor<1x2x3x5x4xf32> into tensor<1x6x5x4xf32>
    return %collapsed : tensor<1x6x5x4xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_6_2_3_3_torch.float32: "0x0400000002EC29BEEECD5FBE20BB9CBC66613ABE782A1F3D064C813DA52C513E897601BEB4448ABD0033B53DFCFBD9BD05FFDA3DE20F523D6EDB76BDC064D83CFF37603EC102A0BD6AE5E6BA75432F3DBA0830BED39B413E967B94BC18A493BC9093C1BDB3C8E5BD1C9C843D727416BEB756AA3D1154F03D44C2523E5D380BBD945E5D3E48414ABE66BD363E2589BA3DE5E25FBD006C06BD2B99B7BD6209073E501934BE90250ABD6DE5193D091741BEBBB8DEBC7D64E2BDCDF4F8BD8E63623E261AD03D5435DEBB8DB12B3DFBEFB8BC661F8DBDBF36263E95F5BABC79A8643E21AB123E99BE32BE43D944BC7CF5CABD4C72553E255636BEC05107BC0FFBAABDB330ECBBED0D23BC6DA8B6BD3FF85B3EB315F33C8A117FBC209D463E0DCC95BDCAE0F5BDF0795A3DF15A9B3D720DDCBD0E5D97BD41C2E13DB6374BBE36C251BE7A30EBBDDBEE13BE5247683EDC5BFE3D6B148C3D272B263E32C9893C932E65BEC10FA3BCCFE609BDF237483EA0C0EB3DF914B3BC6EA8D4BDB3CB543E905FC93DD31265BE52E241BEC936E5BC02396CBEA8D7253E512A163E991FBBBCA3BB1D3E34A12A3E65BF4FBE5421B8BD3B5A1A3E8D5E94BD",
      torch_tensor_6_torch.float32: "0x040000008CCC433E90BAAFBDC67236BEFFF2933BB8522BBE58681DBE"
    }
  }
#-}
