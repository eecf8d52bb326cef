// RUN: gawee-opt -p 'convert-to-winograd{target=znver3 num-threads=1}' %s | filecheck %s

// 38 MB of weights for tiles of 4 x 4 outputs come from main memory, 17 MB for 2 x 2: on a Zen 3 these take two thirds of the time.
// CHECK-LABEL: func.func @smaller_tiles_fetch_fewer_weights
// CHECK:         "gawee.winograd"({{.*}}) <{tile = 2 : i64,
// CHECK-SAME:      rows = 6 : i64, lanes = 8 : i64, prefetch
func.func @smaller_tiles_fetch_fewer_weights(%x: tensor<1x512x9x9xf32>, %w: tensor<512x512x3x3xf32> {gawee.parameter = "w"}) -> tensor<1x512x7x7xf32> {
  %y = gawee.kernel parallel [1, 512, 7, 7] reduce [512, 3, 3] ins(%x, %w : tensor<1x512x9x9xf32>, tensor<512x512x3x3xf32>)
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
  } : tensor<1x512x7x7xf32>
  func.return %y : tensor<1x512x7x7xf32>
}
