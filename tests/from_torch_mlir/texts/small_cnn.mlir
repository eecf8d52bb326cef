#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<2x1x8x8xf32>) -> tensor<2x5xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense_resource<torch_tensor_5_torch.float32> : tensor<5xf32>
    %cst_2 = arith.constant dense_resource<torch_tensor_5_36_torch.float32> : tensor<5x36xf32>
    %cst_3 = arith.constant dense_resource<torch_tensor_4_1_3_3_torch.float32> : tensor<4x1x3x3xf32>
    %cst_4 = arith.constant dense_resource<torch_tensor_4_torch.float32> : tensor<4xf32>
    %0 = tensor.empty() : tensor<2x4x6x6xf32>
    %broadcasted = linalg.broadcast ins(%cst_4 : tensor<4xf32>) outs(%0 : tensor<2x4x6x6xf32>) dimensions = [0, 2, 3] 
    %1 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%arg0, %cst_3 : tensor<2x1x8x8xf32>, tensor<4x1x3x3xf32>) outs(%broadcasted : tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1 : tensor<2x4x6x6xf32>) outs(%0 : tensor<2x4x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %12 = arith.cmpf ugt, %in, %cst : f32
      %13 = arith.select %12, %in, %cst : f32
      linalg.yield %13 : f32
    } -> tensor<2x4x6x6xf32>
    %3 = tensor.empty() : tensor<2x4x3x3xf32>
    %4 = linalg.fill ins(%cst_0 : f32) outs(%3 : tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
    %5 = tensor.empty() : tensor<2x2xf32>
    %6 = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%2, %5 : tensor<2x4x6x6xf32>, tensor<2x2xf32>) outs(%4 : tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
    %collapsed = tensor.collapse_shape %6 [[0], [1, 2, 3]] : tensor<2x4x3x3xf32> into tensor<2x36xf32>
    %7 = tensor.empty() : tensor<36x5xf32>
    %transposed = linalg.transpose ins(%cst_2 : tensor<5x36xf32>) outs(%7 : tensor<36x5xf32>) permutation = [1, 0] 
    %8 = tensor.empty() : tensor<2x5xf32>
    %9 = linalg.fill ins(%cst : f32) outs(%8 : tensor<2x5xf32>) -> tensor<2x5xf32>
    %10 = linalg.matmul ins(%collapsed, %transposed : tensor<2x36xf32>, tensor<36x5xf32>) outs(%9 : tensor<2x5xf32>) -> tensor<2x5xf32>
    %11 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%10, %cst_1 : tensor<2x5xf32>, tensor<5xf32>) outs(%8 : tensor<2x5xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %12 = arith.addf %in, %in_5 : f32
      linalg.yield %12 : f32
    } -> tensor<2x5xf32>
    return %11 : tensor<2x5xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_5_torch.float32: "0x040000004083FB3D58B6C93DF6AB96BDF6E6D3BC266A2E3D",
      torch_tensor_5_36_torch.float32: "0x0400000000D91D3BB857903D421B293E366AFFBD90E9243EF3418D3D4033E5BD3BAAB6BD2BD3F93D1BA41ABE6E19E63DC0C5C53CE043F33DABFBF8BB6BB323BCF06A37BDD624E2BD70664C3D0322143E26D1D83DC6D22DBD7B999CBD7337B83D0852D63D20B2803DF353A2BD648D003EFF2D12BE30441D3EFB1DD7BDEEE5B5BDF38DD0BD8073CD3C9AD4163E92FE113E0643A3BD80C7FD3C0CBB113E0BCE983C684AF9BD4B6EE83C0BB51E3E569322BB768ED2BD5B5BC63D7B9243BD38EF14BE16C4203D5610CFBCEE1DDDBD035A07BE68528E3D6B8910BC300453BDAB4855BD0096033C30477EBDAB2CA8BC77340ABE6BF70CBDC0B52BBC90444F3DF036463DC4FA0FBE60A90FBEB363FDBD96C600BDD28F06BE9A4B2ABEF02EC5BDF4DA22BEE317083EE0E8713D204BFA3CEB01DFBC38A0D03DA0A6F03DF61A6C3D8B81113EEBD1173D425815BE809FD73DF642E83D8694EC3D6679783DD67B6D3C338E813D80D0043DABCB7ABC785CBC3D4B294ABD20B4C03C2BDE923C86C28CBDD63B88BB132F823DCB2B28BD2BA475BDDB1E8CBD5BBD7B3DD36FF03D77EE12BEEE47A13D36E0913DEB6C1FBEA4EF193E43D5B8BD82E027BEB7D31ABE56C66EBDD0DD763DD6C49CBD68F10CBE280ECDBDAB19F73D18980F3E965F053EF08E133EC6D017BE30CE71BD3E6F05BE5615A339F3A8E73D43299B3D906B8C3D5B588EBD7E5E13BE00829EBA7B25953DCB44FDBD3BC26E3DF30F17BE60F5C1BC624F0B3E2B03BBBC468F74BDE07AEA3D40D26A3C80122DBC9817BA3D2B6FF7BB0024253A44692ABE00DAF2BCD720293EA835983D3E02E93D6B0A573CE8B0EE3D4644373DABF2813BCA800B3E86D74D3DF86798BDDB78F93D602529BDBB890A3E066B3DBD10604D3D5E75AEBDFBB688BDC0973F3D2BC2FABD6B0A99BDC09686BDF6F2E9BC1BC4EEBD37B51D3E489EA73D86B6043D331486BD83FD07BEA6A5643D1EEC8DBD96F5F1BD46DC3C3DF8CF12BE8697903D5B34143DAB79CA3B",
      torch_tensor_4_1_3_3_torch.float32: "0x04000000D642C5BC70A9F1BD00AC4ABE303FE83D80E18FBE7B2DA63D3AD1883E932A99BE5BF858BEBB2F573E800BA3BE4BFD4FBD163CA33E431E6C3E8F999C3E2B5442BEC394323E2B8D963E43E6823E20FF55BD5BEA7FBECB2BC3BD961F203DEB5EEB3D7674EABD522DA83E03D5233E036AA7BEB08BD33D16B94B3E0F5F81BEBB35703E909774BEB65ECC3DCB82C83DB8F268BE",
      torch_tensor_4_torch.float32: "0x04000000403475BDAB01FCBCA8481FBEFB464F3E"
    }
  }
#-}
