// RUN: gawee-opt --lower-affine --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @the_size_of_a_last_tile_is_a_minimum
// CHECK:       %[[FIVE:.*]] = arith.constant 5 : index
// CHECK:       %[[NEGATED:.*]] = arith.muli %i, %{{.*}} : index
// CHECK:       %[[LEFT:.*]] = arith.addi %[[NEGATED]], %{{.*}} : index
// CHECK:       arith.minsi %[[FIVE]], %[[LEFT]] : index
func.func @the_size_of_a_last_tile_is_a_minimum(%i: index) -> index {
  %s = affine.min affine_map<(d0) -> (5, -d0 + 12)>(%i)
  return %s : index
}

// -----

// CHECK-LABEL: func.func @symbols_come_after_dimensions
// CHECK:       %[[SUM:.*]] = arith.addi %i, %n : index
// CHECK:       arith.maxsi %{{.*}}, %[[SUM]] : index
func.func @symbols_come_after_dimensions(%i: index, %n: index) -> index {
  %s = affine.max affine_map<(d0)[s0] -> (0, d0 + s0)>(%i)[%n]
  return %s : index
}

// -----

// CHECK-LABEL: func.func @a_remainder_is_not_negative
// CHECK:       %[[SEVEN:.*]] = arith.constant 7 : index
// CHECK:       %[[QUOTIENT:.*]] = arith.floordivsi %i, %[[SEVEN]] : index
// CHECK:       %[[WHOLE:.*]] = arith.muli %[[QUOTIENT]], %[[SEVEN]] : index
// CHECK:       arith.subi %i, %[[WHOLE]] : index
func.func @a_remainder_is_not_negative(%i: index) -> index {
  %s = affine.apply affine_map<(d0) -> (d0 mod 7)>(%i)
  return %s : index
}

// -----

// CHECK-LABEL: func.func @a_loop_runs_between_the_tightest_bounds
// CHECK:       %[[LOWER:.*]] = arith.maxsi
// CHECK:       %[[UPPER:.*]] = arith.minsi
// CHECK:       scf.for %j = %[[LOWER]] to %[[UPPER]] step %{{.*}} {
// CHECK:         %[[AT:.*]] = arith.addi %j,
// CHECK:         %[[V:.*]] = memref.load %m[%[[AT]]] : memref<40xf32>
// CHECK:         memref.store %[[V]], %m[%j] : memref<40xf32>
// CHECK-NOT:   affine.
func.func @a_loop_runs_between_the_tightest_bounds(%m: memref<40xf32>, %i: index) {
  affine.for %j = max affine_map<(d0) -> (d0, 3)>(%i) to min affine_map<(d0) -> (d0 + 9, 31)>(%i) step 2 {
    %v = affine.load %m[%j + 2] : memref<40xf32>
    affine.store %v, %m[%j] : memref<40xf32>
  }
  return
}

// -----

// CHECK-LABEL: func.func @a_loop_carries_values
// CHECK:       %r = scf.for %i = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%s = %x) -> (f32) {
// CHECK:         scf.yield %{{.*}} : f32
func.func @a_loop_carries_values(%x: f32) -> f32 {
  %r = affine.for %i = 0 to 7 iter_args(%s = %x) -> (f32) {
    %n = arith.addf %s, %s : f32
    affine.yield %n : f32
  }
  return %r : f32
}

// -----

// CHECK-LABEL: func.func @a_condition_is_the_conjunction_of_its_constraints
// CHECK:       arith.cmpi sge, %{{.*}}, %{{.*}} : index
// CHECK:       arith.cmpi eq, %{{.*}}, %{{.*}} : index
// CHECK:       %[[BOTH:.*]] = arith.andi
// CHECK:       scf.if %[[BOTH]] -> (index) {
// CHECK-NEXT:    scf.yield %i : index
// CHECK-NEXT:  } else {
// CHECK-NEXT:    scf.yield %n : index
// CHECK-NOT:   affine.
func.func @a_condition_is_the_conjunction_of_its_constraints(%i: index, %n: index) -> index {
  %r = affine.if affine_set<(d0)[s0] : (d0 - s0 >= 0, d0 == 3)>(%i)[%n] -> index {
    affine.yield %i : index
  } else {
    affine.yield %n : index
  }
  return %r : index
}

// -----

// CHECK-LABEL: func.func @a_parallel_loop_on_vectors
// CHECK:       %[[UPPER:.*]] = arith.minsi
// CHECK:       scf.parallel (%i) = (%{{.*}}) to (%[[UPPER]]) step (%{{.*}}) {
// CHECK:         %[[V:.*]] = vector.load %m[%i] : memref<40xf32>, vector<4xf32>
// CHECK:         vector.store %[[V]], %m[%{{.*}}] : memref<40xf32>, vector<4xf32>
// CHECK:         scf.reduce
// CHECK-NOT:   affine.
func.func @a_parallel_loop_on_vectors(%m: memref<40xf32>, %n: index) {
  "affine.parallel"(%n) <{reductions = [], lowerBoundsMap = affine_map<() -> (0)>, lowerBoundsGroups = dense<1> : tensor<1xi32>,
    upperBoundsMap = affine_map<(d0) -> (16, d0)>, upperBoundsGroups = dense<2> : tensor<1xi32>, steps = [4 : i64]}> ({
  ^bb0(%i: index):
    %v = affine.vector_load %m[%i] : memref<40xf32>, vector<4xf32>
    affine.vector_store %v, %m[%i + 20] : memref<40xf32>, vector<4xf32>
    "affine.yield"() : () -> ()
  }) : (index) -> ()
  return
}
