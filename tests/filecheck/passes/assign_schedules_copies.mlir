// RUN: gawee-opt -p 'assign-schedules{target=znver3 num-threads=1}' --split-input-file %s | filecheck %s

// Half of each line, and every other row, is of no use: 272 channels read the rest 17 times.
// CHECK-LABEL: func.func @every_other_pixel_is_copied_in_the_order_of_tiles
// CHECK:         %[[X:.*]] = gawee.kernel parallel [1, 13, 14, 256] ins(%x :
// CHECK-SAME:      (d3 floordiv 8), {{.*}}, (d3 mod 8))>] finish
// CHECK:         gawee.kernel parallel [1, 272, 13, 14] reduce [256] ins(%[[X]], %{{.*}} :
// CHECK:         schedule #gawee.schedule<loops = [d1 by 16, d2, d3 by {{[0-9]+}}, d4 by 8, d4], vector = d1 by 8, parallel = 1, prefetch = input 1 along d1>
func.func @every_other_pixel_is_copied_in_the_order_of_tiles(%x: tensor<1x32x26x28x8xf32>, %w: tensor<272x256xf32> {gawee.parameter = "w"}) -> tensor<1x34x13x14x8xf32> {
  %y = gawee.kernel parallel [1, 272, 13, 14] reduce [256] ins(%x, %w : tensor<1x32x26x28x8xf32>, tensor<272x256xf32>)
    maps [affine_map<(n, f, h, w, c) -> (n, c floordiv 8, h * 2, w * 2, c mod 8)>,
    affine_map<(n, f, h, w, c) -> (f, c)>,
    affine_map<(n, f, h, w, c) -> (n, f floordiv 8, h, w, f mod 8)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<1x34x13x14x8xf32>
  func.return %y : tensor<1x34x13x14x8xf32>
}

// -----

// 72 channels read it five times.
// CHECK-LABEL: func.func @pixels_that_are_read_a_few_times_stay_as_they_are
// CHECK:         gawee.kernel parallel [1, 72, 13, 14] reduce [1024] ins(%x, %{{.*}} :
func.func @pixels_that_are_read_a_few_times_stay_as_they_are(%x: tensor<1x128x26x28x8xf32>, %w: tensor<72x1024xf32> {gawee.parameter = "w"}) -> tensor<1x9x13x14x8xf32> {
  %y = gawee.kernel parallel [1, 72, 13, 14] reduce [1024] ins(%x, %w : tensor<1x128x26x28x8xf32>, tensor<72x1024xf32>)
    maps [affine_map<(n, f, h, w, c) -> (n, c floordiv 8, h * 2, w * 2, c mod 8)>,
    affine_map<(n, f, h, w, c) -> (f, c)>,
    affine_map<(n, f, h, w, c) -> (n, f floordiv 8, h, w, f mod 8)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<1x9x13x14x8xf32>
  func.return %y : tensor<1x9x13x14x8xf32>
}

// -----

// 1.3 MB are fetched ahead, tile by tile.
// CHECK-LABEL: func.func @what_the_second_cache_does_not_hold_is_fetched_as_it_lies
// CHECK:         gawee.kernel parallel [1, 272, 35, 36] reduce [256] ins(%x, %{{.*}} :
// CHECK:         prefetch = input 0 along d3
func.func @what_the_second_cache_does_not_hold_is_fetched_as_it_lies(%x: tensor<1x32x35x36x8xf32>, %w: tensor<272x256xf32> {gawee.parameter = "w"}) -> tensor<1x34x35x36x8xf32> {
  %y = gawee.kernel parallel [1, 272, 35, 36] reduce [256] ins(%x, %w : tensor<1x32x35x36x8xf32>, tensor<272x256xf32>)
    maps [affine_map<(n, f, h, w, c) -> (n, c floordiv 8, h, w, c mod 8)>,
    affine_map<(n, f, h, w, c) -> (f, c)>,
    affine_map<(n, f, h, w, c) -> (n, f floordiv 8, h, w, f mod 8)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<1x34x35x36x8xf32>
  func.return %y : tensor<1x34x35x36x8xf32>
}

// -----

// A block of 16 channels is a line.
// CHECK-LABEL: func.func @pixels_that_are_whole_lines_stay_as_they_are
// CHECK:         gawee.kernel parallel [1, 272, 13, 14] reduce [256] ins(%x, %{{.*}} :
func.func @pixels_that_are_whole_lines_stay_as_they_are(%x: tensor<1x16x26x28x16xf32>, %w: tensor<272x256xf32> {gawee.parameter = "w"}) -> tensor<1x17x13x14x16xf32> {
  %y = gawee.kernel parallel [1, 272, 13, 14] reduce [256] ins(%x, %w : tensor<1x16x26x28x16xf32>, tensor<272x256xf32>)
    maps [affine_map<(n, f, h, w, c) -> (n, c floordiv 16, h * 2, w * 2, c mod 16)>,
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
  } : tensor<1x17x13x14x16xf32>
  func.return %y : tensor<1x17x13x14x16xf32>
}
