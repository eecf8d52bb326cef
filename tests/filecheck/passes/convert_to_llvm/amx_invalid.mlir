// RUN: gawee-opt -p 'convert-to-llvm{target=znver5}' --verify-diagnostics --split-input-file %s | filecheck %s

// CHECK: error: 'amx.tile_muli' op cannot be removed by convert-to-llvm: expected a target that multiplies such tiles, got 'znver5'
func.func @no_tiles(%m: memref<4x20xi32>) {
  %c0 = arith.constant 0 : index
  %a = amx.tile_zero : !amx.tile<4x64xi8>
  %b = amx.tile_zero : !amx.tile<16x64xi8>
  %c = amx.tile_zero : !amx.tile<4x16xi32>
  %0 = amx.tile_muli %a, %b, %c : !amx.tile<4x64xi8>, !amx.tile<16x64xi8>, !amx.tile<4x16xi32>
  amx.tile_store %m[%c0, %c0], %0 : memref<4x20xi32>, !amx.tile<4x16xi32>
  return
}

// -----

// CHECK: error: 'memref.alloca' op cannot be removed by convert-to-llvm: unsupported element type '!amx.tile<4x64xi8>'
func.func @tiles_have_no_place_in_memory() {
  %m = memref.alloca() : memref<2x!amx.tile<4x64xi8>>
  return
}
