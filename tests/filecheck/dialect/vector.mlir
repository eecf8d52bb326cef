// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @a_read_is_masked
// CHECK:         vector.mask %m {
// CHECK-NEXT:      vector.transfer_read %t[%i, %i], %p : tensor<?x?xf32>, vector<4x8xf32>
// CHECK-NEXT:    } : vector<4x8xi1> -> vector<4x8xf32>
func.func @a_read_is_masked(%t: tensor<?x?xf32>, %m: vector<4x8xi1>, %i: index, %p: f32) -> vector<4x8xf32> {
  %0 = vector.mask %m { vector.transfer_read %t[%i, %i], %p : tensor<?x?xf32>, vector<4x8xf32> } : vector<4x8xi1> -> vector<4x8xf32>
  return %0 : vector<4x8xf32>
}

// CHECK-LABEL: func.func @other_lanes_have_a_value_of_their_own
// CHECK:         vector.mask %m, %v {
func.func @other_lanes_have_a_value_of_their_own(%m: vector<8xi1>, %v: vector<8xf32>) -> vector<8xf32> {
  %0 = vector.mask %m, %v { arith.addf %v, %v : vector<8xf32> } : vector<8xi1> -> vector<8xf32>
  return %0 : vector<8xf32>
}

// CHECK-LABEL: func.func @a_write_to_memory_has_no_result
// CHECK:         } : vector<8xi1>{{$}}
func.func @a_write_to_memory_has_no_result(%b: memref<9xf32>, %m: vector<8xi1>, %v: vector<8xf32>, %i: index) {
  vector.mask %m { vector.transfer_write %v, %b[%i] : vector<8xf32>, memref<9xf32> } : vector<8xi1>
  return
}

// CHECK-LABEL: func.func @axes_are_combined
// CHECK:         vector.multi_reduction <maximumf>, %v, %s [0, 2] : vector<2x4x8xf32> to vector<4xf32>
// CHECK:         vector.multi_reduction <add>, %v, %n [0, 1, 2] : vector<2x4x8xf32> to f32
func.func @axes_are_combined(%v: vector<2x4x8xf32>, %s: vector<4xf32>, %n: f32) -> (vector<4xf32>, f32) {
  %0 = vector.multi_reduction <maximumf>, %v, %s [0, 2] : vector<2x4x8xf32> to vector<4xf32>
  %1 = vector.multi_reduction <add>, %v, %n [0, 1, 2] : vector<2x4x8xf32> to f32
  return %0, %1 : vector<4xf32>, f32
}
