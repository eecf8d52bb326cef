#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
module {
  func.func @main(%arg0: tensor<1x3x4x5xf32>) -> tensor<1x2x9x11xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant dense_resource<torch_tensor_3_2_3_3_torch.float32> : tensor<3x2x3x3xf32>
    %cst_1 = arith.constant dense_resource<torch_tensor_2_torch.float32> : tensor<2xf32>
    %c2 = arith.constant 2 : index
    %0 = tensor.empty() : tensor<2x3x3x3xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<2x3x3x3xf32>) -> tensor<2x3x3x3xf32>
    %2 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%1 : tensor<2x3x3x3xf32>) {
    ^bb0(%out: f32):
      %7 = linalg.index 0 : index
      %8 = linalg.index 1 : index
      %9 = linalg.index 2 : index
      %10 = linalg.index 3 : index
      %11 = arith.subi %c2, %9 : index
      %12 = arith.subi %c2, %10 : index
      %extracted = tensor.extract %cst_0[%8, %7, %11, %12] : tensor<3x2x3x3xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x3x3x3xf32>
    %3 = tensor.empty() : tensor<1x3x11x13xf32>
    %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<1x3x11x13xf32>) -> tensor<1x3x11x13xf32>
    %inserted_slice = tensor.insert_slice %arg0 into %4[0, 0, 2, 2] [1, 3, 4, 5] [1, 1, 2, 2] : tensor<1x3x4x5xf32> into tensor<1x3x11x13xf32>
    %5 = tensor.empty() : tensor<1x2x9x11xf32>
    %broadcasted = linalg.broadcast ins(%cst_1 : tensor<2xf32>) outs(%5 : tensor<1x2x9x11xf32>) dimensions = [0, 2, 3] 
    %6 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%inserted_slice, %2 : tensor<1x3x11x13xf32>, tensor<2x3x3x3xf32>) outs(%broadcasted : tensor<1x2x9x11xf32>) -> tensor<1x2x9x11xf32>
    return %6 : tensor<1x2x9x11xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_3_2_3_3_torch.float32: "0x040000003ADDA33D0422C33D64F74ABE0399423EB58D563E512493BDC73019BEF07ACBBDF78B05BD26BCCA3DB1AE373D4F499BBC2AF064BDF1BD25BE7B90663E640B213CA64881BD914C12BEDD19B9BD491DD13D2C62E6BD22F9293E613CBA3D565F513E9FF32BBEA8CE863D2E6FAFBDCFCA02BEFF06073E729ABDBD77FFCE3C856849BE7A129A3C01D3A3BDAC31ECBD511F6CBE2182183EA917DFBC7430473E53932B3EB73068BE79405F3E8A92233D8BF81ABE7976E7BDC7200EBEEF24513E4D86103E08FA4E3E3F9CBE3D57EE69BEB64ACD3C3727EDBDE6E6193D",
      torch_tensor_2_torch.float32: "0x040000007CA3563E8DDCE9BC"
    }
  }
#-}
