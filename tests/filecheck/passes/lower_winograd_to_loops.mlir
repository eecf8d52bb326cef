// RUN: gawee-opt --lower-winograd-to-loops --split-input-file %s | filecheck %s

// What is between the transforms is on a thread's stack.
// CHECK-LABEL: func.func @threads_share_blocks_of_tiles
// CHECK:         scf.parallel
// CHECK:         %[[P:.*]] = memref.alloca() : memref<36x2x8xf32>
// CHECK-NEXT:      %[[I:.*]] = memref.alloca() : memref<36x1x2x8xf32>
// CHECK:         gawee.kernel parallel [36, 2, 8] reduce [8] ins(%[[I]], %u : {{.*}}) outs(%[[P]])
// CHECK:         schedule #gawee.schedule<loops = [d0, d3], vector = d2 by 8>
func.func @threads_share_blocks_of_tiles(%x: memref<1x8x10x10xf32>, %u: memref<36x1x8x8xf32>, %o: memref<1x8x8x8xf32>) {
  "gawee.winograd"(%x, %u, %o) <{tile = 4 : i64, bounds = array<i64: 1, 8, 8, 8, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 2 : i64, rows = 2 : i64, lanes = 8 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%sum: f32):
    gawee.yield %sum : f32
  }) : (memref<1x8x10x10xf32>, memref<36x1x8x8xf32>, memref<1x8x8x8xf32>) -> ()
  func.return
}

// -----

// One vector of channels after the other, each along all tiles of a block.
// CHECK-LABEL: func.func @inputs_are_read_along_a_row
// CHECK:         %[[I:.*]] = memref.alloca() : memref<36x3x2x8xf32>
// CHECK:         scf.for %[[GROUP:.*]] = %{{.*}} to %c3 step
// CHECK:           scf.for %[[TILE:.*]] = %{{.*}} to %c2 step
// CHECK:             vector.load %x[%c0, %[[GROUP]],
// CHECK:             vector.store %{{.*}}, %[[I]][%{{.*}}, %[[GROUP]], %[[TILE]], %c0]
// CHECK:         gawee.kernel parallel [36, 2, 16] reduce [24] ins(%[[I]],
func.func @inputs_are_read_along_a_row(%x: memref<1x3x6x18x8xf32>, %u: memref<36x1x24x16xf32>, %o: memref<1x16x4x16xf32>) {
  "gawee.winograd"(%x, %u, %o) <{tile = 4 : i64, bounds = array<i64: 1, 16, 4, 16, 24>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c floordiv 8, h, w, c mod 8)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 2 : i64, rows = 2 : i64, lanes = 8 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%sum: f32):
    gawee.yield %sum : f32
  }) : (memref<1x3x6x18x8xf32>, memref<36x1x24x16xf32>, memref<1x16x4x16xf32>) -> ()
  func.return
}

// -----

// 24 output channels are two vectors of 16 in the products, and three of 8 in the transforms.
// CHECK-LABEL: func.func @products_may_be_in_wider_vectors
// CHECK:         %[[P:.*]] = memref.alloca() : memref<36x3x32xf32>
// CHECK:         gawee.kernel parallel [36, 3, 32] reduce [8]
// CHECK:         schedule #gawee.schedule<loops = [d0, d3], vector = d2 by 16>
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[THREE:c3.*]] step
// CHECK:         vector.load %[[P]][{{.*}}] : memref<36x3x32xf32>, vector<8xf32>
func.func @products_may_be_in_wider_vectors(%x: memref<1x8x14x6xf32>, %u: memref<36x1x8x32xf32>, %o: memref<1x24x12x4xf32>) {
  "gawee.winograd"(%x, %u, %o) <{tile = 4 : i64, bounds = array<i64: 1, 24, 12, 4, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 3 : i64, rows = 3 : i64, lanes = 8 : i64, wide, operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%sum: f32):
    gawee.yield %sum : f32
  }) : (memref<1x8x14x6xf32>, memref<36x1x8x32xf32>, memref<1x24x12x4xf32>) -> ()
  func.return
}

// -----

// The inputs of all tiles are transformed first, into scratch memory.
// CHECK-LABEL: func.func @threads_share_panels_of_channels
// CHECK:         scf.parallel
// CHECK:         vector.store %{{.*}}, %s[
// CHECK:         scf.parallel
// CHECK:         %[[U:.*]] = memref.subview %u[
// CHECK:         gawee.kernel parallel [36, 4, 8] reduce [8] ins(%s, %[[U]] :
func.func @threads_share_panels_of_channels(%x: memref<1x8x10x10xf32>, %u: memref<2x36x8x8xf32>, %s: memref<36x4x8xf32>, %o: memref<1x16x8x8xf32>) {
  "gawee.winograd"(%x, %u, %s, %o) <{tile = 4 : i64, bounds = array<i64: 1, 16, 8, 8, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = true, block = 4 : i64, rows = 2 : i64, lanes = 8 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1>}> ({
  ^bb0(%sum: f32):
    gawee.yield %sum : f32
  }) : (memref<1x8x10x10xf32>, memref<2x36x8x8xf32>, memref<36x4x8xf32>, memref<1x16x8x8xf32>) -> ()
  func.return
}

// -----

// A tile at the edge is finished by loops as long as what is left of it.
// CHECK-LABEL: func.func @outputs_behind_the_edge_are_left_out
// CHECK:         %[[IN:.*]] = arith.cmpi ult,
// CHECK:         scf.if
// CHECK:         } else {
// CHECK:         arith.minui
// CHECK:         scf.for
func.func @outputs_behind_the_edge_are_left_out(%x: memref<1x8x10x10xf32>, %u: memref<36x1x8x8xf32>, %o: memref<1x8x7x8xf32>) {
  "gawee.winograd"(%x, %u, %o) <{tile = 4 : i64, bounds = array<i64: 1, 8, 7, 8, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 4 : i64, rows = 2 : i64, lanes = 8 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%sum: f32):
    gawee.yield %sum : f32
  }) : (memref<1x8x10x10xf32>, memref<36x1x8x8xf32>, memref<1x8x7x8xf32>) -> ()
  func.return
}

// -----

// Four tiles in blocks of three.
// CHECK-LABEL: func.func @the_last_block_may_have_fewer_tiles
// CHECK:         %[[LAST:.*]] = arith.cmpi eq,
// CHECK-NEXT:      scf.if %[[LAST]] {
// CHECK:         gawee.kernel parallel [36, 1, 8] reduce [8]
// CHECK:         } else {
// CHECK:         gawee.kernel parallel [36, 3, 8] reduce [8]
func.func @the_last_block_may_have_fewer_tiles(%x: memref<1x8x10x10xf32>, %u: memref<36x1x8x8xf32>, %o: memref<1x8x8x8xf32>) {
  "gawee.winograd"(%x, %u, %o) <{tile = 4 : i64, bounds = array<i64: 1, 8, 8, 8, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 3 : i64, rows = 2 : i64, lanes = 8 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%sum: f32):
    gawee.yield %sum : f32
  }) : (memref<1x8x10x10xf32>, memref<36x1x8x8xf32>, memref<1x8x8x8xf32>) -> ()
  func.return
}

// -----

// CHECK-LABEL: func.func @what_is_around_the_outputs_is_filled_with_zeros
// CHECK:         %[[Z:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         vector.broadcast %[[Z]]
// CHECK:         vector.store
// CHECK:         gawee.kernel
func.func @what_is_around_the_outputs_is_filled_with_zeros(%x: memref<1x8x10x10xf32>, %u: memref<36x1x8x8xf32>, %o: memref<1x8x10x10xf32>) {
  "gawee.winograd"(%x, %u, %o) <{tile = 4 : i64, bounds = array<i64: 1, 8, 8, 8, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (n, f, h + 1, w + 1)>],
    by_channel = false, block = 4 : i64, rows = 2 : i64, lanes = 8 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%sum: f32):
    gawee.yield %sum : f32
  }) : (memref<1x8x10x10xf32>, memref<36x1x8x8xf32>, memref<1x8x10x10xf32>) -> ()
  func.return
}

// -----

// All tiles are multiplied by a point's weights before the next point's.
// CHECK-LABEL: func.func @weights_of_the_next_point_are_prefetched
// CHECK:         gawee.kernel parallel [36, 4, 8] reduce [8] ins(%s, %
// CHECK:         schedule #gawee.schedule<loops = [d0, d1 by 3, d3], vector = d2 by 8, prefetch = input 1 along d0>
func.func @weights_of_the_next_point_are_prefetched(%x: memref<1x8x10x10xf32>, %u: memref<2x36x8x8xf32>, %s: memref<36x4x8xf32>, %o: memref<1x16x8x8xf32>) {
  "gawee.winograd"(%x, %u, %s, %o) <{tile = 4 : i64, bounds = array<i64: 1, 16, 8, 8, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = true, block = 4 : i64, rows = 3 : i64, lanes = 8 : i64, prefetch, operandSegmentSizes = array<i32: 1, 1, 1, 1>}> ({
  ^bb0(%sum: f32):
    gawee.yield %sum : f32
  }) : (memref<1x8x10x10xf32>, memref<2x36x8x8xf32>, memref<36x4x8xf32>, memref<1x16x8x8xf32>) -> ()
  func.return
}

// -----

// CHECK-LABEL: func.func @weights_of_the_next_panel_are_prefetched
// CHECK:         gawee.kernel parallel [36, 4, 16] reduce [8]
// CHECK:         schedule #gawee.schedule<loops = [d0, d2 by 8, d3], vector = d2 by 8, prefetch = input 1 along d2>
func.func @weights_of_the_next_panel_are_prefetched(%x: memref<1x8x10x10xf32>, %u: memref<36x2x8x8xf32>, %o: memref<1x16x8x8xf32>) {
  "gawee.winograd"(%x, %u, %o) <{tile = 4 : i64, bounds = array<i64: 1, 16, 8, 8, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 4 : i64, rows = 4 : i64, lanes = 8 : i64, prefetch, operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%sum: f32):
    gawee.yield %sum : f32
  }) : (memref<1x8x10x10xf32>, memref<36x2x8x8xf32>, memref<1x16x8x8xf32>) -> ()
  func.return
}

// -----

// Six rows of points: each goes over the channels, and keeps 6 x 4 sums in registers.
// CHECK-LABEL: func.func @filters_are_transformed_in_registers
// CHECK:         scf.parallel
// CHECK:         %sums = memref.alloca() : memref<6x4xvector<16xf32>>
// CHECK:         scf.for %channel = %{{.*}} to %{{.*}} step
// CHECK:         memref.prefetch %w[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}], read, locality<2>, data
// CHECK:         vector.load %w[%{{.*}}, %channel, %{{.*}}, %{{.*}}, %{{.*}}] : memref<3x32x3x3x16xf32>, vector<16xf32>
// CHECK:         memref.load %s[%{{.*}}, %{{.*}}, %channel] : memref<36x4x48xf32>
// CHECK:         math.fma
// CHECK:         memref.store %{{.*}}, %sums
// CHECK:         {gawee.unroll = 1 : i64}
// CHECK-COUNT-5: {gawee.unroll = 1 : i64}
// CHECK-NOT:     gawee.kernel
func.func @filters_are_transformed_in_registers(%x: memref<1x32x10x10xf32>, %w: memref<3x32x3x3x16xf32>, %s: memref<36x4x48xf32>, %o: memref<1x48x8x8xf32>) {
  "gawee.winograd"(%x, %w, %s, %o) <{tile = 4 : i64, bounds = array<i64: 1, 48, 8, 8, 32>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = true, block = 4 : i64, rows = 4 : i64, lanes = 16 : i64, prefetch, filters, operandSegmentSizes = array<i32: 1, 1, 1, 1>}> ({
  ^bb0(%sum: f32):
    gawee.yield %sum : f32
  }) : (memref<1x32x10x10xf32>, memref<3x32x3x3x16xf32>, memref<36x4x48xf32>, memref<1x48x8x8xf32>) -> ()
  func.return
}

// -----

// Of the next tile's 6 x 4 pixels, whose 8 channels take half a line, 12 lines are fetched.
// CHECK-LABEL: func.func @inputs_of_the_next_tile_are_prefetched
// CHECK-COUNT-12: memref.prefetch %x[%{{.*}}], read, locality<3>, data : memref<1x10x10x8xf32>
// CHECK-NOT:      memref.prefetch
// CHECK:          vector.load %x
// CHECK:          gawee.kernel
// CHECK-NOT:      memref.prefetch
func.func @inputs_of_the_next_tile_are_prefetched(%x: memref<1x10x10x8xf32>, %u: memref<36x2x8x8xf32>, %o: memref<1x16x8x8xf32>) {
  "gawee.winograd"(%x, %u, %o) <{tile = 4 : i64, bounds = array<i64: 1, 16, 8, 8, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, h, w, c)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 4 : i64, rows = 4 : i64, lanes = 8 : i64, prefetch_inputs, operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%sum: f32):
    gawee.yield %sum : f32
  }) : (memref<1x10x10x8xf32>, memref<36x2x8x8xf32>, memref<1x16x8x8xf32>) -> ()
  func.return
}

// -----

// A vector of channels that lie apart has a line for each.
// CHECK-LABEL: func.func @channels_that_lie_apart_are_not_prefetched
// CHECK-NOT:     memref.prefetch
// CHECK:         return
func.func @channels_that_lie_apart_are_not_prefetched(%x: memref<1x8x10x10xf32>, %u: memref<36x2x8x8xf32>, %o: memref<1x16x8x8xf32>) {
  "gawee.winograd"(%x, %u, %o) <{tile = 4 : i64, bounds = array<i64: 1, 16, 8, 8, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>,
    affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    by_channel = false, block = 4 : i64, rows = 4 : i64, lanes = 8 : i64, prefetch_inputs, operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%sum: f32):
    gawee.yield %sum : f32
  }) : (memref<1x8x10x10xf32>, memref<36x2x8x8xf32>, memref<1x16x8x8xf32>) -> ()
  func.return
}

// -----

// Transformed integers are stored as words; four times the sum is divided by four.
// CHECK-LABEL: func.func @integers_are_transformed_in_16_bits
// CHECK:         %[[I:.*]] = memref.alloca() : memref<16x3x2x4xi32>
// CHECK:         vector.load %x{{.*}} : memref<1x6x6x24xi16>, vector<8xi16>
// CHECK:         arith.subi %{{.*}} : vector<8xi16>
// CHECK:         %[[W:.*]] = vector.bitcast %{{.*}} : vector<8xi16> to vector<4xi32>
// CHECK-NEXT:    vector.store %[[W]], %[[I]]
// CHECK:         gawee.kernel parallel [16, 2, 8] reduce [12] ins(%[[I]], %u :
// CHECK-SAME:      (d0, (d3 floordiv 4), d1, (d3 mod 4))>
// CHECK-SAME:      initial 0 : i32
// CHECK:         %[[TWO:.*]] = arith.constant dense<2> : vector<8xi32>
// CHECK-NEXT:    %[[SUM:.*]] = arith.shrsi %{{.*}}, %[[TWO]]
// CHECK:         %[[F:.*]] = arith.sitofp %[[SUM]] : vector<8xi32> to vector<8xf32>
func.func @integers_are_transformed_in_16_bits(%x: memref<1x6x6x24xi16>, %u: memref<16x1x12x8xi32>, %o: memref<1x4x4x8xf32>) {
  "gawee.winograd"(%x, %u, %o) <{tile = 2 : i64, bounds = array<i64: 1, 8, 4, 4, 24>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, h, w, c)>,
    affine_map<(n, f, h, w, c) -> (n, h, w, f)>],
    by_channel = false, block = 2 : i64, rows = 2 : i64, lanes = 8 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%sum: i32):
    %0 = arith.sitofp %sum : i32 to f32
    gawee.yield %0 : f32
  }) : (memref<1x6x6x24xi16>, memref<16x1x12x8xi32>, memref<1x4x4x8xf32>) -> ()
  func.return
}

// -----

// What is added by channel is loaded once a tile, what is added by pixel with each.
// CHECK-LABEL: func.func @a_bias_is_loaded_once_a_tile
// CHECK:         %[[B:.*]] = vector.load %b[
// CHECK-NOT:     vector.load %b[
// CHECK:         scf.for
// CHECK:           vector.load %r[
// CHECK:           vector.load %r[
// CHECK-NOT:       vector.load %b[
// CHECK:         func.return
func.func @a_bias_is_loaded_once_a_tile(%x: memref<1x10x10x8xf32>, %u: memref<36x1x8x8xf32>, %b: memref<8xf32>, %r: memref<1x8x8x8xf32>, %o: memref<1x8x8x8xf32>) {
  "gawee.winograd"(%x, %b, %r, %u, %o) <{tile = 4 : i64, bounds = array<i64: 1, 8, 8, 8, 8>, indexing_maps = [affine_map<(n, f, h, w, c) -> (n, h, w, c)>,
    affine_map<(n, f, h, w, c) -> (f)>,
    affine_map<(n, f, h, w, c) -> (n, h, w, f)>,
    affine_map<(n, f, h, w, c) -> (n, h, w, f)>],
    by_channel = false, block = 2 : i64, rows = 2 : i64, lanes = 8 : i64, operandSegmentSizes = array<i32: 3, 1, 0, 1>}> ({
  ^bb0(%bias: f32, %residual: f32, %sum: f32):
    %0 = arith.addf %sum, %bias : f32
    %1 = arith.addf %0, %residual : f32
    gawee.yield %1 : f32
  }) : (memref<1x10x10x8xf32>, memref<8xf32>, memref<1x8x8x8xf32>, memref<36x1x8x8xf32>, memref<1x8x8x8xf32>) -> ()
  func.return
}
