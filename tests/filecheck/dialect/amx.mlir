// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @tiles_of_bytes_are_multiplied
// CHECK:         %a = amx.tile_load %x[%i, %j] : memref<40x24xi32> into !amx.tile<7x64xi8>
// CHECK:         %b = amx.tile_load %y[%j], %s : memref<900xi8> into !amx.tile<16x12xi8>
// CHECK:         %z = amx.tile_zero : !amx.tile<7x3xi32>
// CHECK:         %u = amx.tile_muli %a zext, %b, %z : !amx.tile<7x64xi8>, !amx.tile<16x12xi8>, !amx.tile<7x3xi32>
// CHECK:         %v = amx.tile_muli %a, %b zext, %u : !amx.tile<7x64xi8>, !amx.tile<16x12xi8>, !amx.tile<7x3xi32>
// CHECK:         %w = amx.tile_muli %a, %b, %v {note = "why"} : !amx.tile<7x64xi8>, !amx.tile<16x12xi8>, !amx.tile<7x3xi32>
// CHECK:         amx.tile_store %o[%i, %j], %w : memref<9x5xi32>, !amx.tile<7x3xi32>
// CHECK:         amx.tile_store %o[%i, %j], %w, %s : memref<9x5xi32>, !amx.tile<7x3xi32>
func.func @tiles_of_bytes_are_multiplied(%x: memref<40x24xi32>, %y: memref<900xi8>, %o: memref<9x5xi32>, %i: index, %j: index, %s: index) {
  %a = amx.tile_load %x[%i, %j] : memref<40x24xi32> into !amx.tile<7x64xi8>
  %b = amx.tile_load %y[%j], %s : memref<900xi8> into !amx.tile<16x12xi8>
  %z = amx.tile_zero : !amx.tile<7x3xi32>
  %u = amx.tile_muli %a zext, %b, %z : !amx.tile<7x64xi8>, !amx.tile<16x12xi8>, !amx.tile<7x3xi32>
  %v = amx.tile_muli %a, %b zext, %u : !amx.tile<7x64xi8>, !amx.tile<16x12xi8>, !amx.tile<7x3xi32>
  %w = amx.tile_muli %a, %b, %v {note = "why"} : !amx.tile<7x64xi8>, !amx.tile<16x12xi8>, !amx.tile<7x3xi32>
  amx.tile_store %o[%i, %j], %w : memref<9x5xi32>, !amx.tile<7x3xi32>
  amx.tile_store %o[%i, %j], %w, %s : memref<9x5xi32>, !amx.tile<7x3xi32>
  return
}

// CHECK-LABEL: func.func @loops_carry_tiles_of_floats
// CHECK:         %r = scf.for {{.*}} iter_args(%c = %z) -> (!amx.tile<5x11xf32>) {
// CHECK:           %d = amx.tile_mulf %a, %b, %c : !amx.tile<5x6xbf16>, !amx.tile<3x22xbf16>, !amx.tile<5x11xf32>
func.func @loops_carry_tiles_of_floats(%a: !amx.tile<5x6xbf16>, %b: !amx.tile<3x22xbf16>, %z: !amx.tile<5x11xf32>, %n: index) -> !amx.tile<5x11xf32> {
  %r = scf.for %i = %n to %n step %n iter_args(%c = %z) -> (!amx.tile<5x11xf32>) {
    %d = amx.tile_mulf %a, %b, %c : !amx.tile<5x6xbf16>, !amx.tile<3x22xbf16>, !amx.tile<5x11xf32>
    scf.yield %d : !amx.tile<5x11xf32>
  }
  return %r : !amx.tile<5x11xf32>
}
