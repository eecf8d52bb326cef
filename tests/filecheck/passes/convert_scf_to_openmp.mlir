// RUN: gawee-opt %s --convert-scf-to-openmp --split-input-file | filecheck %s

// CHECK-LABEL: func.func @a_nest_is_one_space_of_iterations
// CHECK:         "omp.parallel"()
// CHECK-NEXT:      "omp.wsloop"()
// CHECK-NEXT:        "omp.loop_nest"(%c0, %c1, %c7, %c13, %c1, %c2) <{collapse_num_loops = 2 : i64}> ({
// CHECK-NEXT:        ^{{.*}}(%i: index, %j: index):
// CHECK-NEXT:          memref.store %v, %y[%i, %j] : memref<7x13xf32>
// CHECK-NEXT:          omp.yield
// CHECK:           "omp.terminator"()
func.func @a_nest_is_one_space_of_iterations(%v: f32, %y: memref<7x13xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %c13 = arith.constant 13 : index
  scf.parallel (%i, %j) = (%c0, %c1) to (%c7, %c13) step (%c1, %c2) {
    memref.store %v, %y[%i, %j] : memref<7x13xf32>
    scf.reduce
  }
  return
}

// -----

// CHECK-LABEL: func.func @a_loop_inside_stays
// CHECK:         "omp.loop_nest"(%a, %b, %c) ({
// CHECK:           scf.for
// CHECK-NEXT:        scf.parallel (%k) = (%a) to (%b) step (%c)
// CHECK-NOT:     "omp.loop_nest"
func.func @a_loop_inside_stays(%a: index, %b: index, %c: index, %v: f32, %y: memref<9xf32>) {
  scf.parallel (%i) = (%a) to (%b) step (%c) {
    scf.for %j = %a to %b step %c {
      scf.parallel (%k) = (%a) to (%b) step (%c) {
        memref.store %v, %y[%k] : memref<9xf32>
        scf.reduce
      }
    }
    scf.reduce
  }
  return
}

// -----

// CHECK-LABEL: func.func @a_reduction_stays
// CHECK:         scf.parallel
// CHECK-NOT:     omp
func.func @a_reduction_stays(%a: index, %b: index, %c: index, %x: f32) -> f32 {
  %r = scf.parallel (%i) = (%a) to (%b) step (%c) init (%x) -> f32 {
    scf.reduce(%x : f32) {
    ^bb0(%l: f32, %m: f32):
      %t = arith.addf %l, %m : f32
      scf.reduce.return %t : f32
    }
  }
  return %r : f32
}
