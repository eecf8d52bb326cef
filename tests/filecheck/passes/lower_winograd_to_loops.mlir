// RUN: gawee-opt --lower-winograd-to-loops --split-input-file %s | filecheck %s

// What is between the transforms is on a thread's stack.
// CHECK-LABEL: func.func @threads_share_blocks_of_tiles
// CHECK:         scf.parallel
// CHECK:         %[[P:.*]] = memref.alloca() : memref<36x2x8xf32>
// CHECK-NEXT:      %[[I:.*]] = memref.alloca() : memref<36x2x8xf32>
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
