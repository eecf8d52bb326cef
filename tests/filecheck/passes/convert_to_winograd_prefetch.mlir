// RUN: gawee-opt -p 'convert-to-winograd{target=skylake-avx512 num-threads=1}' --split-input-file %s | filecheck %s

// 2.4 MB of transformed weights, and 49 tiles.
// CHECK-LABEL: func.func @weights_that_no_cache_of_a_core_holds_are_prefetched
// CHECK:         "gawee.winograd"(
// CHECK-SAME:      lanes = 16 : i64, prefetch
func.func @weights_that_no_cache_of_a_core_holds_are_prefetched(%x: tensor<1x128x30x30xf32>, %w: tensor<128x128x3x3xf32> {gawee.parameter = "w"}) -> tensor<1x128x28x28xf32> {
  %y = gawee.kernel parallel [1, 128, 28, 28] reduce [128, 3, 3] ins(%x, %w : tensor<1x128x30x30xf32>, tensor<128x128x3x3xf32>)
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
  } : tensor<1x128x28x28xf32>
  func.return %y : tensor<1x128x28x28xf32>
}

// -----

// 0.6 MB.
// CHECK-LABEL: func.func @weights_that_the_second_cache_holds_are_not_prefetched
// CHECK:         "gawee.winograd"(
// CHECK-SAME:      lanes = 16 : i64, operandSegmentSizes
func.func @weights_that_the_second_cache_holds_are_not_prefetched(%x: tensor<1x64x58x58xf32>, %w: tensor<64x64x3x3xf32> {gawee.parameter = "w"}) -> tensor<1x64x56x56xf32> {
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
  } : tensor<1x64x56x56xf32>
  func.return %y : tensor<1x64x56x56xf32>
}

// -----

// 1.08 MB of inputs; the second cache has 1 MiB. Blocks read them in streams.
// CHECK-LABEL: func.func @inputs_of_blocks_are_left_to_the_processor
// CHECK:         "gawee.winograd"(
// CHECK-NOT:       prefetch_inputs
func.func @inputs_of_blocks_are_left_to_the_processor(%x: tensor<1x16x130x130xf32>, %w: tensor<16x16x3x3xf32> {gawee.parameter = "w"}) -> tensor<1x16x128x128xf32> {
  %y = gawee.kernel parallel [1, 16, 128, 128] reduce [16, 3, 3] ins(%x, %w : tensor<1x16x130x130xf32>, tensor<16x16x3x3xf32>)
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
  } : tensor<1x16x128x128xf32>
  func.return %y : tensor<1x16x128x128xf32>
}

// -----

// 1.01 MB.
// CHECK-LABEL: func.func @inputs_that_the_second_cache_holds_are_not_prefetched
// CHECK:         "gawee.winograd"(
// CHECK-SAME:      lanes = 16 : i64, operandSegmentSizes
func.func @inputs_that_the_second_cache_holds_are_not_prefetched(%x: tensor<1x16x126x126xf32>, %w: tensor<16x16x3x3xf32> {gawee.parameter = "w"}) -> tensor<1x16x124x124xf32> {
  %y = gawee.kernel parallel [1, 16, 124, 124] reduce [16, 3, 3] ins(%x, %w : tensor<1x16x126x126xf32>, tensor<16x16x3x3xf32>)
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
  } : tensor<1x16x124x124xf32>
  func.return %y : tensor<1x16x124x124xf32>
}

// -----

// 1.8 MB of inputs for 64 tiles, which are computed all at once.
// CHECK-LABEL: func.func @inputs_of_all_tiles_that_no_cache_of_a_core_holds_are_prefetched
// CHECK:         "gawee.winograd"(
// CHECK-SAME:      prefetch, prefetch_inputs
func.func @inputs_of_all_tiles_that_no_cache_of_a_core_holds_are_prefetched(%x: tensor<1x384x34x34xf32>, %w: tensor<192x384x3x3xf32> {gawee.parameter = "w"}) -> tensor<1x192x32x32xf32> {
  %y = gawee.kernel parallel [1, 192, 32, 32] reduce [384, 3, 3] ins(%x, %w : tensor<1x384x34x34xf32>, tensor<192x384x3x3xf32>)
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
  } : tensor<1x192x32x32xf32>
  func.return %y : tensor<1x192x32x32xf32>
}

// -----

// 1.01 MB.
// CHECK-LABEL: func.func @inputs_that_the_second_cache_holds_are_not_prefetched
// CHECK:         "gawee.winograd"(
// CHECK-SAME:      lanes = 16 : i64, operandSegmentSizes
func.func @inputs_that_the_second_cache_holds_are_not_prefetched(%x: tensor<1x16x126x126xf32>, %w: tensor<192x384x3x3xf32> {gawee.parameter = "w"}) -> tensor<1x16x124x124xf32> {
  %y = gawee.kernel parallel [1, 16, 124, 124] reduce [16, 3, 3] ins(%x, %w : tensor<1x16x126x126xf32>, tensor<192x384x3x3xf32>)
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
  } : tensor<1x16x124x124xf32>
  func.return %y : tensor<1x16x124x124xf32>
}
