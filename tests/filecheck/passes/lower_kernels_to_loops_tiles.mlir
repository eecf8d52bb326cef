// RUN: gawee-opt --lower-kernels-to-loops --split-input-file %s | filecheck %s

// Two tiles of each factor, of 11 words; each is loaded once. Sums are finished as vectors.
// CHECK-LABEL: func.func @loops_carry_sums_in_tiles
// CHECK:         %sums = memref.alloca() : memref<2x32x16xi32>
// CHECK:         %zeros = memref.alloca() : memref<4x16xi32>
// CHECK-COUNT-4: amx.tile_load %zeros[%{{.*}}, %{{.*}}], %{{.*}} : memref<4x16xi32> into !amx.tile<16x16xi32>
// CHECK:         scf.for %d2 = {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}, %[[C:.*]] = %{{.*}}, %[[D:.*]] = %{{.*}}) -> (!amx.tile<16x16xi32>, !amx.tile<16x16xi32>, !amx.tile<16x16xi32>, !amx.tile<16x16xi32>) {
// CHECK:           %[[X0:.*]] = amx.tile_load %x[%{{.*}}, %{{.*}}] : memref<32x22xi32> into !amx.tile<16x44xi8>
// CHECK:           %[[X1:.*]] = amx.tile_load %x
// CHECK:           %[[W0:.*]] = amx.tile_load %w[%{{.*}}, %{{.*}}] : memref<22x32xi32> into !amx.tile<11x64xi8>
// CHECK:           amx.tile_muli %[[X0]] zext, %[[W0]], %[[A]]
// CHECK:           amx.tile_muli %[[X1]] zext, %[[W0]], %[[B]]
// CHECK:           %[[W1:.*]] = amx.tile_load %w
// CHECK:           amx.tile_muli %[[X0]] zext, %[[W1]], %[[C]]
// CHECK:           amx.tile_muli %[[X1]] zext, %[[W1]], %[[D]]
// CHECK-COUNT-4: amx.tile_store %sums
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             %[[V:.*]] = vector.load %sums[{{.*}}] : memref<2x32x16xi32>, vector<16xi32>
// CHECK:             vector.store %[[V]], %y
// CHECK:           } {gawee.unroll = "full"}
// CHECK:         } {gawee.unroll = 1 : i64}
func.func @loops_carry_sums_in_tiles(%x: memref<32x22xi32>, %w: memref<22x32xi32>, %y: memref<32x32xi32>) {
  gawee.kernel parallel [32, 32] reduce [22] ins(%x, %w : memref<32x22xi32>, memref<22x32xi32>) outs(%y)
    maps [affine_map<(m, n, k) -> (m, k)>,
    affine_map<(m, n, k) -> (k, n)>,
    affine_map<(m, n, k) -> (m, n)>]
    initial 0 : i32 accumulate {
    ^bb0(%a: i32, %b: i32, %s: i32):
      %c8 = arith.constant 8 : i32
      %c16 = arith.constant 16 : i32
      %c24 = arith.constant 24 : i32
      %a0 = arith.shli %a, %c24 : i32
      %a1 = arith.shli %a, %c16 : i32
      %a2 = arith.shli %a, %c8 : i32
      %b0 = arith.shli %b, %c24 : i32
      %b1 = arith.shli %b, %c16 : i32
      %b2 = arith.shli %b, %c8 : i32
      %l0 = arith.shrui %a0, %c24 : i32
      %l1 = arith.shrui %a1, %c24 : i32
      %l2 = arith.shrui %a2, %c24 : i32
      %l3 = arith.shrui %a, %c24 : i32
      %r0 = arith.shrsi %b0, %c24 : i32
      %r1 = arith.shrsi %b1, %c24 : i32
      %r2 = arith.shrsi %b2, %c24 : i32
      %r3 = arith.shrsi %b, %c24 : i32
      %p0 = arith.muli %l0, %r0 : i32
      %p1 = arith.muli %l1, %r1 : i32
      %p2 = arith.muli %l2, %r2 : i32
      %p3 = arith.muli %l3, %r3 : i32
      %t1 = arith.addi %p0, %p1 : i32
      %t2 = arith.addi %t1, %p2 : i32
      %t3 = arith.addi %t2, %p3 : i32
      %0 = arith.addi %s, %t3 : i32
      gawee.yield %0 : i32
    } finish {
    ^bb0(%a: i32, %b: i32, %s: i32):
      gawee.yield %s : i32
    } schedule #gawee.schedule<loops = [d2 by 11], vector = d1 by 16, tiles = d0 by 16> : memref<32x32xi32>
  func.return
}

// -----

// Five rows are left: they are the last ones of a tile that begins eleven rows before. Of eleven columns no tile is made.
// CHECK-LABEL: func.func @rows_that_are_left_are_in_a_tile_with_others
// CHECK:         %sums = memref.alloca() : memref<1x16x16xi32>
// CHECK:         %[[BEFORE:.*]] = arith.constant -11 : index
// CHECK:         vector.maskedload
// CHECK:         %[[R:.*]] = arith.addi %{{.*}}, %[[BEFORE]] : index
// CHECK:         amx.tile_load %x[%[[R]], %{{.*}}] : memref<21x8xi32> into !amx.tile<16x32xi8>
// CHECK:         amx.tile_muli
// CHECK:         scf.for %[[T:.*]] = %{{.*}} to %c5
// CHECK:           %[[ROW:.*]] = arith.addi %[[T]], %c11
// CHECK:           vector.load %sums{{.*}}[%{{.*}}, %[[ROW]], %{{.*}}]
// CHECK:         amx.tile_muli
// CHECK-NOT:     amx.tile_muli
func.func @rows_that_are_left_are_in_a_tile_with_others(%x: memref<21x8xi32>, %w: memref<8x27xi32>, %y: memref<21x27xi32>) {
  gawee.kernel parallel [21, 27] reduce [8] ins(%x, %w : memref<21x8xi32>, memref<8x27xi32>) outs(%y)
    maps [affine_map<(m, n, k) -> (m, k)>,
    affine_map<(m, n, k) -> (k, n)>,
    affine_map<(m, n, k) -> (m, n)>]
    initial 0 : i32 accumulate {
    ^bb0(%a: i32, %b: i32, %s: i32):
      %c8 = arith.constant 8 : i32
      %c16 = arith.constant 16 : i32
      %c24 = arith.constant 24 : i32
      %a0 = arith.shli %a, %c24 : i32
      %a1 = arith.shli %a, %c16 : i32
      %a2 = arith.shli %a, %c8 : i32
      %b0 = arith.shli %b, %c24 : i32
      %b1 = arith.shli %b, %c16 : i32
      %b2 = arith.shli %b, %c8 : i32
      %l0 = arith.shrui %a0, %c24 : i32
      %l1 = arith.shrui %a1, %c24 : i32
      %l2 = arith.shrui %a2, %c24 : i32
      %l3 = arith.shrui %a, %c24 : i32
      %r0 = arith.shrsi %b0, %c24 : i32
      %r1 = arith.shrsi %b1, %c24 : i32
      %r2 = arith.shrsi %b2, %c24 : i32
      %r3 = arith.shrsi %b, %c24 : i32
      %p0 = arith.muli %l0, %r0 : i32
      %p1 = arith.muli %l1, %r1 : i32
      %p2 = arith.muli %l2, %r2 : i32
      %p3 = arith.muli %l3, %r3 : i32
      %t1 = arith.addi %p0, %p1 : i32
      %t2 = arith.addi %t1, %p2 : i32
      %t3 = arith.addi %t2, %p3 : i32
      %0 = arith.addi %s, %t3 : i32
      gawee.yield %0 : i32
    } finish {
    ^bb0(%a: i32, %b: i32, %s: i32):
      gawee.yield %s : i32
    } schedule #gawee.schedule<loops = [d1 by 16, d0 by 16], vector = d1 by 16, tiles = d0 by 16> : memref<21x27xi32>
  func.return
}

// -----

// The second row of a picture begins nine places behind the first: a tile has seven points of both, and two that are none. Of the last row
// the points are in a tile with those of the one before.
// CHECK-LABEL: func.func @a_tile_goes_on_with_the_next_row
// CHECK:         %sums = memref.alloca() : memref<1x16x16xi32>
// CHECK:         amx.tile_load %x[%{{.*}}, %{{.*}}, %{{.*}}] : memref<6x9x5xi32> into !amx.tile<16x20xi8>
// CHECK:         %[[END:.*]] = arith.addi %{{.*}}, %c9{{.*}} : index
// CHECK:         vector.load %sums{{.*}}[%{{.*}}, %[[END]], %{{.*}}] : memref<1x16x16xi32>, vector<16xi32>
// CHECK:         amx.tile_load %x[%{{.*}}, %{{.*}}, %{{.*}}] : memref<6x9x5xi32> into !amx.tile<16x20xi8>
func.func @a_tile_goes_on_with_the_next_row(%x: memref<6x9x5xi32>, %w: memref<5x16xi32>, %y: memref<5x7x16xi32>) {
  gawee.kernel parallel [5, 7, 16] reduce [5] ins(%x, %w : memref<6x9x5xi32>, memref<5x16xi32>) outs(%y)
    maps [affine_map<(h, w, n, k) -> (h, w + 1, k)>,
    affine_map<(h, w, n, k) -> (k, n)>,
    affine_map<(h, w, n, k) -> (h, w, n)>]
    initial 0 : i32 accumulate {
    ^bb0(%a: i32, %b: i32, %s: i32):
      %c8 = arith.constant 8 : i32
      %c16 = arith.constant 16 : i32
      %c24 = arith.constant 24 : i32
      %a0 = arith.shli %a, %c24 : i32
      %a1 = arith.shli %a, %c16 : i32
      %a2 = arith.shli %a, %c8 : i32
      %b0 = arith.shli %b, %c24 : i32
      %b1 = arith.shli %b, %c16 : i32
      %b2 = arith.shli %b, %c8 : i32
      %l0 = arith.shrui %a0, %c24 : i32
      %l1 = arith.shrui %a1, %c24 : i32
      %l2 = arith.shrui %a2, %c24 : i32
      %l3 = arith.shrui %a, %c24 : i32
      %r0 = arith.shrsi %b0, %c24 : i32
      %r1 = arith.shrsi %b1, %c24 : i32
      %r2 = arith.shrsi %b2, %c24 : i32
      %r3 = arith.shrsi %b, %c24 : i32
      %p0 = arith.muli %l0, %r0 : i32
      %p1 = arith.muli %l1, %r1 : i32
      %p2 = arith.muli %l2, %r2 : i32
      %p3 = arith.muli %l3, %r3 : i32
      %t1 = arith.addi %p0, %p1 : i32
      %t2 = arith.addi %t1, %p2 : i32
      %t3 = arith.addi %t2, %p3 : i32
      %0 = arith.addi %s, %t3 : i32
      gawee.yield %0 : i32
    } finish {
    ^bb0(%a: i32, %b: i32, %s: i32):
      gawee.yield %s : i32
    } schedule #gawee.schedule<loops = [d0 by 2], vector = d2 by 16, tiles = d1 by 16> : memref<5x7x16xi32>
  func.return
}

// -----

// What has the rows is the second factor, rows of which are 7 words further on.
// CHECK-LABEL: func.func @bytes_of_the_other_factor_have_no_sign
// CHECK:         %[[S:.*]] = arith.constant 7 : index
// CHECK:         %[[A:.*]] = amx.tile_load %w[%{{.*}}, %{{.*}}, %{{.*}}], %[[S]] : memref<16x7x1xi32> into !amx.tile<16x20xi8>
// CHECK:         %[[B:.*]] = amx.tile_load %x[%{{.*}}, %{{.*}}] : memref<5x16xi32> into !amx.tile<5x64xi8>
// CHECK:         amx.tile_muli %[[A]], %[[B]] zext
func.func @bytes_of_the_other_factor_have_no_sign(%x: memref<5x16xi32>, %w: memref<16x7x1xi32>, %y: memref<16x16xi32>) {
  gawee.kernel parallel [16, 16] reduce [5] ins(%x, %w : memref<5x16xi32>, memref<16x7x1xi32>) outs(%y)
    maps [affine_map<(m, n, k) -> (k, n)>,
    affine_map<(m, n, k) -> (m, k, 0)>,
    affine_map<(m, n, k) -> (m, n)>]
    initial 0 : i32 accumulate {
    ^bb0(%a: i32, %b: i32, %s: i32):
      %c8 = arith.constant 8 : i32
      %c16 = arith.constant 16 : i32
      %c24 = arith.constant 24 : i32
      %a0 = arith.shli %a, %c24 : i32
      %a1 = arith.shli %a, %c16 : i32
      %a2 = arith.shli %a, %c8 : i32
      %b0 = arith.shli %b, %c24 : i32
      %b1 = arith.shli %b, %c16 : i32
      %b2 = arith.shli %b, %c8 : i32
      %l0 = arith.shrui %a0, %c24 : i32
      %l1 = arith.shrui %a1, %c24 : i32
      %l2 = arith.shrui %a2, %c24 : i32
      %l3 = arith.shrui %a, %c24 : i32
      %r0 = arith.shrsi %b0, %c24 : i32
      %r1 = arith.shrsi %b1, %c24 : i32
      %r2 = arith.shrsi %b2, %c24 : i32
      %r3 = arith.shrsi %b, %c24 : i32
      %p0 = arith.muli %l0, %r0 : i32
      %p1 = arith.muli %l1, %r1 : i32
      %p2 = arith.muli %l2, %r2 : i32
      %p3 = arith.muli %l3, %r3 : i32
      %t1 = arith.addi %p0, %p1 : i32
      %t2 = arith.addi %t1, %p2 : i32
      %t3 = arith.addi %t2, %p3 : i32
      %0 = arith.addi %s, %t3 : i32
      gawee.yield %0 : i32
    } finish {
    ^bb0(%a: i32, %b: i32, %s: i32):
      gawee.yield %s : i32
    } schedule #gawee.schedule<loops = [], vector = d1 by 16, tiles = d0 by 16> : memref<16x16xi32>
  func.return
}

// -----

// The words of a row are not side by side.
// CHECK-LABEL: func.func @factors_that_lie_otherwise_are_vectors
// CHECK-NOT:     amx
// CHECK:         arith.shrui
func.func @factors_that_lie_otherwise_are_vectors(%x: memref<5x16xi32>, %w: memref<5x16xi32>, %y: memref<16x16xi32>) {
  gawee.kernel parallel [16, 16] reduce [5] ins(%x, %w : memref<5x16xi32>, memref<5x16xi32>) outs(%y)
    maps [affine_map<(m, n, k) -> (k, m)>,
    affine_map<(m, n, k) -> (k, n)>,
    affine_map<(m, n, k) -> (m, n)>]
    initial 0 : i32 accumulate {
    ^bb0(%a: i32, %b: i32, %s: i32):
      %c8 = arith.constant 8 : i32
      %c16 = arith.constant 16 : i32
      %c24 = arith.constant 24 : i32
      %a0 = arith.shli %a, %c24 : i32
      %a1 = arith.shli %a, %c16 : i32
      %a2 = arith.shli %a, %c8 : i32
      %b0 = arith.shli %b, %c24 : i32
      %b1 = arith.shli %b, %c16 : i32
      %b2 = arith.shli %b, %c8 : i32
      %l0 = arith.shrui %a0, %c24 : i32
      %l1 = arith.shrui %a1, %c24 : i32
      %l2 = arith.shrui %a2, %c24 : i32
      %l3 = arith.shrui %a, %c24 : i32
      %r0 = arith.shrsi %b0, %c24 : i32
      %r1 = arith.shrsi %b1, %c24 : i32
      %r2 = arith.shrsi %b2, %c24 : i32
      %r3 = arith.shrsi %b, %c24 : i32
      %p0 = arith.muli %l0, %r0 : i32
      %p1 = arith.muli %l1, %r1 : i32
      %p2 = arith.muli %l2, %r2 : i32
      %p3 = arith.muli %l3, %r3 : i32
      %t1 = arith.addi %p0, %p1 : i32
      %t2 = arith.addi %t1, %p2 : i32
      %t3 = arith.addi %t2, %p3 : i32
      %0 = arith.addi %s, %t3 : i32
      gawee.yield %0 : i32
    } finish {
    ^bb0(%a: i32, %b: i32, %s: i32):
      gawee.yield %s : i32
    } schedule #gawee.schedule<loops = [], vector = d1 by 16, tiles = d0 by 16> : memref<16x16xi32>
  func.return
}

// -----

// Rows whose place is a quotient that is found at run time are computed in vectors.
// CHECK-LABEL: func.func private @rows_that_joined_two_dimensions
// CHECK-NOT:     amx
// CHECK:         arith.divui
// CHECK:         vector.store
func.func private @rows_that_joined_two_dimensions(%0: memref<1x1x4x5x4xi32>, %1: memref<4x16xi32>, %2: memref<16x1x1xf32>, %3: memref<1x4x5xi32>, %4: memref<16xi32>, %5: memref<1x1x4x5x16xi8>) {
  gawee.kernel parallel [1, 16, 20] reduce [4, 1, 1] ins(%0, %1, %2, %2, %3, %4 : memref<1x1x4x5x4xi32>, memref<4x16xi32>, memref<16x1x1xf32>, memref<16x1x1xf32>, memref<1x4x5xi32>, memref<16xi32>) outs(%5) maps [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, (d3 floordiv 4), (d2 floordiv 5), (d2 mod 5), (d3 mod 4))>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d1)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, 0, 0)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, 0, 0)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, (d2 floordiv 5), (d2 mod 5))>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d1)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, (d1 floordiv 16), (d2 floordiv 5), (d2 mod 5), (d1 mod 16))>] initial 0 : i32 accumulate {
  ^bb0(%7: i32, %8: i32, %9: f32, %10: f32, %11: i32, %12: i32, %13: i32):
    %14 = arith.constant 24 : i32
    %15 = arith.shli %7, %14 : i32
    %16 = arith.shrui %15, %14 : i32
    %17 = arith.shli %8, %14 : i32
    %18 = arith.shrsi %17, %14 : i32
    %19 = arith.muli %16, %18 : i32
    %20 = arith.constant 16 : i32
    %21 = arith.shli %7, %20 : i32
    %22 = arith.shrui %21, %14 : i32
    %23 = arith.shli %8, %20 : i32
    %24 = arith.shrsi %23, %14 : i32
    %25 = arith.muli %22, %24 : i32
    %26 = arith.addi %19, %25 : i32
    %27 = arith.constant 8 : i32
    %28 = arith.shli %7, %27 : i32
    %29 = arith.shrui %28, %14 : i32
    %30 = arith.shli %8, %27 : i32
    %31 = arith.shrsi %30, %14 : i32
    %32 = arith.muli %29, %31 : i32
    %33 = arith.addi %26, %32 : i32
    %34 = arith.shrui %7, %14 : i32
    %35 = arith.shrsi %8, %14 : i32
    %36 = arith.muli %34, %35 : i32
    %37 = arith.addi %33, %36 : i32
    %38 = arith.addi %13, %37 : i32
    gawee.yield %38 : i32
  } finish {
  ^bb0(%39: i32, %40: i32, %41: f32, %42: f32, %43: i32, %44: i32, %45: i32):
    %46 = arith.constant 69 : i32
    %47 = arith.muli %43, %46 : i32
    %48 = arith.subi %45, %47 : i32
    %49 = arith.constant 24 : i32
    %50 = arith.muli %44, %49 : i32
    %51 = arith.subi %48, %50 : i32
    %52 = arith.sitofp %51 : i32 to f32
    %53 = arith.mulf %52, %41 : f32
    %54 = arith.addf %53, %42 : f32
    %c0.0 = arith.constant 0.000000e+00 : f32
    %55 = arith.maximumf %54, %c0.0 : f32
    %c127.0 = arith.constant 1.270000e+02 : f32
    %56 = arith.minimumf %55, %c127.0 : f32
    %57 = math.roundeven %56 : f32
    %58 = arith.fptosi %57 : f32 to i32
    %59 = arith.trunci %58 : i32 to i8
    gawee.yield %59 : i8
  } schedule #gawee.schedule<loops = [d2 by 16], vector = d1 by 16, tiles = d2 by 16> : memref<1x1x4x5x16xi8>
  func.return
}
