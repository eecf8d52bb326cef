builtin.module {
  func.func @main(%x: tensor<2x3x7x5xf32> {gawee.input = "x"} loc(unknown), %w: tensor<4x3x3x2xf32> {gawee.parameter = "conv.weight"} loc(unknown), %i: tensor<6xi64> {gawee.input = "i"} loc(unknown)) -> (tensor<2x4x6xf32> {gawee.output = "y"}) {
    %b = gawee.constant dense<[1.000000e+00, -2.000000e+00, 5.000000e-01, 2.500000e-01]> : tensor<4xf32> loc("net.mlir":5:3)
    %c = gawee.conv %x, %w bias %b strides [2, 1] padding [1, 0, 1, 0] dilations [1, 1] groups 1 : (tensor<2x3x7x5xf32>, tensor<4x3x3x2xf32>, tensor<4xf32>) -> tensor<2x4x4x4xf32> loc("net.mlir":6:3)
    %r = gawee.relu %c : (tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32> loc("net.mlir":7:3)
    %m = gawee.reduce_mean %r axes [-1] : (tensor<2x4x4x4xf32>) -> tensor<2x4x4xf32> loc("net.mlir":8:3)
    %g = gawee.gather %m, %i axis 2 : (tensor<2x4x4xf32>, tensor<6xi64>) -> tensor<2x4x6xf32> loc("net.mlir":9:3)
    func.return %g : tensor<2x4x6xf32> loc("net.mlir":10:3)
  } loc("net.mlir":1:1)
} loc(unknown)
