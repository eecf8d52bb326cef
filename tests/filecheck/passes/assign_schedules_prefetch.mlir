// RUN: gawee-opt -p 'assign-schedules{target=skylake-avx512 num-threads=1}' --split-input-file %s | filecheck %s

// Each panel of weights is read by 49 rows.
// CHECK-LABEL: func.func @weights_are_fetched_while_those_before_them_are_multiplied
// CHECK:         gawee.kernel parallel [49, 1280] reduce [320]
// CHECK:         schedule #gawee.schedule<loops = [d1 by {{[0-9]+}}, d0 by {{[0-9]+}}, d2], vector = d1 by 16, parallel = {{[12]}}, prefetch = input 1 along d1>
func.func @weights_are_fetched_while_those_before_them_are_multiplied(%x: tensor<49x320xf32>, %w: tensor<1280x320xf32> {gawee.parameter = "w"}) -> tensor<49x1280xf32> {
  %y = gawee.kernel parallel [49, 1280] reduce [320] ins(%x, %w : tensor<49x320xf32>, tensor<1280x320xf32>)
    maps [affine_map<(m, n, k) -> (m, k)>,
    affine_map<(m, n, k) -> (n, k)>,
    affine_map<(m, n, k) -> (m, n)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<49x1280xf32>
  func.return %y : tensor<49x1280xf32>
}

// -----

// Main memory takes longer to send a panel than three rows to be multiplied with it.
// CHECK-LABEL: func.func @weights_that_few_rows_read_are_waited_for_anyway
// CHECK:         gawee.kernel parallel [3, 1280] reduce [320]
// CHECK-NOT:     prefetch
// CHECK:         func.return
func.func @weights_that_few_rows_read_are_waited_for_anyway(%x: tensor<3x320xf32>, %w: tensor<1280x320xf32> {gawee.parameter = "w"}) -> tensor<3x1280xf32> {
  %y = gawee.kernel parallel [3, 1280] reduce [320] ins(%x, %w : tensor<3x320xf32>, tensor<1280x320xf32>)
    maps [affine_map<(m, n, k) -> (m, k)>,
    affine_map<(m, n, k) -> (n, k)>,
    affine_map<(m, n, k) -> (m, n)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<3x1280xf32>
  func.return %y : tensor<3x1280xf32>
}

// -----

// A panel is 1.5 MB or more.
// CHECK-LABEL: func.func @two_panels_have_to_fit_in_the_second_cache
// CHECK:         gawee.kernel parallel [49, 640] reduce [8000]
// CHECK-NOT:     prefetch
// CHECK:         func.return
func.func @two_panels_have_to_fit_in_the_second_cache(%x: tensor<49x8000xf32>, %w: tensor<640x8000xf32> {gawee.parameter = "w"}) -> tensor<49x640xf32> {
  %y = gawee.kernel parallel [49, 640] reduce [8000] ins(%x, %w : tensor<49x8000xf32>, tensor<640x8000xf32>)
    maps [affine_map<(m, n, k) -> (m, k)>,
    affine_map<(m, n, k) -> (n, k)>,
    affine_map<(m, n, k) -> (m, n)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<49x640xf32>
  func.return %y : tensor<49x640xf32>
}

// -----

// All 24 columns are one tile.
// CHECK-LABEL: func.func @weights_that_are_read_at_once_have_no_next_part
// CHECK:         gawee.kernel parallel [49, 24] reduce [320]
// CHECK-NOT:     prefetch
// CHECK:         func.return
func.func @weights_that_are_read_at_once_have_no_next_part(%x: tensor<49x320xf32>, %w: tensor<24x320xf32> {gawee.parameter = "w"}) -> tensor<49x24xf32> {
  %y = gawee.kernel parallel [49, 24] reduce [320] ins(%x, %w : tensor<49x320xf32>, tensor<24x320xf32>)
    maps [affine_map<(m, n, k) -> (m, k)>,
    affine_map<(m, n, k) -> (n, k)>,
    affine_map<(m, n, k) -> (m, n)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<49x24xf32>
  func.return %y : tensor<49x24xf32>
}

// -----

// Each step of 2048 rows would fetch a line, of 1600 lines.
// CHECK-LABEL: func.func @lines_are_not_fetched_over_and_over
// CHECK:         gawee.kernel parallel [2048, 8192] reduce [320]
// CHECK-NOT:     prefetch
// CHECK:         func.return
func.func @lines_are_not_fetched_over_and_over(%x: tensor<2048x320xf32>, %w: tensor<8192x320xf32> {gawee.parameter = "w"}) -> tensor<2048x8192xf32> {
  %y = gawee.kernel parallel [2048, 8192] reduce [320] ins(%x, %w : tensor<2048x320xf32>, tensor<8192x320xf32>)
    maps [affine_map<(m, n, k) -> (m, k)>,
    affine_map<(m, n, k) -> (n, k)>,
    affine_map<(m, n, k) -> (m, n)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<2048x8192xf32>
  func.return %y : tensor<2048x8192xf32>
}

// -----

// Places of a row in 32 blocks of channels: 32 runs, 200 KB apart, of 6 MB.
// CHECK-LABEL: func.func @rows_in_blocks_of_channels_are_fetched_for_the_next_tile
// CHECK:         gawee.kernel parallel [1, 96, 57, 56] reduce [512]
// CHECK:         schedule #gawee.schedule<loops = [{{.*}}d3 by {{[0-9]+}}, d4 by 16, d4], vector = d1 by 16, parallel = {{[12]}}, prefetch = input 0 along d3>
func.func @rows_in_blocks_of_channels_are_fetched_for_the_next_tile(%x: tensor<1x32x57x56x16xf32>, %w: tensor<96x512xf32> {gawee.parameter = "w"}) -> tensor<1x6x57x56x16xf32> {
  %y = gawee.kernel parallel [1, 96, 57, 56] reduce [512] ins(%x, %w : tensor<1x32x57x56x16xf32>, tensor<96x512xf32>)
    maps [affine_map<(n, f, h, w, c) -> (n, c floordiv 16, h, w, c mod 16)>,
    affine_map<(n, f, h, w, c) -> (f, c)>,
    affine_map<(n, f, h, w, c) -> (n, f floordiv 16, h, w, f mod 16)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<1x6x57x56x16xf32>
  func.return %y : tensor<1x6x57x56x16xf32>
}

// -----

// All that is read is 340 KB.
// CHECK-LABEL: func.func @rows_that_the_second_cache_holds_are_near_enough
// CHECK:         gawee.kernel parallel [1, 96, 11, 13] reduce [512]
// CHECK-NOT:     prefetch
// CHECK:         func.return
func.func @rows_that_the_second_cache_holds_are_near_enough(%x: tensor<1x32x11x13x16xf32>, %w: tensor<96x512xf32> {gawee.parameter = "w"}) -> tensor<1x6x11x13x16xf32> {
  %y = gawee.kernel parallel [1, 96, 11, 13] reduce [512] ins(%x, %w : tensor<1x32x11x13x16xf32>, tensor<96x512xf32>)
    maps [affine_map<(n, f, h, w, c) -> (n, c floordiv 16, h, w, c mod 16)>,
    affine_map<(n, f, h, w, c) -> (f, c)>,
    affine_map<(n, f, h, w, c) -> (n, f floordiv 16, h, w, f mod 16)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<1x6x11x13x16xf32>
  func.return %y : tensor<1x6x11x13x16xf32>
}

// -----

// Of scales and weights the next weights are fetched: there are more of them.
// CHECK-LABEL: func.func @the_largest_panel_is_fetched
// CHECK:         gawee.kernel parallel [49, 1280] reduce [40, 8]
// CHECK:         prefetch = input 2 along d1>
func.func @the_largest_panel_is_fetched(%x: tensor<49x40x8xf32>, %s: tensor<1280x40xf32> {gawee.parameter = "s"}, %w: tensor<1280x40x8xf32> {gawee.parameter = "w"}) -> tensor<49x1280xf32> {
  %y = gawee.kernel parallel [49, 1280] reduce [40, 8] ins(%x, %s, %w : tensor<49x40x8xf32>, tensor<1280x40xf32>, tensor<1280x40x8xf32>)
    maps [affine_map<(m, n, b, k) -> (m, b, k)>,
    affine_map<(m, n, b, k) -> (n, b)>,
    affine_map<(m, n, b, k) -> (n, b, k)>,
    affine_map<(m, n, b, k) -> (m, n)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %c: f32, %r: f32, %t: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.mulf %0, %c : f32
    %2 = arith.addf %t, %1 : f32
    gawee.yield %2 : f32
  } finish {
  ^bb0(%l: f32, %c: f32, %r: f32, %t: f32):
    gawee.yield %t : f32
  } : tensor<49x1280xf32>
  func.return %y : tensor<49x1280xf32>
}
