// RUN: gawee-opt --verify-diagnostics --split-input-file %s | filecheck %s

// TileType C1: elements
// CHECK: error: {{.*}}expected i8, bf16, i32 or f32, got 'f64'
func.func private @doubles(!amx.tile<3x8xf64>)

// -----

// TileType C2: rows
// CHECK: error: {{.*}}expected 1 to 16 rows, got 17
func.func private @a_row_too_many(!amx.tile<17x64xi8>)

// -----

// TileType C3: rows of words
// CHECK: error: {{.*}}expected rows of 4, 8, .. 64 bytes, got 7
func.func private @a_part_of_a_word(!amx.tile<3x7xi8>)

// -----

// TileType C3: rows of words
// CHECK: error: {{.*}}expected rows of 4, 8, .. 64 bytes, got 68
func.func private @a_row_that_is_too_long(!amx.tile<3x34xbf16>)

// -----

// CHECK: error: {{.*}}expected rows and columns, as in 16x64xi8
func.func private @a_row_alone(!amx.tile<64xi8>)

// -----

// TileLoadOp C1: an index for each dimension
// CHECK: error: 'amx.tile_load' op expected 2 indices, got 1
func.func @an_index_too_few(%m: memref<4x16xi32>, %i: index) {
  %t = amx.tile_load %m[%i] : memref<4x16xi32> into !amx.tile<3x64xi8>
  return
}

// -----

// TileStoreOp C1: an index for each dimension
// CHECK: error: 'amx.tile_store' op expected 1 indices, got 2
func.func @an_index_too_many(%m: memref<40xi32>, %i: index, %t: !amx.tile<3x64xi8>) {
  amx.tile_store %m[%i, %i], %t : memref<40xi32>, !amx.tile<3x64xi8>
  return
}

// -----

// CHECK: error: 'amx.tile_store' op expected a memref of rank 1 at least, got 0
func.func @a_scalar(%m: memref<i32>, %t: !amx.tile<3x64xi8>) {
  amx.tile_store %m[], %t : memref<i32>, !amx.tile<3x64xi8>
  return
}

// -----

// TileMulIOp C1: types
// CHECK: error: 'amx.tile_muli' op expected factors of i8, got '!amx.tile<3x8xbf16>' and '!amx.tile<4x20xi8>'
func.func @a_factor_of_floats(%a: !amx.tile<3x8xbf16>, %b: !amx.tile<4x20xi8>, %c: !amx.tile<3x5xi32>) {
  %0 = amx.tile_muli %a, %b, %c : !amx.tile<3x8xbf16>, !amx.tile<4x20xi8>, !amx.tile<3x5xi32>
  return
}

// -----

// TileMulFOp C1: types
// CHECK: error: 'amx.tile_mulf' op expected sums of f32, got '!amx.tile<3x5xi32>'
func.func @sums_of_integers(%a: !amx.tile<3x8xbf16>, %b: !amx.tile<4x10xbf16>, %c: !amx.tile<3x5xi32>) {
  %0 = amx.tile_mulf %a, %b, %c : !amx.tile<3x8xbf16>, !amx.tile<4x10xbf16>, !amx.tile<3x5xi32>
  return
}

// -----

// TileMulIOp C2: sizes
// CHECK: error: 'amx.tile_muli' op expected tiles m x k, k x n and m x n, got '!amx.tile<3x16xi8>', '!amx.tile<5x20xi8>' and '!amx.tile<3x5xi32>'
func.func @other_words(%a: !amx.tile<3x16xi8>, %b: !amx.tile<5x20xi8>, %c: !amx.tile<3x5xi32>) {
  %0 = amx.tile_muli %a, %b, %c : !amx.tile<3x16xi8>, !amx.tile<5x20xi8>, !amx.tile<3x5xi32>
  return
}

// -----

// TileMulFOp C2: sizes
// CHECK: error: 'amx.tile_mulf' op expected tiles m x k, k x n and m x n, got '!amx.tile<3x8xbf16>', '!amx.tile<4x10xbf16>' and '!amx.tile<2x5xf32>'
func.func @other_rows(%a: !amx.tile<3x8xbf16>, %b: !amx.tile<4x10xbf16>, %c: !amx.tile<2x5xf32>) {
  %0 = amx.tile_mulf %a, %b, %c : !amx.tile<3x8xbf16>, !amx.tile<4x10xbf16>, !amx.tile<2x5xf32>
  return
}
