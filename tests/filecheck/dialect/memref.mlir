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

// CHECK:       "memref.global"() <{
// CHECK-SAME:  sym_name = "w"
// CHECK-SAME:  dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK:       "memref.global"() <{
// CHECK-SAME:  sym_visibility = "public"
// CHECK-SAME:  initial_value
memref.global "private" constant @w : memref<2xf32> = dense<[1.0, 2.0]> {alignment = 64 : i64}
memref.global @state : memref<3x2xi32> = uninitialized

// CHECK-LABEL: func.func @forms_of_upstream_are_read
// CHECK:       "memref.copy"(%m, %n) : (memref<2xf32>, memref<2xf32, strided<[3]>>) -> ()
// CHECK:       "memref.cast"(%m) : (memref<2xf32>) -> memref<?xf32>
func.func @forms_of_upstream_are_read(%m: memref<2xf32>, %n: memref<2xf32, strided<[3]>>) {
  memref.copy %m, %n : memref<2xf32> to memref<2xf32, strided<[3]>>
  %c = memref.cast %m : memref<2xf32> to memref<?xf32>
  return
}
