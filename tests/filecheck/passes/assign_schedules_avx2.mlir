// RUN: gawee-opt -p 'assign-schedules{target=haswell}' --split-input-file %s | filecheck %s

// Blocks of channels are the outermost reduction; the vector is along the last axis of the weights.
// CHECK-LABEL: func.func @weights_are_packed_in_the_order_in_which_a_schedule_reads_them
// CHECK:         %[[W:.*]] = gawee.kernel parallel [64, 64, 3, 3] ins(%w :
// CHECK-SAME:      (d1 floordiv 16), d2, d3, (d1 mod 16), {{.*}})>] finish
// CHECK:         } schedule #gawee.schedule<loops = [d0 by
// CHECK:         gawee.kernel parallel [1, 64, 56, 56] reduce [64, 3, 3] ins(%x, %[[W]] :
// CHECK:         } schedule #gawee.schedule<loops = [{{.*}}, d4 by 16, d5, d6, d4], vector = d1 by 8, parallel = {{[12]}}{{.*}}>
func.func @weights_are_packed_in_the_order_in_which_a_schedule_reads_them(%x: tensor<1x4x58x58x16xf32>, %w: tensor<64x64x3x3xf32> {gawee.parameter = "w"}) -> tensor<1x4x56x56x16xf32> {
  %y = gawee.kernel parallel [1, 64, 56, 56] reduce [64, 3, 3] ins(%x, %w : tensor<1x4x58x58x16xf32>, tensor<64x64x3x3xf32>)
    maps [affine_map<(n, f, h, w, c, i, j) -> (n, c floordiv 16, h + i, w + j, c mod 16)>,
    affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>,
    affine_map<(n, f, h, w, c, i, j) -> (n, f floordiv 16, h, w, f mod 16)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<1x4x56x56x16xf32>
  func.return %y : tensor<1x4x56x56x16xf32>
}

// -----

// Ten accumulators hide their latency in part: tiles of twelve are faster, though two rows are left.
// CHECK-LABEL: func.func @rows_that_divide_by_neither_five_nor_six_are_computed_in_sixes
// CHECK:         gawee.kernel parallel [128, 272] reduce [240]
// CHECK:         } schedule #gawee.schedule<loops = [d1 by 16, d0 by 6, d2], vector = d1 by 8, {{.*}}>
func.func @rows_that_divide_by_neither_five_nor_six_are_computed_in_sixes(%x: tensor<128x240xf32>, %w: tensor<240x272xf32> {gawee.parameter = "w"}) -> tensor<128x272xf32> {
  %y = gawee.kernel parallel [128, 272] reduce [240] ins(%x, %w : tensor<128x240xf32>, tensor<240x272xf32>)
    maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<128x272xf32>
  func.return %y : tensor<128x272xf32>
}
