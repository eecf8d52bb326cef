"builtin.module"() ({
  "func.func"() <{sym_name = "main", function_type = (tensor<2x3x7x5xf32>, tensor<4x3x3x2xf32>, tensor<6xi64>) -> tensor<2x4x6xf32>, arg_attrs = [{gawee.input = "x"}, {gawee.parameter = "conv.weight"}, {gawee.input = "i"}], res_attrs = [{gawee.output = "y"}]}> ({
  ^bb0(%x: tensor<2x3x7x5xf32>, %w: tensor<4x3x3x2xf32>, %i: tensor<6xi64>):
    %b = "gawee.constant"() {value = dense<[1.000000e+00, -2.000000e+00, 5.000000e-01, 2.500000e-01]> : tensor<4xf32>} : () -> tensor<4xf32>
    %c = "gawee.conv"(%x, %w, %b) {strides = array<i64: 2, 1>, padding = array<i64: 1, 0, 1, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x3x7x5xf32>, tensor<4x3x3x2xf32>, tensor<4xf32>) -> tensor<2x4x4x4xf32>
    %r = "gawee.relu"(%c) : (tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
    %m = "gawee.reduce_mean"(%r) {axes = array<i64: -1>} : (tensor<2x4x4x4xf32>) -> tensor<2x4x4xf32>
    %g = "gawee.gather"(%m, %i) {axis = 2 : i64} : (tensor<2x4x4xf32>, tensor<6xi64>) -> tensor<2x4x6xf32>
    "func.return"(%g) : (tensor<2x4x6xf32>) -> ()
  }) : () -> ()
}) : () -> ()
