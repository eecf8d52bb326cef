"builtin.module"() ({
  "func.func"() <{sym_name = "main", function_type = (tensor<2x3x7x5xf32>, tensor<4x3x3x2xf32>, tensor<6xi64>) -> tensor<2x4x6xf32>, arg_attrs = [{gawee.input = "x"}, {gawee.parameter = "conv.weight"}, {gawee.input = "i"}], res_attrs = [{gawee.output = "y"}]}> ({
  ^bb0(%x: tensor<2x3x7x5xf32>, %w: tensor<4x3x3x2xf32>, %i: tensor<6xi64>):
    %b = "arith.constant"() <{value = dense<[1.000000e+00, -2.000000e+00, 5.000000e-01, 2.500000e-01]> : tensor<4xf32>}> : () -> tensor<4xf32>
    %c = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
    %c_1 = "tensor.pad"(%x) <{static_low = array<i64: 0, 0, 1, 0>, static_high = array<i64: 0, 0, 1, 0>, operandSegmentSizes = array<i32: 1, 0, 0>}> ({
    ^bb0(%0: index, %1: index, %2: index, %3: index):
      "tensor.yield"(%c) : (f32) -> ()
    }) : (tensor<2x3x7x5xf32>) -> tensor<2x3x9x5xf32>
    %c_2 = "tensor.empty"() : () -> tensor<2x4x4x4xf32>
    %c_3 = "linalg.broadcast"(%b, %c_2) <{dimensions = array<i64: 0, 2, 3>}> ({
    ^bb0(%4: f32, %5: f32):
      "linalg.yield"(%4) : (f32) -> ()
    }) : (tensor<4xf32>, tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
    %c_4 = "linalg.conv_2d_nchw_fchw"(%c_1, %w, %c_3) <{dilations = dense<1> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>, operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%6: f32, %7: f32, %8: f32):
      %9 = "arith.mulf"(%6, %7) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %10 = "arith.addf"(%8, %9) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%10) : (f32) -> ()
    }) : (tensor<2x3x9x5xf32>, tensor<4x3x3x2xf32>, tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
    %r = "tensor.empty"() : () -> tensor<2x4x4x4xf32>
    %r_1 = "linalg.generic"(%c_4, %r) <{indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%11: f32, %12: f32):
      %13 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
      %14 = "arith.maximumf"(%11, %13) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%14) : (f32) -> ()
    }) : (tensor<2x4x4x4xf32>, tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
    %m = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
    %m_1 = "tensor.empty"() : () -> tensor<2x4x4xf32>
    %m_2 = "linalg.fill"(%m, %m_1) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%15: f32, %16: f32):
      "linalg.yield"(%15) : (f32) -> ()
    }) : (f32, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    %m_3 = "linalg.generic"(%r_1, %m_2) <{indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%17: f32, %18: f32):
      %19 = "arith.addf"(%18, %17) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%19) : (f32) -> ()
    }) : (tensor<2x4x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    %m_4 = "tensor.empty"() : () -> tensor<2x4x4xf32>
    %m_5 = "linalg.generic"(%m_3, %m_4) <{indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%20: f32, %21: f32):
      %22 = "arith.constant"() <{value = 4.000000e+00 : f32}> : () -> f32
      %23 = "arith.divf"(%20, %22) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%23) : (f32) -> ()
    }) : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    %g = "tensor.empty"() : () -> tensor<2x4x6xf32>
    %g_1 = "linalg.generic"(%i, %g) <{indexing_maps = [affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%24: i64, %25: f32):
      %26 = "linalg.index"() <{dim = 0 : i64}> : () -> index
      %27 = "linalg.index"() <{dim = 1 : i64}> : () -> index
      %28 = "arith.index_cast"(%24) : (i64) -> index
      %29 = "arith.constant"() <{value = 0 : index}> : () -> index
      %30 = "arith.cmpi"(%28, %29) <{predicate = 2 : i64}> : (index, index) -> i1
      %31 = "arith.constant"() <{value = 4 : index}> : () -> index
      %32 = "arith.addi"(%28, %31) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %33 = "arith.select"(%30, %32, %28) : (i1, index, index) -> index
      %34 = "tensor.extract"(%m_5, %26, %27, %33) : (tensor<2x4x4xf32>, index, index, index) -> f32
      "linalg.yield"(%34) : (f32) -> ()
    }) : (tensor<6xi64>, tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
    "func.return"(%g_1) : (tensor<2x4x6xf32>) -> ()
  }) : () -> ()
}) : () -> ()
