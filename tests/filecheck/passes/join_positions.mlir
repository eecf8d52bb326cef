// RUN: gawee-opt -p 'join-positions{target=haswell}' --split-input-file %s | filecheck %s
// RUN: gawee-opt -p 'join-positions{target=skylake-avx512}' --split-input-file %s | filecheck %s --check-prefix WIDE

// With 16 registers 7 columns are a tile of 5 and one of 2, which waits: 49 positions are not. With
// 32 registers 7 columns are one tile.
// CHECK-LABEL: func.func @rows_of_seven_columns_are_joined
// CHECK:         gawee.kernel parallel [1, 64, 49] reduce [32] ins(%x, %w : tensor<1x4x7x7x8xf32>, tensor<64x32xf32>)
// CHECK-SAME:      maps [affine_map<(d0, d1, d2, d3) -> (d0, (d3 floordiv 8), (d2 floordiv 7), (d2 mod 7), (d3 mod 8))>,
// CHECK-SAME:      affine_map<(d0, d1, d2, d3) -> (d1, d3)>,
// CHECK-SAME:      affine_map<(d0, d1, d2, d3) -> (d0, (d1 floordiv 8), ((d2 floordiv 7) + 1), ((d2 mod 7) + 1), (d1 mod 8))>]
// WIDE-LABEL:  func.func @rows_of_seven_columns_are_joined
// WIDE:          gawee.kernel parallel [1, 64, 7, 7] reduce [32]
func.func @rows_of_seven_columns_are_joined(%x: tensor<1x4x7x7x8xf32>, %w: tensor<64x32xf32> {gawee.parameter = "w"}) -> tensor<1x8x9x9x8xf32> {
  %y = gawee.kernel parallel [1, 64, 7, 7] reduce [32] ins(%x, %w : tensor<1x4x7x7x8xf32>, tensor<64x32xf32>)
    maps [affine_map<(n, f, h, w, c) -> (n, c floordiv 8, h, w, c mod 8)>,
    affine_map<(n, f, h, w, c) -> (f, c)>,
    affine_map<(n, f, h, w, c) -> (n, f floordiv 8, h + 1, w + 1, f mod 8)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<1x8x9x9x8xf32>
  func.return %y : tensor<1x8x9x9x8xf32>
}

// -----

// CHECK-LABEL: func.func @windows_divide
// CHECK:         gawee.kernel parallel [1, 64, 49] reduce [32, 3, 3] ins(%x, %w :
// CHECK-SAME:      maps [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, (d3 floordiv 8), (((d2 floordiv 7) * 2) + d4), (((d2 mod 7) * 2) + d5), (d3 mod 8))>,
func.func @windows_divide(%x: tensor<1x4x15x15x8xf32>, %w: tensor<64x32x3x3xf32> {gawee.parameter = "w"}) -> tensor<1x8x7x7x8xf32> {
  %y = gawee.kernel parallel [1, 64, 7, 7] reduce [32, 3, 3] ins(%x, %w : tensor<1x4x15x15x8xf32>, tensor<64x32x3x3xf32>)
    maps [affine_map<(n, f, h, w, c, i, j) -> (n, c floordiv 8, h * 2 + i, w * 2 + j, c mod 8)>,
    affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>,
    affine_map<(n, f, h, w, c, i, j) -> (n, f floordiv 8, h, w, f mod 8)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<1x8x7x7x8xf32>
  func.return %y : tensor<1x8x7x7x8xf32>
}

// -----

// Columns that lie side by side may be what a vector is along.
// CHECK-LABEL: func.func @columns_side_by_side_stay
// CHECK:         gawee.kernel parallel [1, 64, 7, 7] reduce [32]
func.func @columns_side_by_side_stay(%x: tensor<1x32x7x7xf32>, %w: tensor<64x32xf32> {gawee.parameter = "w"}) -> tensor<1x64x7x7xf32> {
  %y = gawee.kernel parallel [1, 64, 7, 7] reduce [32] ins(%x, %w : tensor<1x32x7x7xf32>, tensor<64x32xf32>)
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
  } : tensor<1x64x7x7xf32>
  func.return %y : tensor<1x64x7x7xf32>
}

// -----

// 28 columns are four tiles of 6 and one of 4, which is as good as full.
// CHECK-LABEL: func.func @long_rows_stay
// CHECK:         gawee.kernel parallel [1, 64, 28, 28] reduce [32]
func.func @long_rows_stay(%x: tensor<1x4x28x28x8xf32>, %w: tensor<64x32xf32> {gawee.parameter = "w"}) -> tensor<1x8x28x28x8xf32> {
  %y = gawee.kernel parallel [1, 64, 28, 28] reduce [32] ins(%x, %w : tensor<1x4x28x28x8xf32>, tensor<64x32xf32>)
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
  } : tensor<1x8x28x28x8xf32>
  func.return %y : tensor<1x8x28x28x8xf32>
}

// -----

// CHECK-LABEL: func.func @a_sum_of_all_products_stays
// CHECK:         gawee.kernel parallel [] reduce [32]
func.func @a_sum_of_all_products_stays(%x: tensor<32xf32>, %w: tensor<32xf32> {gawee.parameter = "w"}) -> tensor<f32> {
  %y = gawee.kernel parallel [] reduce [32] ins(%x, %w : tensor<32xf32>, tensor<32xf32>)
    maps [affine_map<(c) -> (c)>, affine_map<(c) -> (c)>, affine_map<(c) -> ()>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<f32>
  func.return %y : tensor<f32>
}
