builtin.module {
  func.func @prepare(%w: tensor<4x3x3x2xf32> {gawee.parameter = "conv.weight"}) -> (tensor<3x3x2x4xf32> {gawee.output = "0"}) {
    %w_1 = gawee.kernel parallel [4, 3, 3, 2] ins(%w : tensor<4x3x3x2xf32>) maps [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1, d2, d3, d0)>] finish {
    ^bb0(%0: f32):
      gawee.yield %0 : f32
    } schedule #gawee.schedule<loops = [d1, d2, d3, d0]> : tensor<3x3x2x4xf32>
    func.return %w_1 : tensor<3x3x2x4xf32>
  }
  func.func @main(%x: tensor<2x3x7x5xf32> {gawee.input = "x"}, %i: tensor<6xi64> {gawee.input = "i"}, %w: tensor<3x3x2x4xf32> {gawee.prepared = "0"}) -> (tensor<2x4x6xf32> {gawee.output = "y"}, tensor<i64> {gawee.indices = {op = "gawee.gather", axes = array<i64: 2>, sizes = array<i64: 4>, place = "net.mlir:9:3"}}) {
    %b = arith.constant dense<[1.000000e+00, -2.000000e+00, 5.000000e-01, 2.500000e-01]> : tensor<4xf32>
    %c = gawee.kernel parallel [2, 3, 7, 5] ins(%x : tensor<2x3x7x5xf32>) maps [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, (d2 + 1), d3)>] outside 0.000000e+00 : f32 finish {
    ^bb0(%0: f32):
      gawee.yield %0 : f32
    } schedule #gawee.schedule<loops = [d0, d1, d2], vector = d3 by 8> : tensor<2x3x9x5xf32>
    %r = gawee.kernel parallel [2, 4, 4, 4] reduce [3, 3, 2] ins(%c, %w, %b : tensor<2x3x9x5xf32>, tensor<3x3x2x4xf32>, tensor<4xf32>) maps [affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, ((d2 * 2) + d5), (d3 + d6))>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d1)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>] initial 0.000000e+00 : f32 accumulate {
    ^bb0(%1: f32, %2: f32, %3: f32, %4: f32):
      %5 = arith.mulf %1, %2 : f32
      %6 = arith.addf %4, %5 : f32
      gawee.yield %6 : f32
    } finish {
    ^bb0(%7: f32, %8: f32, %9: f32, %10: f32):
      %11 = arith.addf %9, %10 : f32
      %12 = arith.constant 0.000000e+00 : f32
      %13 = arith.maximumf %11, %12 : f32
      gawee.yield %13 : f32
    } schedule #gawee.schedule<loops = [d0, d2, d4, d5, d6], vector = d3 by 4> : tensor<2x4x4x4xf32>
    %m = gawee.kernel parallel [2, 4, 4] reduce [4] ins(%r : tensor<2x4x4x4xf32>) maps [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>] initial 0.000000e+00 : f32 accumulate {
    ^bb0(%14: f32, %15: f32):
      %16 = arith.addf %15, %14 : f32
      gawee.yield %16 : f32
    } finish {
    ^bb0(%17: f32, %18: f32):
      %19 = arith.constant 4.000000e+00 : f32
      %20 = arith.divf %18, %19 : f32
      gawee.yield %20 : f32
    } schedule #gawee.schedule<loops = [d0, d3], vector = d2 by 4> : tensor<2x4x4xf32>
    %21 = gawee.kernel parallel [6] ins(%i : tensor<6xi64>) maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] finish {
    ^bb0(%22: i64):
      %23 = arith.constant -4 : i64
      %24 = arith.maxsi %22, %23 : i64
      %25 = arith.constant 3 : i64
      %26 = arith.minsi %24, %25 : i64
      gawee.yield %26 : i64
    } schedule #gawee.schedule<loops = [], vector = d0 by 8> : tensor<6xi64>
    %27 = gawee.kernel parallel [] reduce [6] ins(%i : tensor<6xi64>) maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>] initial -9223372036854775808 : i64 accumulate {
    ^bb0(%28: i64, %29: i64):
      %30 = arith.constant -9223372036854775804 : i64
      %31 = arith.addi %28, %30 : i64
      %32 = arith.maxsi %29, %31 : i64
      gawee.yield %32 : i64
    } finish {
    ^bb0(%33: i64, %34: i64):
      gawee.yield %34 : i64
    } schedule #gawee.schedule<loops = [], vector = d0 by 8> : tensor<i64>
    %g = tensor.empty() : tensor<2x4x6xf32>
    %g_1 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21 : tensor<6xi64>) outs(%g : tensor<2x4x6xf32>) {
    ^bb0(%35: i64, %36: f32):
      %37 = linalg.index 0 : index
      %38 = linalg.index 1 : index
      %39 = arith.index_cast %35 : i64 to index
      %40 = arith.constant 0 : index
      %41 = arith.cmpi slt, %39, %40 : index
      %42 = arith.constant 4 : index
      %43 = arith.addi %39, %42 : index
      %44 = arith.select %41, %43, %39 : index
      %45 = tensor.extract %m[%37, %38, %44] : tensor<2x4x4xf32>
      linalg.yield %45 : f32
    } -> tensor<2x4x6xf32>
    func.return %g_1, %27 : tensor<2x4x6xf32>, tensor<i64>
  }
}
