// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @tiles_of_four_add_a_bias
// CHECK:         "gawee.winograd"(%x, %b, %u) <{
// CHECK-SAME:      tile = 4 : i64
// CHECK-SAME:      by_channel = false
// CHECK:         arith.addf
// CHECK:         tensor<2x8x10x10xf32>, tensor<16xf32>, tensor<36x1x8x16xf32>) -> tensor<2x16x7x5xf32>
func.func @tiles_of_four_add_a_bias(%x: tensor<2x8x10x10xf32>, %u: tensor<36x1x8x16xf32>, %b: tensor<16xf32>) -> tensor<2x16x7x5xf32> {
  %y = "gawee.winograd"(%x, %b, %u) <{tile = 4 : i64, bounds = array<i64: 2, 16, 7, 5, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (f)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 4 : i64, rows = 4 : i64, lanes = 8 : i64, operandSegmentSizes = array<i32: 2, 1, 0, 0>}> ({
  ^bb0(%bias: f32, %sum: f32):
    %0 = arith.addf %sum, %bias : f32
    gawee.yield %0 : f32
  }) : (tensor<2x8x10x10xf32>, tensor<16xf32>, tensor<36x1x8x16xf32>) -> tensor<2x16x7x5xf32>
  func.return %y : tensor<2x16x7x5xf32>
}

// -----

// CHECK-LABEL: func.func @tiles_of_two_are_split_by_channel
// CHECK:         "gawee.winograd"(%x, %u) <{
// CHECK-SAME:      tile = 2 : i64
// CHECK-SAME:      by_channel = true
// CHECK-SAME:      prefetch
func.func @tiles_of_two_are_split_by_channel(%x: tensor<2x8x10x8xf32>, %u: tensor<2x16x8x8xf32>) -> tensor<2x16x7x5xf32> {
  %y = "gawee.winograd"(%x, %u) <{tile = 2 : i64, bounds = array<i64: 2, 16, 7, 5, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = true, block = 4 : i64, rows = 4 : i64, lanes = 8 : i64, prefetch, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> ({
  ^bb0(%sum: f32):
    gawee.yield %sum : f32
  }) : (tensor<2x8x10x8xf32>, tensor<2x16x8x8xf32>) -> tensor<2x16x7x5xf32>
  func.return %y : tensor<2x16x7x5xf32>
}

// -----

// CHECK-LABEL: func.func @a_panel_of_wide_products_may_go_beyond_the_output_channels
// CHECK:         "gawee.winograd"(%x, %u) <{
// CHECK-SAME:      lanes = 8 : i64, wide
// CHECK:         tensor<2x8x10x8xf32>, tensor<16x1x8x32xf32>) -> tensor<2x24x7x5xf32>
func.func @a_panel_of_wide_products_may_go_beyond_the_output_channels(%x: tensor<2x8x10x8xf32>, %u: tensor<16x1x8x32xf32>) -> tensor<2x24x7x5xf32> {
  %y = "gawee.winograd"(%x, %u) <{tile = 2 : i64, bounds = array<i64: 2, 24, 7, 5, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 4 : i64, rows = 4 : i64, lanes = 8 : i64, wide, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> ({
  ^bb0(%sum: f32):
    gawee.yield %sum : f32
  }) : (tensor<2x8x10x8xf32>, tensor<16x1x8x32xf32>) -> tensor<2x24x7x5xf32>
  func.return %y : tensor<2x24x7x5xf32>
}

// -----

// CHECK-LABEL: func.func @on_buffers_the_output_is_an_operand
// CHECK:         "gawee.winograd"(%x, %u, %o) <{
func.func @on_buffers_the_output_is_an_operand(%x: memref<2x8x10x8xf32>, %u: memref<16x2x8x8xf32>, %o: memref<2x16x7x5xf32>) {
  "gawee.winograd"(%x, %u, %o) <{tile = 2 : i64, bounds = array<i64: 2, 16, 7, 5, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 4 : i64, rows = 4 : i64, lanes = 8 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%sum: f32):
    gawee.yield %sum : f32
  }) : (memref<2x8x10x8xf32>, memref<16x2x8x8xf32>, memref<2x16x7x5xf32>) -> ()
  func.return
}

// -----

// CHECK-LABEL: func.func @filters_are_transformed_while_they_are_multiplied
// CHECK:         "gawee.winograd"(%x, %w) <{
// CHECK-SAME:      filters
// CHECK:         tensor<2x8x6x6xf32>, tensor<3x8x3x3x16xf32>) -> tensor<2x48x3x4xf32>
func.func @filters_are_transformed_while_they_are_multiplied(%x: tensor<2x8x6x6xf32>, %w: tensor<3x8x3x3x16xf32>) -> tensor<2x48x3x4xf32> {
  %y = "gawee.winograd"(%x, %w) <{tile = 4 : i64, bounds = array<i64: 2, 48, 3, 4, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = true, block = 2 : i64, rows = 2 : i64, lanes = 16 : i64, filters, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> ({
  ^bb0(%sum: f32):
    gawee.yield %sum : f32
  }) : (tensor<2x8x6x6xf32>, tensor<3x8x3x3x16xf32>) -> tensor<2x48x3x4xf32>
  func.return %y : tensor<2x48x3x4xf32>
}
