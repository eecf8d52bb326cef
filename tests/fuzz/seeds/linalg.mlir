builtin.module {
  func.func @main(%x: tensor<2x3x7x5xf32> {gawee.input = "x"}, %w: tensor<4x3x3x2xf32> {gawee.parameter = "conv.weight"}, %i: tensor<6xi64> {gawee.input = "i"}) -> (tensor<2x4x6xf32> {gawee.output = "y"}) {
    %b = arith.constant dense<[1.000000e+00, -2.000000e+00, 5.000000e-01, 2.500000e-01]> : tensor<4xf32>
    %c = arith.constant 0.000000e+00 : f32
    %c_1 = tensor.pad %x low[0, 0, 1, 0] high[0, 0, 1, 0] {
    ^bb0(%0: index, %1: index, %2: index, %3: index):
      tensor.yield %c : f32
    } : tensor<2x3x7x5xf32> to tensor<2x3x9x5xf32>
    %c_2 = tensor.empty() : tensor<2x4x4x4xf32>
    %c_3 = linalg.broadcast ins(%b:tensor<4xf32>) outs(%c_2:tensor<2x4x4x4xf32>) dimensions = [0, 2, 3]
    %c_4 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>} ins(%c_1, %w : tensor<2x3x9x5xf32>, tensor<4x3x3x2xf32>) outs(%c_3 : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
    %r = tensor.empty() : tensor<2x4x4x4xf32>
    %r_1 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c_4 : tensor<2x4x4x4xf32>) outs(%r : tensor<2x4x4x4xf32>) {
    ^bb0(%4: f32, %5: f32):
      %6 = arith.constant 0.000000e+00 : f32
      %7 = arith.maximumf %4, %6 : f32
      linalg.yield %7 : f32
    } -> tensor<2x4x4x4xf32>
    %m = arith.constant 0.000000e+00 : f32
    %m_1 = tensor.empty() : tensor<2x4x4xf32>
    %m_2 = linalg.fill ins(%m : f32) outs(%m_1 : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    %m_3 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%r_1 : tensor<2x4x4x4xf32>) outs(%m_2 : tensor<2x4x4xf32>) {
    ^bb0(%8: f32, %9: f32):
      %10 = arith.addf %9, %8 : f32
      linalg.yield %10 : f32
    } -> tensor<2x4x4xf32>
    %m_4 = tensor.empty() : tensor<2x4x4xf32>
    %m_5 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%m_3 : tensor<2x4x4xf32>) outs(%m_4 : tensor<2x4x4xf32>) {
    ^bb0(%11: f32, %12: f32):
      %13 = arith.constant 4.000000e+00 : f32
      %14 = arith.divf %11, %13 : f32
      linalg.yield %14 : f32
    } -> tensor<2x4x4xf32>
    %g = tensor.empty() : tensor<2x4x6xf32>
    %g_1 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%i : tensor<6xi64>) outs(%g : tensor<2x4x6xf32>) {
    ^bb0(%15: i64, %16: f32):
      %17 = linalg.index 0 : index
      %18 = linalg.index 1 : index
      %19 = arith.index_cast %15 : i64 to index
      %20 = arith.constant 0 : index
      %21 = arith.cmpi slt, %19, %20 : index
      %22 = arith.constant 4 : index
      %23 = arith.addi %19, %22 : index
      %24 = arith.select %21, %23, %19 : index
      %25 = tensor.extract %m_5[%17, %18, %24] : tensor<2x4x4xf32>
      linalg.yield %25 : f32
    } -> tensor<2x4x6xf32>
    func.return %g_1 : tensor<2x4x6xf32>
  }
}
