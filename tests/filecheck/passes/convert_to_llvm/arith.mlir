// RUN: gawee-opt %s --convert-to-llvm --split-input-file | filecheck %s

// CHECK-LABEL: llvm.func @constants_are_made_once_and_indices_are_i64
// CHECK-COUNT-1: llvm.mlir.constant(7) : i64
// CHECK-NOT:     llvm.mlir.constant(7)
// CHECK:         llvm.add %b, %b : i64
// CHECK:         llvm.mul %n, %n overflow<nsw> : i64
func.func @constants_are_made_once_and_indices_are_i64(%n: index) {
  %a = arith.constant 7 : index
  %b = arith.constant 7 : i64
  %c = arith.index_cast %a : index to i64
  %d = arith.addi %c, %b : i64
  %e = arith.muli %n, %n overflow<nsw> : index
  %f = arith.index_cast %e : index to i32
  return
}

// -----

// CHECK-LABEL: llvm.func @extremes_keep_their_meaning_of_nan
// CHECK:         llvm.intr.maximum(%x, %y) : (f32, f32) -> f32
// CHECK-NEXT:    llvm.intr.minimum(%x, %y) : (f32, f32) -> f32
// CHECK-NEXT:    llvm.intr.maxnum(%x, %y) : (f32, f32) -> f32
// CHECK-NEXT:    llvm.intr.minnum(%x, %y) : (f32, f32) -> f32
// CHECK-NEXT:    llvm.fcmp "ugt" %x, %y : f32
func.func @extremes_keep_their_meaning_of_nan(%x: f32, %y: f32) {
  %a = arith.maximumf %x, %y : f32
  %b = arith.minimumf %x, %y : f32
  %c = arith.maxnumf %x, %y : f32
  %d = arith.minnumf %x, %y : f32
  %e = arith.cmpf ugt, %x, %y : f32
  return
}

// -----

// CHECK-LABEL: llvm.func @casts_go_by_width
// CHECK:         llvm.trunc %i : i64 to i32
// CHECK-NEXT:    llvm.sext %n : i8 to i64
// CHECK-NEXT:    llvm.fpext %h : f16 to f32
// CHECK-NEXT:    llvm.uitofp %n : i8 to f16
// CHECK-NEXT:    llvm.fptosi %h : f16 to i8
func.func @casts_go_by_width(%i: index, %n: i8, %h: f16) {
  %a = arith.index_cast %i : index to i32
  %b = arith.index_cast %n : i8 to index
  %c = arith.extf %h : f16 to f32
  %d = arith.uitofp %n : i8 to f16
  %e = arith.fptosi %h : f16 to i8
  return
}

// -----

// CHECK-LABEL: llvm.func @remainders_of_floats_are_one_op
// CHECK:         llvm.frem %x, %y : f32
func.func @remainders_of_floats_are_one_op(%x: f32, %y: f32) {
  %a = arith.remf %x, %y : f32
  return
}

// -----

// CHECK-LABEL: llvm.func @an_index_is_computed_in_front_of_loops_that_it_does_not_depend_on
// CHECK:         llvm.cond_br
// CHECK:         %q = llvm.udiv %i, {{%.*}} : i64
// CHECK-NEXT:    %n = llvm.mul %q, {{%.*}} : i64
// CHECK-NEXT:    llvm.br
// CHECK:         llvm.add %n, %j : i64
func.func @an_index_is_computed_in_front_of_loops_that_it_does_not_depend_on(%m: memref<9xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %q = arith.divui %i, %c4 : index
      %n = arith.muli %q, %c4 : index
      %s = arith.addi %n, %j : index
      %v = arith.index_cast %s : index to i64
      memref.store %v, %m[%j] : memref<9xi64>
    }
  }
  return
}

// -----

// A division by what is not known may trap: it stays where it is.
// CHECK-LABEL: llvm.func @a_division_that_may_trap_is_not_moved
// CHECK:         llvm.cond_br
// CHECK:         %q = llvm.udiv %n, %n : i64
// CHECK:         llvm.return
func.func @a_division_that_may_trap_is_not_moved(%m: memref<9xi64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %j = %c0 to %c4 step %c1 {
    %q = arith.divui %n, %n : index
    %v = arith.index_cast %q : index to i64
    memref.store %v, %m[%j] : memref<9xi64>
  }
  return
}
