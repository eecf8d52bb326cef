// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @a_cache_line_is_fetched_before_it_is_read
// CHECK:         memref.prefetch %m[%i, %j], read, locality<2>, data : memref<4x7xf32, strided<[7, 1], offset: ?>>
func.func @a_cache_line_is_fetched_before_it_is_read(%m: memref<4x7xf32, strided<[7, 1], offset: ?>>, %i: index, %j: index) {
  memref.prefetch %m[%i, %j], read, locality<2>, data : memref<4x7xf32, strided<[7, 1], offset: ?>>
  return
}

// CHECK-LABEL: func.func @another_line_and_attributes
// CHECK:         memref.prefetch %m[], write, locality<0>, instr {note = "why"} : memref<f64>
func.func @another_line_and_attributes(%m: memref<f64>) {
  memref.prefetch %m[], write, locality<0>, instr {note = "why"} : memref<f64>
  return
}

// CHECK-LABEL: func.func @a_place_outside_is_allowed
// CHECK:         memref.prefetch %m[%c9], read, locality<3>, data : memref<5xi8>
func.func @a_place_outside_is_allowed(%m: memref<5xi8>) {
  %c9 = arith.constant 9 : index
  memref.prefetch %m[%c9], read, locality<3>, data : memref<5xi8>
  return
}
