// RUN: gawee-opt -p 'convert-to-winograd{target=skylake-avx512}' --split-input-file %s | filecheck %s

// Weights are put in panels, then transformed in f64.
// CHECK-LABEL: func.func @a_convolution_multiplies_transformed_tiles
// CHECK:         %[[X:.*]] = gawee.kernel parallel [1, 64, 56, 56] ins(%x :
// CHECK:         %[[W:.*]] = gawee.kernel parallel [64, 64, 3, 3] ins(%w :
// CHECK:         %[[U:.*]] = gawee.kernel parallel [6, 6, 64, 64] reduce [3, 3] ins(%[[W]], %[[G:.*]], %[[G]] :
// CHECK-SAME:      initial 0.000000e+00 : f64
// CHECK:         %y = "gawee.winograd"(%[[X]], %[[U]]) <{tile = 4 : i64, bounds = array<i64: 1, 64, 56, 56, 64>
// CHECK:         func.return %y
func.func @a_convolution_multiplies_transformed_tiles(%x: tensor<1x64x56x56xf32>, %w: tensor<64x64x3x3xf32> {gawee.parameter = "w"}) -> tensor<1x64x56x56xf32> {
  %p = gawee.kernel parallel [1, 64, 56, 56] ins(%x : tensor<1x64x56x56xf32>)
    maps [affine_map<(n, c, h, w) -> (n, c, h, w)>,
    affine_map<(n, c, h, w) -> (n, c, h + 1, w + 1)>] finish {
  ^bb0(%e0: f32):
    gawee.yield %e0 : f32
  } : tensor<1x64x58x58xf32>
  %y = gawee.kernel parallel [1, 64, 56, 56] reduce [64, 3, 3] ins(%p, %w : tensor<1x64x58x58xf32>, tensor<64x64x3x3xf32>)
    maps [affine_map<(n, f, h, w, c, i, j) -> (n, c, h + i, w + j)>,
    affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>,
    affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<1x64x56x56xf32>
  func.return %y : tensor<1x64x56x56xf32>
}

// -----

// Tiles of 4 cover 56 x 56, and read 58 x 58.
// CHECK-LABEL: func.func @padding_grows_to_cover_whole_tiles
// CHECK:         gawee.kernel parallel [1, 64, 55, 53] ins(%x :
// CHECK-SAME:      (d0, d1, (d2 + 1), (d3 + 1))>
// CHECK:         } : tensor<1x64x58x58xf32>
// CHECK:         "gawee.winograd"(
// CHECK-SAME:      tile = 4 : i64
func.func @padding_grows_to_cover_whole_tiles(%x: tensor<1x64x55x53xf32>, %w: tensor<64x64x3x3xf32> {gawee.parameter = "w"}) -> tensor<1x64x55x53xf32> {
  %p = gawee.kernel parallel [1, 64, 55, 53] ins(%x : tensor<1x64x55x53xf32>)
    maps [affine_map<(n, c, h, w) -> (n, c, h, w)>,
    affine_map<(n, c, h, w) -> (n, c, h + 1, w + 1)>] finish {
  ^bb0(%e0: f32):
    gawee.yield %e0 : f32
  } : tensor<1x64x57x55xf32>
  %y = gawee.kernel parallel [1, 64, 55, 53] reduce [64, 3, 3] ins(%p, %w : tensor<1x64x57x55xf32>, tensor<64x64x3x3xf32>)
    maps [affine_map<(n, f, h, w, c, i, j) -> (n, c, h + i, w + j)>,
    affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>,
    affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<1x64x55x53xf32>
  func.return %y : tensor<1x64x55x53xf32>
}

// -----

// CHECK-LABEL: func.func @what_follows_the_sum_stays_behind_it
// CHECK:         "gawee.winograd"(%{{.*}}, %bias, %{{.*}}) <{
// CHECK-SAME:      affine_map<(d0, d1, d2, d3, d4) -> (d1)>
// CHECK-NEXT:    ^bb0(%[[B:.*]]: f32, %[[S:.*]]: f32):
// CHECK-NEXT:      arith.addf %[[S]], %[[B]] : f32
func.func @what_follows_the_sum_stays_behind_it(%x: tensor<1x64x56x56xf32>, %w: tensor<64x64x3x3xf32> {gawee.parameter = "w"}, %bias: tensor<64xf32>) -> tensor<1x64x56x56xf32> {
  %p = gawee.kernel parallel [1, 64, 56, 56] ins(%x : tensor<1x64x56x56xf32>)
    maps [affine_map<(n, c, h, w) -> (n, c, h, w)>,
    affine_map<(n, c, h, w) -> (n, c, h + 1, w + 1)>] finish {
  ^bb0(%e0: f32):
    gawee.yield %e0 : f32
  } : tensor<1x64x58x58xf32>
  %y = gawee.kernel parallel [1, 64, 56, 56] reduce [64, 3, 3] ins(%p, %w, %bias : tensor<1x64x58x58xf32>, tensor<64x64x3x3xf32>, tensor<64xf32>)
    maps [affine_map<(n, f, h, w, c, i, j) -> (n, c, h + i, w + j)>,
    affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>,
    affine_map<(n, f, h, w, c, i, j) -> (f)>,
    affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %bias_e: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %bias_e: f32, %s: f32):
    %t = arith.addf %s, %bias_e : f32
    gawee.yield %t : f32
  } : tensor<1x64x56x56xf32>
  func.return %y : tensor<1x64x56x56xf32>
}

// -----

// CHECK-LABEL: func.func @a_convolution_of_stride_two_stays
// CHECK-NOT:     gawee.winograd
// CHECK:         func.return
func.func @a_convolution_of_stride_two_stays(%x: tensor<1x64x58x58xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x64x28x28xf32> {
  %y = gawee.kernel parallel [1, 64, 28, 28] reduce [64, 3, 3] ins(%x, %w : tensor<1x64x58x58xf32>, tensor<64x64x3x3xf32>)
    maps [affine_map<(n, f, h, w, c, i, j) -> (n, c, h * 2 + i, w * 2 + j)>,
    affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>,
    affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<1x64x28x28xf32>
  func.return %y : tensor<1x64x28x28xf32>
}

// -----

// No vector divides three channels.
// CHECK-LABEL: func.func @a_convolution_of_few_channels_stays
// CHECK-NOT:     gawee.winograd
// CHECK:         func.return
func.func @a_convolution_of_few_channels_stays(%x: tensor<1x3x58x58xf32>, %w: tensor<64x3x3x3xf32>) -> tensor<1x64x56x56xf32> {
  %y = gawee.kernel parallel [1, 64, 56, 56] reduce [3, 3, 3] ins(%x, %w : tensor<1x3x58x58xf32>, tensor<64x3x3x3xf32>)
    maps [affine_map<(n, f, h, w, c, i, j) -> (n, c, h + i, w + j)>,
    affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>,
    affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<1x64x56x56xf32>
  func.return %y : tensor<1x64x56x56xf32>
}

// -----

// CHECK-LABEL: func.func @a_convolution_with_a_schedule_stays
// CHECK-NOT:     gawee.winograd
// CHECK:         func.return
func.func @a_convolution_with_a_schedule_stays(%x: tensor<1x64x58x58xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32> {
  %y = gawee.kernel parallel [1, 64, 56, 56] reduce [64, 3, 3] ins(%x, %w : tensor<1x64x58x58xf32>, tensor<64x64x3x3xf32>)
    maps [affine_map<(n, f, h, w, c, i, j) -> (n, c, h + i, w + j)>,
    affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>,
    affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } schedule #gawee.schedule<loops = [d1, d2, d3, d4, d5, d6]> : tensor<1x64x56x56xf32>
  func.return %y : tensor<1x64x56x56xf32>
}
