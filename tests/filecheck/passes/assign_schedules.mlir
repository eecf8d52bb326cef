// RUN: gawee-opt -p 'assign-schedules{target=skylake-avx512}' --split-input-file %s | filecheck %s

// Blocks of channels are the outermost reduction; the vector is along the last axis of the weights.
// CHECK-LABEL: func.func @weights_are_packed_in_the_order_in_which_a_schedule_reads_them
// CHECK:         %[[W:.*]] = gawee.kernel parallel [64, 64, 3, 3] ins(%w :
// CHECK-SAME:      (d1 floordiv 16), d2, d3, (d1 mod 16), {{.*}})>] finish
// CHECK:         } schedule #gawee.schedule<loops = [d0 by
// CHECK:         gawee.kernel parallel [1, 64, 56, 56] reduce [64, 3, 3] ins(%x, %[[W]] :
// CHECK:         } schedule #gawee.schedule<loops = [{{.*}}, d4 by 16, d5, d6, d4], vector = d1 by 16, parallel = {{[0-9]}}>
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

// What is copied would be copied in every call.
// CHECK-LABEL: func.func @weights_that_are_inputs_are_read_as_they_are
// CHECK:         %{{.*}} = gawee.kernel parallel [5, 37] reduce [7] ins(%a, %b :
// CHECK-SAME:      (d2, d1)>
// CHECK:         } schedule #gawee.schedule<loops = [{{.*}}d2], vector = d1 by 16>
func.func @weights_that_are_inputs_are_read_as_they_are(%a: tensor<5x7xf32>, %b: tensor<7x37xf32>) -> tensor<5x37xf32> {
  %y = gawee.kernel parallel [5, 37] reduce [7] ins(%a, %b : tensor<5x7xf32>, tensor<7x37xf32>)
    maps [affine_map<(m, n, k) -> (m, k)>,
    affine_map<(m, n, k) -> (k, n)>,
    affine_map<(m, n, k) -> (m, n)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<5x37xf32>
  func.return %y : tensor<5x37xf32>
}

// -----

// CHECK-LABEL: func.func @weights_that_are_computed_in_the_order_in_which_they_are_read_are_not_copied
// CHECK-NEXT:    %[[W:.*]] = gawee.kernel parallel [7, 32] ins(%b :
// CHECK:         } schedule
// CHECK-NEXT:    gawee.kernel parallel [5, 32] reduce [7] ins(%a, %[[W]] :
// CHECK-SAME:      (d2, d1)>
// CHECK:         } schedule #gawee.schedule<loops = [d0, d2], vector = d1 by 32> : tensor<5x32xf32>
func.func @weights_that_are_computed_in_the_order_in_which_they_are_read_are_not_copied(%a: tensor<5x7xf32>, %b: tensor<7x32xf32> {gawee.parameter = "w"}) -> tensor<5x32xf32> {
  %w = gawee.kernel parallel [7, 32] ins(%b : tensor<7x32xf32>)
    maps [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (k, n)>] finish {
  ^bb0(%e: f32):
    %0 = math.sqrt %e : f32
    gawee.yield %0 : f32
  } : tensor<7x32xf32>
  %y = gawee.kernel parallel [5, 32] reduce [7] ins(%a, %w : tensor<5x7xf32>, tensor<7x32xf32>)
    maps [affine_map<(m, n, k) -> (m, k)>,
    affine_map<(m, n, k) -> (k, n)>,
    affine_map<(m, n, k) -> (m, n)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } schedule #gawee.schedule<loops = [d0, d2], vector = d1 by 32> : tensor<5x32xf32>
  func.return %y : tensor<5x32xf32>
}

// -----

// Weights are packed for it.
// CHECK-LABEL: func.func @a_schedule_that_is_given_is_kept
// CHECK:         %[[W:.*]] = gawee.kernel parallel [37, 7] ins(%b :
// CHECK-SAME:      ((d0 floordiv 8), d1, (d0 mod 8))>
// CHECK:         gawee.kernel parallel [5, 37] reduce [7] ins(%a, %[[W]] :
// CHECK:         } schedule #gawee.schedule<loops = [d1 by 8, d0, d2], vector = d1 by 8> : tensor<5x37xf32>
func.func @a_schedule_that_is_given_is_kept(%a: tensor<5x7xf32>, %b: tensor<7x37xf32> {gawee.parameter = "w"}) -> tensor<5x37xf32> {
  %y = gawee.kernel parallel [5, 37] reduce [7] ins(%a, %b : tensor<5x7xf32>, tensor<7x37xf32>)
    maps [affine_map<(m, n, k) -> (m, k)>,
    affine_map<(m, n, k) -> (k, n)>,
    affine_map<(m, n, k) -> (m, n)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } schedule #gawee.schedule<loops = [d1 by 8, d0, d2], vector = d1 by 8> : tensor<5x37xf32>
  func.return %y : tensor<5x37xf32>
}

// -----

// CHECK-LABEL: func.func @lanes_share_a_sum_along_rows
// CHECK:         } schedule #gawee.schedule<loops = [{{.*}}d1 by 16], vector = d1 by 16> : tensor<3xf32>
func.func @lanes_share_a_sum_along_rows(%x: tensor<3x200xf32>) -> tensor<3xf32> {
  %y = gawee.kernel parallel [3] reduce [200] ins(%x : tensor<3x200xf32>)
    maps [affine_map<(m, k) -> (m, k)>,
    affine_map<(m, k) -> (m)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%e0: f32, %s: f32):
    %0 = arith.addf %s, %e0 : f32
    gawee.yield %0 : f32
  } finish {
  ^bb0(%e0: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// -----

// CHECK-LABEL: func.func @what_takes_long_is_shared_among_threads
// CHECK:         gawee.kernel parallel [700, 900] ins(
// CHECK:         parallel = {{[12]}}> : tensor<700x900xf32>
// CHECK:         gawee.kernel parallel [3, 5] ins(
// CHECK-NOT:     parallel =
// CHECK:         func.return
func.func @what_takes_long_is_shared_among_threads(%x: tensor<700x900xf32>, %z: tensor<3x5xf32>) -> (tensor<700x900xf32>, tensor<3x5xf32>) {
  %y = gawee.kernel parallel [700, 900] ins(%x : tensor<700x900xf32>)
    maps [affine_map<(i, j) -> (i, j)>,
    affine_map<(i, j) -> (i, j)>] finish {
  ^bb0(%e0: f32):
    %0 = math.exp %e0 : f32
    gawee.yield %0 : f32
  } : tensor<700x900xf32>
  %t = gawee.kernel parallel [3, 5] ins(%z : tensor<3x5xf32>)
    maps [affine_map<(i, j) -> (i, j)>,
    affine_map<(i, j) -> (i, j)>] finish {
  ^bb0(%e0: f32):
    %0 = math.exp %e0 : f32
    gawee.yield %0 : f32
  } : tensor<3x5xf32>
  func.return %y, %t : tensor<700x900xf32>, tensor<3x5xf32>
}

// -----

// Many rows at a time would be too many streams.
// CHECK-LABEL: func.func @long_rows_are_reduced_one_by_one
// CHECK:         } schedule #gawee.schedule<loops = [d0, d1 by 128], vector = d1 by 16, parallel = 1> : tensor<70xf32>
func.func @long_rows_are_reduced_one_by_one(%x: tensor<70x9000xf32>) -> tensor<70xf32> {
  %y = gawee.kernel parallel [70] reduce [9000] ins(%x : tensor<70x9000xf32>)
    maps [affine_map<(m, k) -> (m, k)>,
    affine_map<(m, k) -> (m)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%e0: f32, %s: f32):
    %0 = arith.addf %s, %e0 : f32
    gawee.yield %0 : f32
  } finish {
  ^bb0(%e0: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<70xf32>
  func.return %y : tensor<70xf32>
}

// -----

// Two vectors of 16 lanes, one of them half empty, take fewer multiply-adds than three of 8.
// CHECK-LABEL: func.func @a_sum_may_be_in_vectors_of_two_blocks
// CHECK:         gawee.kernel parallel [1, 24, 28, 28] reduce [40]
// CHECK:         schedule #gawee.schedule<{{.*}}vector = d1 by 16
func.func @a_sum_may_be_in_vectors_of_two_blocks(%x: tensor<1x5x28x28x8xf32>, %w: tensor<24x40xf32> {gawee.parameter = "w"}) -> tensor<1x3x28x28x8xf32> {
  %y = gawee.kernel parallel [1, 24, 28, 28] reduce [40] ins(%x, %w : tensor<1x5x28x28x8xf32>, tensor<24x40xf32>)
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
  } : tensor<1x3x28x28x8xf32>
  func.return %y : tensor<1x3x28x28x8xf32>
}

// -----

// No vector is read again by the next row, so that rows are walked as they lie in memory.

// CHECK-LABEL: func.func @channels_by_themselves_are_walked_in_memory_order
// CHECK:       parallel [1, 5, 42, 48] reduce [7, 7]
// CHECK:       schedule #gawee.schedule<loops = [d1, d2 by {{[0-9]+}}, d3 by 16, d4, d5], vector = d3 by 16
func.func @channels_by_themselves_are_walked_in_memory_order(
    %x: tensor<1x5x48x54xf32> {gawee.input = "x"}, %w: tensor<5x7x7xf32> {gawee.input = "w"})
    -> (tensor<1x5x42x48xf32> {gawee.output = "y"}) {
  %y = gawee.kernel parallel [1, 5, 42, 48] reduce [7, 7] ins(%x, %w : tensor<1x5x48x54xf32>, tensor<5x7x7xf32>)
    maps [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, (d2 + d4), (d3 + d5))>,
          affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d4, d5)>,
          affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>]
    initial 0.000000e+00 : f32 accumulate {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    gawee.yield %t : f32
  } finish {
  ^bb0(%a: f32, %b: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<1x5x42x48xf32>
  func.return %y : tensor<1x5x42x48xf32>
}

// -----

// Rows of both operands are side by side along the sum: 25 sums take ten vectors.

// CHECK-LABEL: func.func @rows_by_rows
// CHECK:       schedule #gawee.schedule<loops = [d0 by 5, d1 by 5, d2 by 16], vector = d2 by 16
func.func @rows_by_rows(%a: tensor<40x1024xf32> {gawee.input = "a"}, %b: tensor<35x1024xf32> {gawee.input = "b"})
    -> (tensor<40x35xf32> {gawee.output = "y"}) {
  %y = gawee.kernel parallel [40, 35] reduce [1024] ins(%a, %b : tensor<40x1024xf32>, tensor<35x1024xf32>)
    maps [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
    initial 0.000000e+00 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %p = arith.mulf %l, %r : f32
    %t = arith.addf %s, %p : f32
    gawee.yield %t : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<40x35xf32>
  func.return %y : tensor<40x35xf32>
}

// -----

// Rows of 65 elements end within a cache line: cut into few pieces, they are read with few lines twice.

// CHECK-LABEL: func.func @rows_that_are_summed_are_cut_into_few_pieces
// CHECK:       schedule #gawee.schedule<loops = [{{.*}}d1 by 6{{[45]}}{{.*}}], vector = d1 by 16
func.func @rows_that_are_summed_are_cut_into_few_pieces(%x: tensor<14x2047x65xf32> {gawee.input = "x"}) -> (tensor<14x65xf32> {gawee.output = "y"}) {
  %y = gawee.kernel parallel [14, 65] reduce [2047] ins(%x : tensor<14x2047x65xf32>)
    maps [affine_map<(d0, d1, d2) -> (d0, d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
    initial 0.000000e+00 : f32 accumulate {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    gawee.yield %t : f32
  } finish {
  ^bb0(%a: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<14x65xf32>
  func.return %y : tensor<14x65xf32>
}

// -----

// CHECK-LABEL: func.func @bytes_fill_a_register
// CHECK:       vector = d1 by 64
func.func @bytes_fill_a_register(%x: tensor<5x131xi8> {gawee.input = "x"}) -> (tensor<5x131xi8> {gawee.output = "y"}) {
  %y = gawee.kernel parallel [5, 131] reduce [] ins(%x : tensor<5x131xi8>)
    maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
    finish {
  ^bb0(%a: i8):
    %t = arith.addi %a, %a : i8
    gawee.yield %t : i8
  } : tensor<5x131xi8>
  func.return %y : tensor<5x131xi8>
}

// -----

// CHECK-LABEL: func.func @bytes_that_become_wider_do_not
// CHECK:       vector = d1 by 16
func.func @bytes_that_become_wider_do_not(%x: tensor<5x131xi8> {gawee.input = "x"}) -> (tensor<5x131xi32> {gawee.output = "y"}) {
  %y = gawee.kernel parallel [5, 131] reduce [] ins(%x : tensor<5x131xi8>)
    maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
    finish {
  ^bb0(%a: i8):
    %t = arith.extsi %a : i8 to i32
    gawee.yield %t : i32
  } : tensor<5x131xi32>
  func.return %y : tensor<5x131xi32>
}

// -----

// Two by two positions fill no vector; 37 features are in no blocks.
// CHECK-LABEL: func.func @features_at_few_positions_are_stored_one_by_one
// CHECK:         gawee.kernel parallel [2, 37, 2, 2] reduce [90] ins(%x,
// CHECK:         } schedule #gawee.schedule<loops = [{{.*}}], vector = d1 by 16{{.*}}> : tensor<2x37x2x2xf32>
func.func @features_at_few_positions_are_stored_one_by_one(%x: tensor<2x90x2x2xf32>, %w: tensor<37x90xf32> {gawee.parameter = "w"}) -> tensor<2x37x2x2xf32> {
  %y = gawee.kernel parallel [2, 37, 2, 2] reduce [90] ins(%x, %w : tensor<2x90x2x2xf32>, tensor<37x90xf32>)
    maps [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (f, c)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<2x37x2x2xf32>
  func.return %y : tensor<2x37x2x2xf32>
}

// -----

// CHECK-LABEL: func.func @a_short_reduction_is_not_worth_that
// CHECK:         gawee.kernel parallel [2, 37, 2, 2] reduce [9] ins(%x,
// CHECK:         } schedule #gawee.schedule<loops = [d1, d0, d2, d3, d4]> : tensor<2x37x2x2xf32>
func.func @a_short_reduction_is_not_worth_that(%x: tensor<2x9x2x2xf32>, %w: tensor<37x9xf32> {gawee.parameter = "w"}) -> tensor<2x37x2x2xf32> {
  %y = gawee.kernel parallel [2, 37, 2, 2] reduce [9] ins(%x, %w : tensor<2x9x2x2xf32>, tensor<37x9xf32>)
    maps [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (f, c)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<2x37x2x2xf32>
  func.return %y : tensor<2x37x2x2xf32>
}

// -----

// Four vectors of weights would be 39 KB, two are 20 of 32.
// CHECK-LABEL: func.func @tiles_whose_weights_the_first_cache_holds_are_faster
// CHECK:         gawee.kernel parallel [120, 192] reduce [152]
// CHECK:         } schedule #gawee.schedule<loops = [d1 by 32, d0 by
func.func @tiles_whose_weights_the_first_cache_holds_are_faster(%x: tensor<120x152xf32>, %w: tensor<192x152xf32> {gawee.parameter = "w"}) -> tensor<120x192xf32> {
  %y = gawee.kernel parallel [120, 192] reduce [152] ins(%x, %w : tensor<120x152xf32>, tensor<192x152xf32>)
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
  } : tensor<120x192xf32>
  func.return %y : tensor<120x192xf32>
}

// -----

// The first cache holds eight such lines, and weights take places too.
// CHECK-LABEL: func.func @few_rows_that_lie_whole_pages_apart_are_read_at_a_time
// CHECK:         gawee.kernel parallel [104, 192] reduce [1024]
// CHECK:         } schedule #gawee.schedule<loops = [d1 by {{[0-9]+}}, d0 by {{[2-7]}}, d2]
func.func @few_rows_that_lie_whole_pages_apart_are_read_at_a_time(%x: tensor<104x1024xf32>, %w: tensor<192x1024xf32> {gawee.parameter = "w"}) -> tensor<104x192xf32> {
  %y = gawee.kernel parallel [104, 192] reduce [1024] ins(%x, %w : tensor<104x1024xf32>, tensor<192x1024xf32>)
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
  } : tensor<104x192xf32>
  func.return %y : tensor<104x192xf32>
}

// A function of several blocks has no known parameters.
// CHECK-LABEL: func.func @blocks
// CHECK:         gawee.kernel
// CHECK:         } schedule
func.func @blocks(%0: tensor<1x4x58x58x16xf32>, %1: tensor<64x64x3x3xf32>) -> tensor<1x4x56x56x16xf32> {
  cf.br ^next
^next:
  %y = gawee.kernel parallel [1, 64, 56, 56] reduce [64, 3, 3] ins(%0, %1 : tensor<1x4x58x58x16xf32>, tensor<64x64x3x3xf32>) maps [affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, (d4 floordiv 16), (d2 + d5), (d3 + d6), (d4 mod 16))>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, (d1 floordiv 16), d2, d3, (d1 mod 16))>] initial 0.000000e+00 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %2 = arith.mulf %l, %r : f32
    %3 = arith.addf %s, %2 : f32
    gawee.yield %3 : f32
  } finish {
  ^bb0(%l_1: f32, %r_1: f32, %s_1: f32):
    gawee.yield %s_1 : f32
  } : tensor<1x4x56x56x16xf32>
  func.return %y : tensor<1x4x56x56x16xf32>
}

// -----

// Each half of x that is loaded is widened for as many vectors of weights as there are beside it:
// many rows and few vectors would convert more than they multiply.
// CHECK-LABEL: func.func @halves_that_are_widened_are_multiplied_with_several_vectors
// CHECK:         gawee.kernel parallel [60, 192] reduce [320]
// CHECK:         schedule #gawee.schedule<loops = [d1 by {{48|64|96}}, d0 by {{[4-7]}}, d2], vector = d1 by 16
func.func @halves_that_are_widened_are_multiplied_with_several_vectors(%x: tensor<60x320xf16>, %w: tensor<192x320xf16> {gawee.parameter = "w"}) -> tensor<60x192xf16> {
  %y = gawee.kernel parallel [60, 192] reduce [320] ins(%x, %w : tensor<60x320xf16>, tensor<192x320xf16>)
    maps [affine_map<(m, n, k) -> (m, k)>,
    affine_map<(m, n, k) -> (n, k)>,
    affine_map<(m, n, k) -> (m, n)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f16, %r: f16, %s: f32):
    %0 = arith.extf %l : f16 to f32
    %1 = arith.extf %r : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %s, %2 : f32
    gawee.yield %3 : f32
  } finish {
  ^bb0(%l: f16, %r: f16, %s: f32):
    %0 = arith.truncf %s : f32 to f16
    gawee.yield %0 : f16
  } : tensor<60x192xf16>
  func.return %y : tensor<60x192xf16>
}
