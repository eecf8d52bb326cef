// RUN: gawee-opt --cse --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @what_is_computed_twice_is_computed_once
// CHECK:       %[[SUM:.*]] = arith.addi %i, %j : index
// CHECK-NEXT:  arith.muli %[[SUM]], %[[SUM]] : index
func.func @what_is_computed_twice_is_computed_once(%i: index, %j: index) -> index {
  %a = arith.addi %i, %j : index
  %b = arith.addi %i, %j : index
  %c = arith.muli %a, %b : index
  return %c : index
}

// -----

// CHECK-LABEL: func.func @a_read_behind_a_write_stays
// CHECK:       %[[FIRST:.*]] = memref.load %m[%i] : memref<7xf32>
// CHECK-NEXT:  memref.store %[[FIRST]], %m[%j] : memref<7xf32>
// CHECK-NEXT:  %[[LATER:.*]] = memref.load %m[%i] : memref<7xf32>
// CHECK-NEXT:  arith.addf %[[LATER]], %[[LATER]] : f32
func.func @a_read_behind_a_write_stays(%m: memref<7xf32>, %i: index, %j: index) -> f32 {
  %a = memref.load %m[%i] : memref<7xf32>
  memref.store %a, %m[%j] : memref<7xf32>
  %b = memref.load %m[%i] : memref<7xf32>
  %c = memref.load %m[%i] : memref<7xf32>
  %d = arith.addf %b, %c : f32
  return %d : f32
}

// -----

// CHECK-LABEL: func.func @what_is_inside_a_loop_is_not_seen_behind_it
// CHECK:       scf.for
// CHECK-NEXT:    %[[INSIDE:.*]] = arith.muli %i, %i : index
// CHECK:       %[[BEHIND:.*]] = arith.muli %i, %i : index
// CHECK-NEXT:  return %[[BEHIND]] : index
func.func @what_is_inside_a_loop_is_not_seen_behind_it(%m: memref<5xindex>, %i: index) -> index {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %five = arith.constant 5 : index
  scf.for %k = %zero to %five step %one {
    %a = arith.muli %i, %i : index
    memref.store %a, %m[%k] : memref<5xindex>
  }
  %b = arith.muli %i, %i : index
  return %b : index
}
