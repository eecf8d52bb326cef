// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// WinogradOp C1: a tile of three.
// CHECK: error: 'gawee.winograd' op unsupported tile 3; supported: 2, 4
func.func @c1_a_tile_of_three(%x: tensor<2x8x10x10xf32>, %u: tensor<36x1x8x16xf32>, %b: tensor<16xf32>) {
  %y = "gawee.winograd"(%x, %b, %u) <{tile = 3 : i64, bounds = array<i64: 2, 16, 7, 5, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (f)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 4 : i64, rows = 4 : i64, lanes = 8 : i64, operandSegmentSizes = array<i32: 2, 1, 0, 0>}> ({
  ^bb0(%bias: f32, %sum: f32):
    %0 = arith.addf %sum, %bias : f32
    gawee.yield %0 : f32
  }) : (tensor<2x8x10x10xf32>, tensor<16xf32>, tensor<36x1x8x16xf32>) -> tensor<2x16x7x5xf32>
  func.return
}

// -----

// WinogradOp C1: bounds without channels.
// CHECK: error: 'gawee.winograd' op expected bounds n, f, oh, ow, c, got [2, 16, 7, 5]
func.func @c1_bounds_without_channels(%x: tensor<2x8x10x10xf32>, %u: tensor<36x1x8x16xf32>, %b: tensor<16xf32>) {
  %y = "gawee.winograd"(%x, %b, %u) <{tile = 4 : i64, bounds = array<i64: 2, 16, 7, 5>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (f)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 4 : i64, rows = 4 : i64, lanes = 8 : i64, operandSegmentSizes = array<i32: 2, 1, 0, 0>}> ({
  ^bb0(%bias: f32, %sum: f32):
    %0 = arith.addf %sum, %bias : f32
    gawee.yield %0 : f32
  }) : (tensor<2x8x10x10xf32>, tensor<16xf32>, tensor<36x1x8x16xf32>) -> tensor<2x16x7x5xf32>
  func.return
}

// -----

// WinogradOp C2: weights of a smaller tile.
// CHECK: error: 'gawee.winograd' op expected weights of shape (36, 1, 8, 16), got (16, 1, 8, 16)
func.func @c2_weights_of_a_smaller_tile(%x: tensor<2x8x10x10xf32>, %u: tensor<16x1x8x16xf32>, %b: tensor<16xf32>) {
  %y = "gawee.winograd"(%x, %b, %u) <{tile = 4 : i64, bounds = array<i64: 2, 16, 7, 5, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (f)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 4 : i64, rows = 4 : i64, lanes = 8 : i64, operandSegmentSizes = array<i32: 2, 1, 0, 0>}> ({
  ^bb0(%bias: f32, %sum: f32):
    %0 = arith.addf %sum, %bias : f32
    gawee.yield %0 : f32
  }) : (tensor<2x8x10x10xf32>, tensor<16xf32>, tensor<16x1x8x16xf32>) -> tensor<2x16x7x5xf32>
  func.return
}

// -----

// WinogradOp C2: weights in the other order.
// CHECK: error: 'gawee.winograd' op expected weights of shape (1, 36, 8, 16), got (36, 1, 8, 16)
func.func @c2_weights_in_the_other_order(%x: tensor<2x8x10x10xf32>, %u: tensor<36x1x8x16xf32>, %b: tensor<16xf32>) {
  %y = "gawee.winograd"(%x, %b, %u) <{tile = 4 : i64, bounds = array<i64: 2, 16, 7, 5, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (f)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = true, block = 4 : i64, rows = 4 : i64, lanes = 8 : i64, operandSegmentSizes = array<i32: 2, 1, 0, 0>}> ({
  ^bb0(%bias: f32, %sum: f32):
    %0 = arith.addf %sum, %bias : f32
    gawee.yield %0 : f32
  }) : (tensor<2x8x10x10xf32>, tensor<16xf32>, tensor<36x1x8x16xf32>) -> tensor<2x16x7x5xf32>
  func.return
}

// -----

// WinogradOp C3: a map is missing.
// CHECK: error: 'gawee.winograd' op expected 3 maps, got 2
func.func @c3_a_map_is_missing(%x: tensor<2x8x10x10xf32>, %u: tensor<36x1x8x16xf32>, %b: tensor<16xf32>) {
  %y = "gawee.winograd"(%x, %b, %u) <{tile = 4 : i64, bounds = array<i64: 2, 16, 7, 5, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 4 : i64, rows = 4 : i64, lanes = 8 : i64, operandSegmentSizes = array<i32: 2, 1, 0, 0>}> ({
  ^bb0(%bias: f32, %sum: f32):
    %0 = arith.addf %sum, %bias : f32
    gawee.yield %0 : f32
  }) : (tensor<2x8x10x10xf32>, tensor<16xf32>, tensor<36x1x8x16xf32>) -> tensor<2x16x7x5xf32>
  func.return
}

// -----

// WinogradOp C3: a map has too few results.
// CHECK: error: 'gawee.winograd' op expected a map from 5 dimensions to 4 axes, got '(d0, d1, d2, d3, d4) -> (d0, d4, d2)'
func.func @c3_a_map_has_too_few_results(%x: tensor<2x8x10x10xf32>, %u: tensor<36x1x8x16xf32>, %b: tensor<16xf32>) {
  %y = "gawee.winograd"(%x, %b, %u) <{tile = 4 : i64, bounds = array<i64: 2, 16, 7, 5, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h)>,
    affine_map<(n, f, h, w, c) -> (f)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 4 : i64, rows = 4 : i64, lanes = 8 : i64, operandSegmentSizes = array<i32: 2, 1, 0, 0>}> ({
  ^bb0(%bias: f32, %sum: f32):
    %0 = arith.addf %sum, %bias : f32
    gawee.yield %0 : f32
  }) : (tensor<2x8x10x10xf32>, tensor<16xf32>, tensor<36x1x8x16xf32>) -> tensor<2x16x7x5xf32>
  func.return
}

// -----

// WinogradOp C3: the last tiles are not covered.
// CHECK: error: 'gawee.winograd' op expected '(d0, d1, d2, d3, d4) -> (d0, d4, d2, d3)' to stay in axis 3 of size 7, got 0 to 9
func.func @c3_the_last_tiles_are_not_covered(%x: tensor<2x8x10x7xf32>, %u: tensor<36x1x8x16xf32>, %b: tensor<16xf32>) {
  %y = "gawee.winograd"(%x, %b, %u) <{tile = 4 : i64, bounds = array<i64: 2, 16, 7, 5, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (f)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 4 : i64, rows = 4 : i64, lanes = 8 : i64, operandSegmentSizes = array<i32: 2, 1, 0, 0>}> ({
  ^bb0(%bias: f32, %sum: f32):
    %0 = arith.addf %sum, %bias : f32
    gawee.yield %0 : f32
  }) : (tensor<2x8x10x7xf32>, tensor<16xf32>, tensor<36x1x8x16xf32>) -> tensor<2x16x7x5xf32>
  func.return
}

// -----

// WinogradOp C4: finish takes no bias.
// CHECK: error: 'gawee.winograd' op expected 'finish' to take the other inputs and the sum
func.func @c4_finish_takes_no_bias(%x: tensor<2x8x10x10xf32>, %u: tensor<36x1x8x16xf32>, %b: tensor<16xf32>) {
  %y = "gawee.winograd"(%x, %b, %u) <{tile = 4 : i64, bounds = array<i64: 2, 16, 7, 5, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (f)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 4 : i64, rows = 4 : i64, lanes = 8 : i64, operandSegmentSizes = array<i32: 2, 1, 0, 0>}> ({
  ^bb0(%sum: f32):
    gawee.yield %sum : f32
  }) : (tensor<2x8x10x10xf32>, tensor<16xf32>, tensor<36x1x8x16xf32>) -> tensor<2x16x7x5xf32>
  func.return
}

// -----

// WinogradOp C4: finish yields another type.
// CHECK: error: 'gawee.winograd' op expected 'finish' to yield (f32)
func.func @c4_finish_yields_another_type(%x: tensor<2x8x10x10xf32>, %u: tensor<36x1x8x16xf32>, %b: tensor<16xf32>) {
  %y = "gawee.winograd"(%x, %b, %u) <{tile = 4 : i64, bounds = array<i64: 2, 16, 7, 5, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (f)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 4 : i64, rows = 4 : i64, lanes = 8 : i64, operandSegmentSizes = array<i32: 2, 1, 0, 0>}> ({
  ^bb0(%bias: f32, %sum: f32):
    %0 = arith.extf %sum : f32 to f64
    gawee.yield %0 : f64
  }) : (tensor<2x8x10x10xf32>, tensor<16xf32>, tensor<36x1x8x16xf32>) -> tensor<2x16x7x5xf32>
  func.return
}

// -----

// WinogradOp C3: nothing to convolve.
// CHECK: error: 'gawee.winograd' op expected an input, got none
func.func @c3_nothing_to_convolve(%u: tensor<36x1x8x16xf32>) {
  %y = "gawee.winograd"(%u) <{tile = 4 : i64, bounds = array<i64: 2, 16, 7, 5, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 4 : i64, rows = 4 : i64, lanes = 8 : i64, operandSegmentSizes = array<i32: 0, 1, 0, 0>}> ({
  ^bb0(%sum: f32):
    gawee.yield %sum : f32
  }) : (tensor<36x1x8x16xf32>) -> tensor<2x16x7x5xf32>
  func.return
}

// -----

// WinogradOp C2: transformed weights where filters are expected.
// CHECK: error: 'gawee.winograd' op expected weights of shape (3, 8, 3, 3, 16), got (3, 36, 8, 16)
func.func @c2_weights_that_are_no_filters(%x: tensor<2x8x6x6xf32>, %w: tensor<3x36x8x16xf32>) {
  %y = "gawee.winograd"(%x, %w) <{tile = 4 : i64, bounds = array<i64: 2, 48, 3, 4, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = true, block = 2 : i64, rows = 2 : i64, lanes = 16 : i64, filters, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> ({
  ^bb0(%sum: f32):
    gawee.yield %sum : f32
  }) : (tensor<2x8x6x6xf32>, tensor<3x36x8x16xf32>) -> tensor<2x48x3x4xf32>
  func.return
}

// -----

// WinogradOp C5: filters by blocks of tiles.
// CHECK: error: 'gawee.winograd' op expected 'filters' with 'by_channel' and panels of 16 channels
func.func @c5_filters_by_blocks_of_tiles(%x: tensor<2x8x6x6xf32>, %w: tensor<3x8x3x3x16xf32>) {
  %y = "gawee.winograd"(%x, %w) <{tile = 4 : i64, bounds = array<i64: 2, 48, 3, 4, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 2 : i64, rows = 2 : i64, lanes = 16 : i64, filters, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> ({
  ^bb0(%sum: f32):
    gawee.yield %sum : f32
  }) : (tensor<2x8x6x6xf32>, tensor<3x8x3x3x16xf32>) -> tensor<2x48x3x4xf32>
  func.return
}

// -----

// WinogradOp C5: panels of several vectors.
// CHECK: error: 'gawee.winograd' op expected 'filters' with 'by_channel' and panels of 16 channels
func.func @c5_filters_in_wide_panels(%x: tensor<2x8x6x6xf32>, %w: tensor<1x8x3x3x48xf32>) {
  %y = "gawee.winograd"(%x, %w) <{tile = 4 : i64, bounds = array<i64: 2, 48, 3, 4, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = true, block = 2 : i64, rows = 2 : i64, lanes = 16 : i64, filters, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> ({
  ^bb0(%sum: f32):
    gawee.yield %sum : f32
  }) : (tensor<2x8x6x6xf32>, tensor<1x8x3x3x48xf32>) -> tensor<2x48x3x4xf32>
  func.return
}

// -----

// WinogradOp C6: a panel beyond the output channels that threads share.
// CHECK: error: 'gawee.winograd' op expected panels that divide 24 channels with 'by_channel', got 32
func.func @c6_panels_beyond_the_output_channels(%x: tensor<2x8x6x6xf32>, %w: tensor<1x36x8x32xf32>) {
  %y = "gawee.winograd"(%x, %w) <{tile = 4 : i64, bounds = array<i64: 2, 24, 3, 4, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = true, block = 2 : i64, rows = 2 : i64, lanes = 8 : i64, wide, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> ({
  ^bb0(%sum: f32):
    gawee.yield %sum : f32
  }) : (tensor<2x8x6x6xf32>, tensor<1x36x8x32xf32>) -> tensor<2x24x3x4xf32>
  func.return
}

// -----

// WinogradOp C7: blocks of no tiles.
// CHECK: error: 'gawee.winograd' op expected 'block', 'rows' and 'lanes' above 0, got (0, 4, 8)
func.func @c7_blocks_of_no_tiles(%x: tensor<2x8x10x10xf32>, %u: tensor<36x1x8x16xf32>, %b: tensor<16xf32>) {
  %y = "gawee.winograd"(%x, %b, %u) <{tile = 4 : i64, bounds = array<i64: 2, 16, 7, 5, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (f)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 0 : i64, rows = 4 : i64, lanes = 8 : i64, operandSegmentSizes = array<i32: 2, 1, 0, 0>}> ({
  ^bb0(%bias: f32, %sum: f32):
    %0 = arith.addf %sum, %bias : f32
    gawee.yield %0 : f32
  }) : (tensor<2x8x10x10xf32>, tensor<16xf32>, tensor<36x1x8x16xf32>) -> tensor<2x16x7x5xf32>
  func.return
}

// -----

// WinogradOp C7: vectors of one lane.
// CHECK: error: 'gawee.winograd' op expected more than one of 'lanes'
func.func @c7_vectors_of_one_lane(%x: tensor<2x8x10x10xf32>, %u: tensor<36x1x8x16xf32>, %b: tensor<16xf32>) {
  %y = "gawee.winograd"(%x, %b, %u) <{tile = 4 : i64, bounds = array<i64: 2, 16, 7, 5, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (f)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 2 : i64, rows = 4 : i64, lanes = 1 : i64, operandSegmentSizes = array<i32: 2, 1, 0, 0>}> ({
  ^bb0(%bias: f32, %sum: f32):
    %0 = arith.addf %sum, %bias : f32
    gawee.yield %0 : f32
  }) : (tensor<2x8x10x10xf32>, tensor<16xf32>, tensor<36x1x8x16xf32>) -> tensor<2x16x7x5xf32>
  func.return
}

// -----

// WinogradOp C8: integers of 32 bits.
// CHECK: error: 'gawee.winograd' op expected an input of i16 with weights of i32, got i32
func.func @c8_integers_of_32_bits(%x: tensor<1x8x6x6xi32>, %u: tensor<16x1x4x8xi32>) {
  %y = "gawee.winograd"(%x, %u) <{tile = 2 : i64, bounds = array<i64: 1, 8, 4, 4, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 1 : i64, rows = 1 : i64, lanes = 8 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> ({
  ^bb0(%sum: i32):
    gawee.yield %sum : i32
  }) : (tensor<1x8x6x6xi32>, tensor<16x1x4x8xi32>) -> tensor<1x8x4x4xi32>
  func.return
}

// -----

// WinogradOp C8: a tile whose transforms 16 bits do not hold.
// CHECK: error: 'gawee.winograd' op expected a tile of 2 with weights of i32
func.func @c8_a_tile_of_four(%x: tensor<1x8x6x6xi16>, %u: tensor<36x1x4x8xi32>) {
  %y = "gawee.winograd"(%x, %u) <{tile = 4 : i64, bounds = array<i64: 1, 8, 4, 4, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 1 : i64, rows = 1 : i64, lanes = 8 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> ({
  ^bb0(%sum: i32):
    gawee.yield %sum : i32
  }) : (tensor<1x8x6x6xi16>, tensor<36x1x4x8xi32>) -> tensor<1x8x4x4xi32>
  func.return
}

// -----

// WinogradOp C8: a word of one channel.
// CHECK: error: 'gawee.winograd' op expected an even number of channels with weights of i32, got 7
func.func @c8_a_word_of_one_channel(%x: tensor<1x7x6x6xi16>, %u: tensor<16x1x3x8xi32>) {
  %y = "gawee.winograd"(%x, %u) <{tile = 2 : i64, bounds = array<i64: 1, 8, 4, 4, 7>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 1 : i64, rows = 1 : i64, lanes = 8 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> ({
  ^bb0(%sum: i32):
    gawee.yield %sum : i32
  }) : (tensor<1x7x6x6xi16>, tensor<16x1x3x8xi32>) -> tensor<1x8x4x4xi32>
  func.return
}

// -----

// WinogradOp C8: filters of integers.
// CHECK: error: 'gawee.winograd' op expected no 'filters' with weights of i32
func.func @c8_filters_of_integers(%x: tensor<1x8x6x6xi16>, %u: tensor<1x4x3x3x8xi32>) {
  %y = "gawee.winograd"(%x, %u) <{tile = 2 : i64, bounds = array<i64: 1, 8, 4, 4, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = true, block = 1 : i64, rows = 1 : i64, lanes = 8 : i64, filters, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> ({
  ^bb0(%sum: i32):
    gawee.yield %sum : i32
  }) : (tensor<1x8x6x6xi16>, tensor<1x4x3x3x8xi32>) -> tensor<1x8x4x4xi32>
  func.return
}
