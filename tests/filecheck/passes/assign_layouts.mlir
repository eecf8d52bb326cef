// RUN: gawee-opt -p 'assign-layouts{target=haswell}' --split-input-file %s | filecheck %s

// The next kernel reads blocks; what is returned is stored plain again.
// CHECK-LABEL: func.func @channels_that_a_convolution_makes_are_stored_in_blocks
// CHECK:         %[[Y:.*]] = gawee.kernel parallel [1, 16, 6, 5] reduce [3, 3, 3] ins(%x, %w :
// CHECK-SAME:      (d0, (d1 floordiv 8), d2, d3, (d1 mod 8))>
// CHECK:         } : tensor<1x2x6x5x8xf32>
// CHECK:         gawee.kernel parallel [1, 3, 6, 5] reduce [16, 1, 1] ins(%[[Y]], %v :
// CHECK-SAME:      (d0, (d4 floordiv 8), (d2 + d5), (d3 + d6), (d4 mod 8))>
// CHECK:         } : tensor<1x3x6x5xf32>
func.func @channels_that_a_convolution_makes_are_stored_in_blocks(%x: tensor<1x3x8x7xf32>, %w: tensor<16x3x3x3xf32>, %v: tensor<3x16x1x1xf32>) -> tensor<1x3x6x5xf32> {
  %y = gawee.kernel parallel [1, 16, 6, 5] reduce [3, 3, 3] ins(%x, %w : tensor<1x3x8x7xf32>, tensor<16x3x3x3xf32>)
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
  } : tensor<1x16x6x5xf32>
  %z = gawee.kernel parallel [1, 3, 6, 5] reduce [16, 1, 1] ins(%y, %v : tensor<1x16x6x5xf32>, tensor<3x16x1x1xf32>)
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
  } : tensor<1x3x6x5xf32>
  func.return %z : tensor<1x3x6x5xf32>
}

// -----

// CHECK-LABEL: func.func @an_op_that_knows_no_layouts_reads_a_plain_copy
// CHECK:         %[[Y:.*]] = gawee.kernel
// CHECK:         } : tensor<1x2x6x5x8xf32>
// CHECK-NEXT:    %[[C:.*]] = gawee.kernel parallel [1, 16, 6, 5] ins(%[[Y]] :
// CHECK-SAME:      (d0, (d1 floordiv 8), d2, d3, (d1 mod 8))>
// CHECK:         } : tensor<1x16x6x5xf32>
// CHECK-NEXT:    func.return %[[C]]
func.func @an_op_that_knows_no_layouts_reads_a_plain_copy(%x: tensor<1x3x8x7xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<1x16x6x5xf32> {
  %y = gawee.kernel parallel [1, 16, 6, 5] reduce [3, 3, 3] ins(%x, %w : tensor<1x3x8x7xf32>, tensor<16x3x3x3xf32>)
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
  } : tensor<1x16x6x5xf32>
  func.return %y : tensor<1x16x6x5xf32>
}

// -----

// CHECK-LABEL: func.func @a_body_that_reads_whole_tensors_reads_a_plain_copy
// CHECK:         %[[C:.*]] = gawee.kernel parallel [1, 16, 6, 5] ins(
// CHECK:         } : tensor<1x16x6x5xf32>
// CHECK:         linalg.generic
// CHECK:         tensor.extract %[[C]][
func.func @a_body_that_reads_whole_tensors_reads_a_plain_copy(%x: tensor<1x3x8x7xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<4xf32> {
  %y = gawee.kernel parallel [1, 16, 6, 5] reduce [3, 3, 3] ins(%x, %w : tensor<1x3x8x7xf32>, tensor<16x3x3x3xf32>)
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
  } : tensor<1x16x6x5xf32>
  %e = tensor.empty() : tensor<4xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %g = arith.constant 0 : index
    %v = tensor.extract %y[%g, %i, %g, %g] : tensor<1x16x6x5xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// -----

// Padding of the argument stays a copy of its own.
// CHECK-LABEL: func.func @padding_becomes_a_halo_that_the_producer_writes
// CHECK:         %[[Y:.*]] = gawee.kernel parallel [1, 16, 6, 5] reduce
// CHECK-SAME:      (d0, (d1 floordiv 8), (d2 + 1), (d3 + 1), (d1 mod 8))>
// CHECK:         } : tensor<1x2x8x7x8xf32>
// CHECK-NEXT:    %{{.*}} = gawee.kernel parallel [1, 3, 6, 5] reduce [16, 3, 3] ins(%[[Y]], %v :
// CHECK-SAME:      (d0, (d4 floordiv 8), (d2 + d5), (d3 + d6), (d4 mod 8))>
func.func @padding_becomes_a_halo_that_the_producer_writes(%x: tensor<1x3x8x7xf32>, %w: tensor<16x3x3x3xf32>, %v: tensor<3x16x3x3xf32>) -> tensor<1x3x6x5xf32> {
  %y = gawee.kernel parallel [1, 16, 6, 5] reduce [3, 3, 3] ins(%x, %w : tensor<1x3x8x7xf32>, tensor<16x3x3x3xf32>)
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
  } : tensor<1x16x6x5xf32>
  %p = gawee.kernel parallel [1, 16, 6, 5] ins(%y : tensor<1x16x6x5xf32>)
    maps [affine_map<(n, c, h, w) -> (n, c, h, w)>,
    affine_map<(n, c, h, w) -> (n, c, h + 1, w + 1)>] finish {
  ^bb0(%e0: f32):
    gawee.yield %e0 : f32
  } : tensor<1x16x8x7xf32>
  %z = gawee.kernel parallel [1, 3, 6, 5] reduce [16, 3, 3] ins(%p, %v : tensor<1x16x8x7xf32>, tensor<3x16x3x3xf32>)
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
  } : tensor<1x3x6x5xf32>
  func.return %z : tensor<1x3x6x5xf32>
}

// -----

// The narrower one is read from further inside.
// CHECK-LABEL: func.func @two_paddings_share_the_wider_halo
// CHECK:         } : tensor<1x2x8x7x8xf32>
// CHECK:         gawee.kernel parallel [1, 3, 6, 5] reduce [16, 3, 3]
// CHECK-SAME:      (d0, (d4 floordiv 8), (d2 + d5), (d3 + d6), (d4 mod 8))>
// CHECK:         gawee.kernel parallel [1, 3, 4, 4] reduce [16, 3, 3]
// CHECK-SAME:      (d0, (d4 floordiv 8), ((d2 + d5) + 1), (d3 + d6), (d4 mod 8))>
func.func @two_paddings_share_the_wider_halo(%x: tensor<1x3x8x7xf32>, %w: tensor<16x3x3x3xf32>, %v: tensor<3x16x3x3xf32>) -> (tensor<1x3x6x5xf32>, tensor<1x3x4x4xf32>) {
  %y = gawee.kernel parallel [1, 16, 6, 5] reduce [3, 3, 3] ins(%x, %w : tensor<1x3x8x7xf32>, tensor<16x3x3x3xf32>)
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
  } : tensor<1x16x6x5xf32>
  %p = gawee.kernel parallel [1, 16, 6, 5] ins(%y : tensor<1x16x6x5xf32>)
    maps [affine_map<(n, c, h, w) -> (n, c, h, w)>,
    affine_map<(n, c, h, w) -> (n, c, h + 1, w + 1)>] finish {
  ^bb0(%e0: f32):
    gawee.yield %e0 : f32
  } : tensor<1x16x8x7xf32>
  %q = gawee.kernel parallel [1, 16, 6, 5] ins(%y : tensor<1x16x6x5xf32>)
    maps [affine_map<(n, c, h, w) -> (n, c, h, w)>,
    affine_map<(n, c, h, w) -> (n, c, h + 0, w + 1)>] finish {
  ^bb0(%e0: f32):
    gawee.yield %e0 : f32
  } : tensor<1x16x6x6xf32>
  %z = gawee.kernel parallel [1, 3, 6, 5] reduce [16, 3, 3] ins(%p, %v : tensor<1x16x8x7xf32>, tensor<3x16x3x3xf32>)
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
  } : tensor<1x3x6x5xf32>
  %t = gawee.kernel parallel [1, 3, 4, 4] reduce [16, 3, 3] ins(%q, %v : tensor<1x16x6x6xf32>, tensor<3x16x3x3xf32>)
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
  } : tensor<1x3x4x4xf32>
  func.return %z, %t : tensor<1x3x6x5xf32>, tensor<1x3x4x4xf32>
}

// -----

// A kernel reads it from the halo all the same.
// CHECK-LABEL: func.func @padding_that_is_returned_stays
// CHECK:         %[[Y:.*]] = gawee.kernel parallel [1, 16, 6, 5] reduce
// CHECK:         } : tensor<1x2x8x7x8xf32>
// CHECK:         %[[P:.*]] = gawee.kernel parallel [1, 16, 6, 5] ins(%[[Y]] :
// CHECK:         } : tensor<1x16x8x7xf32>
// CHECK:         gawee.kernel parallel [1, 3, 6, 5] reduce [16, 3, 3] ins(%[[Y]], %v :
// CHECK:         func.return %[[P]],
func.func @padding_that_is_returned_stays(%x: tensor<1x3x8x7xf32>, %w: tensor<16x3x3x3xf32>, %v: tensor<3x16x3x3xf32>) -> (tensor<1x16x8x7xf32>, tensor<1x3x6x5xf32>) {
  %y = gawee.kernel parallel [1, 16, 6, 5] reduce [3, 3, 3] ins(%x, %w : tensor<1x3x8x7xf32>, tensor<16x3x3x3xf32>)
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
  } : tensor<1x16x6x5xf32>
  %p = gawee.kernel parallel [1, 16, 6, 5] ins(%y : tensor<1x16x6x5xf32>)
    maps [affine_map<(n, c, h, w) -> (n, c, h, w)>,
    affine_map<(n, c, h, w) -> (n, c, h + 1, w + 1)>] finish {
  ^bb0(%e0: f32):
    gawee.yield %e0 : f32
  } : tensor<1x16x8x7xf32>
  %z = gawee.kernel parallel [1, 3, 6, 5] reduce [16, 3, 3] ins(%p, %v : tensor<1x16x8x7xf32>, tensor<3x16x3x3xf32>)
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
  } : tensor<1x3x6x5xf32>
  func.return %p, %z : tensor<1x16x8x7xf32>, tensor<1x3x6x5xf32>
}

// -----

// CHECK-LABEL: func.func @a_maximum_of_what_is_never_negative_is_padded_with_zeros
// CHECK-NOT:     outside
// CHECK:         } : tensor<1x2x8x7x8xf32>
// CHECK-NEXT:    %{{.*}} = gawee.kernel parallel [1, 16, 3, 3] reduce [3, 3] ins(
// CHECK-SAME:      (d0, (d1 floordiv 8), ((d2 * 2) + d4), ((d3 * 2) + d5), (d1 mod 8))>
func.func @a_maximum_of_what_is_never_negative_is_padded_with_zeros(%x: tensor<1x3x8x7xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<1x16x3x3xf32> {
  %y = gawee.kernel parallel [1, 16, 6, 5] reduce [3, 3, 3] ins(%x, %w : tensor<1x3x8x7xf32>, tensor<16x3x3x3xf32>)
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
    %zero = arith.constant 0.0 : f32
    %m = arith.maximumf %s, %zero : f32
    gawee.yield %m : f32
  } : tensor<1x16x6x5xf32>
  %p = gawee.kernel parallel [1, 16, 6, 5] ins(%y : tensor<1x16x6x5xf32>)
    maps [affine_map<(n, c, h, w) -> (n, c, h, w)>,
    affine_map<(n, c, h, w) -> (n, c, h + 1, w + 1)>] outside 0xff800000 : f32 finish {
  ^bb0(%e0: f32):
    gawee.yield %e0 : f32
  } : tensor<1x16x8x7xf32>
  %z = gawee.kernel parallel [1, 16, 3, 3] reduce [3, 3] ins(%p : tensor<1x16x8x7xf32>)
    maps [affine_map<(n, c, h, w, i, j) -> (n, c, h * 2 + i, w * 2 + j)>,
    affine_map<(n, c, h, w, i, j) -> (n, c, h, w)>]
    initial 0xff800000 : f32 accumulate {
  ^bb0(%e0: f32, %s: f32):
    %0 = arith.maximumf %s, %e0 : f32
    gawee.yield %0 : f32
  } finish {
  ^bb0(%e0: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<1x16x3x3xf32>
  func.return %z : tensor<1x16x3x3xf32>
}

// -----

// CHECK-LABEL: func.func @a_maximum_of_what_may_be_negative_keeps_its_padding
// CHECK:         } : tensor<1x2x6x5x8xf32>
// CHECK:         gawee.kernel parallel [1, 16, 6, 5] ins(
// CHECK-SAME:      (d0, (d1 floordiv 8), d2, d3, (d1 mod 8))>
// CHECK-SAME:      outside 0xff800000 : f32
func.func @a_maximum_of_what_may_be_negative_keeps_its_padding(%x: tensor<1x3x8x7xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<1x16x3x3xf32> {
  %y = gawee.kernel parallel [1, 16, 6, 5] reduce [3, 3, 3] ins(%x, %w : tensor<1x3x8x7xf32>, tensor<16x3x3x3xf32>)
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
  } : tensor<1x16x6x5xf32>
  %p = gawee.kernel parallel [1, 16, 6, 5] ins(%y : tensor<1x16x6x5xf32>)
    maps [affine_map<(n, c, h, w) -> (n, c, h, w)>,
    affine_map<(n, c, h, w) -> (n, c, h + 1, w + 1)>] outside 0xff800000 : f32 finish {
  ^bb0(%e0: f32):
    gawee.yield %e0 : f32
  } : tensor<1x16x8x7xf32>
  %z = gawee.kernel parallel [1, 16, 3, 3] reduce [3, 3] ins(%p : tensor<1x16x8x7xf32>)
    maps [affine_map<(n, c, h, w, i, j) -> (n, c, h * 2 + i, w * 2 + j)>,
    affine_map<(n, c, h, w, i, j) -> (n, c, h, w)>]
    initial 0xff800000 : f32 accumulate {
  ^bb0(%e0: f32, %s: f32):
    %0 = arith.maximumf %s, %e0 : f32
    gawee.yield %0 : f32
  } finish {
  ^bb0(%e0: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<1x16x3x3xf32>
  func.return %z : tensor<1x16x3x3xf32>
}

// -----

// The first row of windows reaches no element: its maximum is minus infinity.
// CHECK-LABEL: func.func @a_maximum_of_padding_alone_keeps_it
// CHECK:         } : tensor<1x2x6x5x8xf32>
// CHECK:         outside 0xff800000 : f32
func.func @a_maximum_of_padding_alone_keeps_it(%x: tensor<1x3x8x7xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<1x16x4x3xf32> {
  %y = gawee.kernel parallel [1, 16, 6, 5] reduce [3, 3, 3] ins(%x, %w : tensor<1x3x8x7xf32>, tensor<16x3x3x3xf32>)
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
    %zero = arith.constant 0.0 : f32
    %m = arith.maximumf %s, %zero : f32
    gawee.yield %m : f32
  } : tensor<1x16x6x5xf32>
  %p = gawee.kernel parallel [1, 16, 6, 5] ins(%y : tensor<1x16x6x5xf32>)
    maps [affine_map<(n, c, h, w) -> (n, c, h, w)>,
    affine_map<(n, c, h, w) -> (n, c, h + 3, w + 1)>] outside 0xff800000 : f32 finish {
  ^bb0(%e0: f32):
    gawee.yield %e0 : f32
  } : tensor<1x16x10x7xf32>
  %z = gawee.kernel parallel [1, 16, 4, 3] reduce [3, 3] ins(%p : tensor<1x16x10x7xf32>)
    maps [affine_map<(n, c, h, w, i, j) -> (n, c, h * 2 + i, w * 2 + j)>,
    affine_map<(n, c, h, w, i, j) -> (n, c, h, w)>]
    initial 0xff800000 : f32 accumulate {
  ^bb0(%e0: f32, %s: f32):
    %0 = arith.maximumf %s, %e0 : f32
    gawee.yield %0 : f32
  } finish {
  ^bb0(%e0: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<1x16x4x3xf32>
  func.return %z : tensor<1x16x4x3xf32>
}

// -----

// What pads with -3 would write them into the halo, too.
// CHECK-LABEL: func.func @there_is_no_halo_around_what_writes_other_numbers
// CHECK:         outside -3.000000e+00 : f32
// CHECK:         } : tensor<1x2x8x7x8xf32>
// CHECK:         gawee.kernel parallel [1, 16, 8, 7] ins(
// CHECK:         } : tensor<1x16x10x9xf32>
func.func @there_is_no_halo_around_what_writes_other_numbers(%x: tensor<1x3x8x7xf32>, %w: tensor<16x3x3x3xf32>, %v: tensor<3x16x3x3xf32>) -> tensor<1x3x8x7xf32> {
  %y = gawee.kernel parallel [1, 16, 6, 5] reduce [3, 3, 3] ins(%x, %w : tensor<1x3x8x7xf32>, tensor<16x3x3x3xf32>)
    maps [affine_map<(n, f, h, w, c, i, j) -> (n, c, h + i, w + j)>,
    affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>,
    affine_map<(n, f, h, w, c, i, j) -> (n, f, h + 1, w + 1)>]
    initial 0.0 : f32 outside -3.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<1x16x8x7xf32>
  %p = gawee.kernel parallel [1, 16, 8, 7] ins(%y : tensor<1x16x8x7xf32>)
    maps [affine_map<(n, c, h, w) -> (n, c, h, w)>,
    affine_map<(n, c, h, w) -> (n, c, h + 1, w + 1)>] finish {
  ^bb0(%e0: f32):
    gawee.yield %e0 : f32
  } : tensor<1x16x10x9xf32>
  %z = gawee.kernel parallel [1, 3, 8, 7] reduce [16, 3, 3] ins(%p, %v : tensor<1x16x10x9xf32>, tensor<3x16x3x3xf32>)
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
  } : tensor<1x3x8x7xf32>
  func.return %z : tensor<1x3x8x7xf32>
}

// -----

// Blocks are as large as the start of every part allows.
// CHECK-LABEL: func.func @what_is_concatenated_is_stored_like_the_whole
// CHECK:         %[[A:.*]] = gawee.kernel parallel [1, 16, 6, 5]
// CHECK:         %[[B:.*]] = gawee.kernel parallel [1, 8, 6, 5]
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<1x3x6x5x8xf32>
// CHECK-NEXT:    %[[I:.*]] = tensor.insert_slice %[[A]] into %[[E]][0, 0, 0, 0, 0] [1, 2, 6, 5, 8]
// CHECK-NEXT:    %[[W:.*]] = tensor.insert_slice %[[B]] into %[[I]][0, 2, 0, 0, 0] [1, 1, 6, 5, 8]
// CHECK:         gawee.kernel parallel [1, 3, 6, 5] reduce [24, 1, 1] ins(%[[W]], %v :
func.func @what_is_concatenated_is_stored_like_the_whole(%x: tensor<1x3x8x7xf32>, %w: tensor<16x3x3x3xf32>, %u: tensor<8x3x3x3xf32>, %v: tensor<3x24x1x1xf32>) -> tensor<1x3x6x5xf32> {
  %y = gawee.kernel parallel [1, 16, 6, 5] reduce [3, 3, 3] ins(%x, %w : tensor<1x3x8x7xf32>, tensor<16x3x3x3xf32>)
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
  } : tensor<1x16x6x5xf32>
  %k = gawee.kernel parallel [1, 8, 6, 5] reduce [3, 3, 3] ins(%x, %u : tensor<1x3x8x7xf32>, tensor<8x3x3x3xf32>)
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
  } : tensor<1x8x6x5xf32>
  %e = tensor.empty() : tensor<1x24x6x5xf32>
  %i = tensor.insert_slice %y into %e[0, 0, 0, 0] [1, 16, 6, 5] [1, 1, 1, 1] : tensor<1x16x6x5xf32> into tensor<1x24x6x5xf32>
  %t = tensor.insert_slice %k into %i[0, 16, 0, 0] [1, 8, 6, 5] [1, 1, 1, 1] : tensor<1x8x6x5xf32> into tensor<1x24x6x5xf32>
  %z = gawee.kernel parallel [1, 3, 6, 5] reduce [24, 1, 1] ins(%t, %v : tensor<1x24x6x5xf32>, tensor<3x24x1x1xf32>)
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
  } : tensor<1x3x6x5xf32>
  func.return %z : tensor<1x3x6x5xf32>
}

// -----

// CHECK-LABEL: func.func @a_part_that_starts_inside_a_block_is_inserted_plain
// CHECK:         %[[A:.*]] = gawee.kernel parallel [1, 16, 6, 5] ins(
// CHECK:         } : tensor<1x16x6x5xf32>
// CHECK:         tensor.insert_slice %[[A]] into %{{.*}}[0, 3, 0, 0] [1, 16, 6, 5]
func.func @a_part_that_starts_inside_a_block_is_inserted_plain(%x: tensor<1x3x8x7xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<1x24x6x5xf32> {
  %y = gawee.kernel parallel [1, 16, 6, 5] reduce [3, 3, 3] ins(%x, %w : tensor<1x3x8x7xf32>, tensor<16x3x3x3xf32>)
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
  } : tensor<1x16x6x5xf32>
  %e = tensor.empty() : tensor<1x24x6x5xf32>
  %i = tensor.insert_slice %y into %e[0, 3, 0, 0] [1, 16, 6, 5] [1, 1, 1, 1] : tensor<1x16x6x5xf32> into tensor<1x24x6x5xf32>
  func.return %i : tensor<1x24x6x5xf32>
}

// -----

// CHECK-LABEL: func.func @channels_that_no_vector_divides_stay_plain
// CHECK-NOT:     floordiv
// CHECK:         func.return
func.func @channels_that_no_vector_divides_stay_plain(%x: tensor<1x3x8x7xf32>, %w: tensor<12x3x3x3xf32>) -> tensor<1x12x6x5xf32> {
  %y = gawee.kernel parallel [1, 12, 6, 5] reduce [3, 3, 3] ins(%x, %w : tensor<1x3x8x7xf32>, tensor<12x3x3x3xf32>)
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
  } : tensor<1x12x6x5xf32>
  func.return %y : tensor<1x12x6x5xf32>
}

// -----

// Channel f of group g is in block 2 * g + f floordiv 8.
// CHECK-LABEL: func.func @groups_of_whole_blocks_are_stored_in_blocks
// CHECK:         gawee.kernel parallel [2, 3, 16, 6, 5] reduce [4, 3, 3] ins(%x, %w :
// CHECK-SAME:      (d0, ((d1 * 2) + (d2 floordiv 8)), d3, d4, (d2 mod 8))>
// CHECK:         } : tensor<2x6x6x5x8xf32>
func.func @groups_of_whole_blocks_are_stored_in_blocks(%x: tensor<2x12x8x7xf32>, %w: tensor<3x16x4x3x3xf32>) -> tensor<2x48x6x5xf32> {
  %y = gawee.kernel parallel [2, 3, 16, 6, 5] reduce [4, 3, 3] ins(%x, %w : tensor<2x12x8x7xf32>, tensor<3x16x4x3x3xf32>)
    maps [affine_map<(n, g, f, h, w, c, i, j) -> (n, g * 4 + c, h + i, w + j)>,
    affine_map<(n, g, f, h, w, c, i, j) -> (g, f, c, i, j)>,
    affine_map<(n, g, f, h, w, c, i, j) -> (n, g * 16 + f, h, w)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<2x48x6x5xf32>
  func.return %y : tensor<2x48x6x5xf32>
}

// -----

// Blocks of 8 would have channels of two groups, which no vector computes.
// CHECK-LABEL: func.func @groups_that_are_no_whole_blocks_are_stored_plain
// CHECK:         gawee.kernel parallel [2, 4, 12, 6, 5] reduce [4, 3, 3] ins(%x, %w :
// CHECK:         } : tensor<2x48x6x5xf32>
func.func @groups_that_are_no_whole_blocks_are_stored_plain(%x: tensor<2x16x8x7xf32>, %w: tensor<4x12x4x3x3xf32>) -> tensor<2x48x6x5xf32> {
  %y = gawee.kernel parallel [2, 4, 12, 6, 5] reduce [4, 3, 3] ins(%x, %w : tensor<2x16x8x7xf32>, tensor<4x12x4x3x3xf32>)
    maps [affine_map<(n, g, f, h, w, c, i, j) -> (n, g * 4 + c, h + i, w + j)>,
    affine_map<(n, g, f, h, w, c, i, j) -> (g, f, c, i, j)>,
    affine_map<(n, g, f, h, w, c, i, j) -> (n, g * 12 + f, h, w)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<2x48x6x5xf32>
  func.return %y : tensor<2x48x6x5xf32>
}

// -----

// Words of four channels are in blocks of a fourth of those of bytes: memory is the same.
// CHECK-LABEL: func.func @words_of_bytes_have_their_layout
// CHECK:         } : tensor<1x2x3x5x8xi8>
// CHECK:         (d0, (d1 floordiv 2), d2, d3, (d1 mod 2))>] finish
// CHECK:         } : tensor<1x2x3x5x2xi32>
func.func @words_of_bytes_have_their_layout(%x: tensor<1x3x3x5xi8>, %w: tensor<16x3xi8>) -> tensor<1x1x3x5xi32> {
  %y = gawee.kernel parallel [1, 16, 3, 5] reduce [3] ins(%x, %w : tensor<1x3x3x5xi8>, tensor<16x3xi8>)
    maps [affine_map<(n, f, h, w, c) -> (n, c, h, w)>, affine_map<(n, f, h, w, c) -> (f, c)>, affine_map<(n, f, h, w, c) -> (n, f, h, w)>]
    initial 0 : i8 accumulate {
  ^bb0(%l: i8, %r: i8, %s: i8):
    %0 = arith.muli %l, %r : i8
    %1 = arith.addi %s, %0 : i8
    gawee.yield %1 : i8
  } finish {
  ^bb0(%l: i8, %r: i8, %s: i8):
    gawee.yield %s : i8
  } : tensor<1x16x3x5xi8>
  %z = gawee.kernel parallel [1, 4, 3, 5] ins(%y, %y, %y, %y : tensor<1x16x3x5xi8>, tensor<1x16x3x5xi8>, tensor<1x16x3x5xi8>, tensor<1x16x3x5xi8>)
    maps [affine_map<(n, c, h, w) -> (n, c * 4, h, w)>, affine_map<(n, c, h, w) -> (n, c * 4 + 1, h, w)>, affine_map<(n, c, h, w) -> (n, c * 4 + 2, h, w)>,
    affine_map<(n, c, h, w) -> (n, c * 4 + 3, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>] finish {
  ^bb0(%b0: i8, %b1: i8, %b2: i8, %b3: i8):
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
  } : tensor<1x4x3x5xi32>
  %t = gawee.kernel parallel [1, 1, 3, 5] reduce [4] ins(%z : tensor<1x4x3x5xi32>)
    maps [affine_map<(n, f, h, w, c) -> (n, c, h, w)>, affine_map<(n, f, h, w, c) -> (n, f, h, w)>]
    initial 0 : i32 accumulate {
  ^bb0(%l: i32, %s: i32):
    %1 = arith.addi %s, %l : i32
    gawee.yield %1 : i32
  } finish {
  ^bb0(%l: i32, %s: i32):
    gawee.yield %s : i32
  } : tensor<1x1x3x5xi32>
  func.return %t : tensor<1x1x3x5xi32>
}
