// RUN: gawee-opt -p 'assign-layouts{target=sapphirerapids}' --split-input-file %s | filecheck %s
// RUN: gawee-opt -p 'assign-layouts{target=znver5}' --split-input-file %s | filecheck --check-prefix VECTORS %s

// Bytes that are read as words are in blocks of 64, a row of a tile, even where channels of blocks of 16 are added.
// CHECK-LABEL: func.func @bytes_of_words_are_in_blocks_of_a_row
// CHECK:         %r = gawee.kernel parallel [1, 128, 5, 7] reduce [3]
// CHECK:         } : tensor<1x8x5x7x16xf32>
// CHECK:         %y = gawee.kernel parallel [1, 128, 5, 7] reduce [3]
// CHECK:         } : tensor<1x2x5x7x64xui8>
// CHECK:         gawee.kernel parallel [1, 32, 5, 7] ins(%y, %y, %y, %y :
// CHECK-SAME:      (d0, (d1 floordiv 16), d2, d3, (d1 mod 16))>]
// CHECK:         } : tensor<1x2x5x7x16xi32>
// VECTORS-LABEL: func.func @bytes_of_words_are_in_blocks_of_a_row
// VECTORS:       } : tensor<1x8x5x7x16xui8>
// VECTORS:       } : tensor<1x8x5x7x4xi32>
func.func @bytes_of_words_are_in_blocks_of_a_row(%x: tensor<1x3x5x7xf32>, %w: tensor<128x3xf32>) -> tensor<1x9x5x7xi32> {
  %r = gawee.kernel parallel [1, 128, 5, 7] reduce [3] ins(%x, %w : tensor<1x3x5x7xf32>, tensor<128x3xf32>)
    maps [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (f, c)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %k: f32, %s: f32):
    %0 = arith.mulf %l, %k : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %k: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<1x128x5x7xf32>
  %y = gawee.kernel parallel [1, 128, 5, 7] reduce [3] ins(%x, %w, %r : tensor<1x3x5x7xf32>, tensor<128x3xf32>, tensor<1x128x5x7xf32>)
    maps [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (f, c)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %k: f32, %a: f32, %s: f32):
    %0 = arith.mulf %l, %k : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %k: f32, %a: f32, %s: f32):
    %0 = arith.addf %s, %a : f32
    %1 = arith.fptosi %0 : f32 to i32
    %2 = arith.trunci %1 : i32 to i8
    %3 = builtin.unrealized_conversion_cast %2 : i8 to ui8
    gawee.yield %3 : ui8
  } : tensor<1x128x5x7xui8>
  %words = gawee.kernel parallel [1, 32, 5, 7] ins(%y, %y, %y, %y : tensor<1x128x5x7xui8>, tensor<1x128x5x7xui8>, tensor<1x128x5x7xui8>, tensor<1x128x5x7xui8>)
    maps [affine_map<(n, c, h, w) -> (n, c * 4, h, w)>,
    affine_map<(n, c, h, w) -> (n, c * 4 + 1, h, w)>,
    affine_map<(n, c, h, w) -> (n, c * 4 + 2, h, w)>,
    affine_map<(n, c, h, w) -> (n, c * 4 + 3, h, w)>,
    affine_map<(n, c, h, w) -> (n, c, h, w)>] finish {
  ^bb0(%0: ui8, %1: ui8, %2: ui8, %3: ui8):
    %b0 = builtin.unrealized_conversion_cast %0 : ui8 to i8
    %b1 = builtin.unrealized_conversion_cast %1 : ui8 to i8
    %b2 = builtin.unrealized_conversion_cast %2 : ui8 to i8
    %b3 = builtin.unrealized_conversion_cast %3 : ui8 to i8
    %w0 = arith.extui %b0 : i8 to i32
    %w1 = arith.extui %b1 : i8 to i32
    %w2 = arith.extui %b2 : i8 to i32
    %w3 = arith.extui %b3 : i8 to i32
    %c8 = arith.constant 8 : i32
    %c16 = arith.constant 16 : i32
    %c24 = arith.constant 24 : i32
    %s1 = arith.shli %w1, %c8 : i32
    %s2 = arith.shli %w2, %c16 : i32
    %s3 = arith.shli %w3, %c24 : i32
    %o1 = arith.ori %w0, %s1 : i32
    %o2 = arith.ori %o1, %s2 : i32
    %o3 = arith.ori %o2, %s3 : i32
    gawee.yield %o3 : i32
  } : tensor<1x32x5x7xi32>
  %z = gawee.kernel parallel [1, 9, 5, 7] reduce [32] ins(%words : tensor<1x32x5x7xi32>)
    maps [affine_map<(n, f, h, w, c) -> (n, c, h, w)>, affine_map<(n, f, h, w, c) -> (n, f, h, w)>]
    initial 0 : i32 accumulate {
  ^bb0(%l: i32, %s: i32):
    %0 = arith.addi %s, %l : i32
    gawee.yield %0 : i32
  } finish {
  ^bb0(%l: i32, %s: i32):
    gawee.yield %s : i32
  } : tensor<1x9x5x7xi32>
  func.return %z : tensor<1x9x5x7xi32>
}

// -----

// What pads bytes pads their words: bytes and words have one halo, and padded or not they are read of the same words.
// CHECK-LABEL: func.func @words_have_the_halo_of_their_bytes
// CHECK:         %[[Y:.*]] = gawee.kernel parallel [1, 64, 5, 7] reduce [3]
// CHECK:         } : tensor<1x1x7x9x64xui8>
// CHECK:         %[[W:.*]] = gawee.kernel parallel [1, 16, 5, 7] ins(%[[Y]], %[[Y]], %[[Y]], %[[Y]] :
// CHECK-SAME:      (d0, (d1 floordiv 16), (d2 + 1), (d3 + 1), (d1 mod 16))>]
// CHECK:         } : tensor<1x1x7x9x16xi32>
// CHECK-NEXT:    gawee.kernel parallel [1, 9, 5, 7] reduce [16, 3, 3] ins(%[[W]] :
// CHECK-SAME:      (d0, (d4 floordiv 16), (d2 + d5), (d3 + d6), (d4 mod 16))>
// VECTORS-LABEL: func.func @words_have_the_halo_of_their_bytes
// VECTORS:       gawee.kernel parallel [1, 16, 7, 9] ins(
func.func @words_have_the_halo_of_their_bytes(%x: tensor<1x3x5x7xf32>, %w: tensor<64x3xf32>) -> tensor<1x9x5x7xi32> {
  %y = gawee.kernel parallel [1, 64, 5, 7] reduce [3] ins(%x, %w : tensor<1x3x5x7xf32>, tensor<64x3xf32>)
    maps [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (f, c)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %k: f32, %s: f32):
    %0 = arith.mulf %l, %k : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %k: f32, %s: f32):
    %1 = arith.fptosi %s : f32 to i32
    %2 = arith.trunci %1 : i32 to i8
    %3 = builtin.unrealized_conversion_cast %2 : i8 to ui8
    gawee.yield %3 : ui8
  } : tensor<1x64x5x7xui8>
  %p = gawee.kernel parallel [1, 64, 5, 7] ins(%y : tensor<1x64x5x7xui8>)
    maps [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h + 1, w + 1)>] finish {
  ^bb0(%0: ui8):
    gawee.yield %0 : ui8
  } : tensor<1x64x7x9xui8>
  %words = gawee.kernel parallel [1, 16, 7, 9] ins(%p, %p, %p, %p : tensor<1x64x7x9xui8>, tensor<1x64x7x9xui8>, tensor<1x64x7x9xui8>, tensor<1x64x7x9xui8>)
    maps [affine_map<(n, c, h, w) -> (n, c * 4, h, w)>,
    affine_map<(n, c, h, w) -> (n, c * 4 + 1, h, w)>,
    affine_map<(n, c, h, w) -> (n, c * 4 + 2, h, w)>,
    affine_map<(n, c, h, w) -> (n, c * 4 + 3, h, w)>,
    affine_map<(n, c, h, w) -> (n, c, h, w)>] finish {
  ^bb0(%0: ui8, %1: ui8, %2: ui8, %3: ui8):
    %b0 = builtin.unrealized_conversion_cast %0 : ui8 to i8
    %b1 = builtin.unrealized_conversion_cast %1 : ui8 to i8
    %b2 = builtin.unrealized_conversion_cast %2 : ui8 to i8
    %b3 = builtin.unrealized_conversion_cast %3 : ui8 to i8
    %w0 = arith.extui %b0 : i8 to i32
    %w1 = arith.extui %b1 : i8 to i32
    %w2 = arith.extui %b2 : i8 to i32
    %w3 = arith.extui %b3 : i8 to i32
    %c8 = arith.constant 8 : i32
    %c16 = arith.constant 16 : i32
    %c24 = arith.constant 24 : i32
    %s1 = arith.shli %w1, %c8 : i32
    %s2 = arith.shli %w2, %c16 : i32
    %s3 = arith.shli %w3, %c24 : i32
    %o1 = arith.ori %w0, %s1 : i32
    %o2 = arith.ori %o1, %s2 : i32
    %o3 = arith.ori %o2, %s3 : i32
    gawee.yield %o3 : i32
  } : tensor<1x16x7x9xi32>
  %z = gawee.kernel parallel [1, 9, 5, 7] reduce [16, 3, 3] ins(%words : tensor<1x16x7x9xi32>)
    maps [affine_map<(n, f, h, w, c, i, j) -> (n, c, h + i, w + j)>, affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>]
    initial 0 : i32 accumulate {
  ^bb0(%l: i32, %s: i32):
    %0 = arith.addi %s, %l : i32
    gawee.yield %0 : i32
  } finish {
  ^bb0(%l: i32, %s: i32):
    gawee.yield %s : i32
  } : tensor<1x9x5x7xi32>
  func.return %z : tensor<1x9x5x7xi32>
}

// -----

// Lanes along channels are side by side where those are the last axis.
// CHECK-LABEL: func.func @last_axes_of_one_element_are_left_out
// CHECK:         %[[S:.*]] = gawee.kernel parallel [64, 1, 1] ins(%s :
// CHECK-SAME:      affine_map<(d0, d1, d2) -> (d0)>, affine_map<(d0, d1, d2) -> (d0)>]
// CHECK:         } : tensor<64xf32>
// CHECK:         gawee.kernel parallel [1, 64, 5, 7] ins(%x, %[[S]] : tensor<1x64x5x7xf32>, tensor<64xf32>)
// CHECK-SAME:      affine_map<(d0, d1, d2, d3) -> (d1)>
// VECTORS-LABEL: func.func @last_axes_of_one_element_are_left_out
// VECTORS:       } : tensor<64x1x1xf32>
func.func @last_axes_of_one_element_are_left_out(%x: tensor<1x64x5x7xf32>, %s: tensor<64xf32>) -> tensor<1x64x5x7xf32> {
  %scale = gawee.kernel parallel [64, 1, 1] ins(%s : tensor<64xf32>)
    maps [affine_map<(f, a, b) -> (f)>, affine_map<(f, a, b) -> (f, a, b)>] finish {
  ^bb0(%0: f32):
    %1 = arith.addf %0, %0 : f32
    gawee.yield %1 : f32
  } : tensor<64x1x1xf32>
  %y = gawee.kernel parallel [1, 64, 5, 7] ins(%x, %scale : tensor<1x64x5x7xf32>, tensor<64x1x1xf32>)
    maps [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (c, 0, 0)>, affine_map<(n, c, h, w) -> (n, c, h, w)>] finish {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.mulf %0, %1 : f32
    gawee.yield %2 : f32
  } : tensor<1x64x5x7xf32>
  func.return %y : tensor<1x64x5x7xf32>
}
