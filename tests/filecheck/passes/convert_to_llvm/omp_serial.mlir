// RUN: gawee-opt %s --convert-to-llvm | filecheck %s

// CHECK-LABEL: llvm.func @a_loop_without_a_team_is_a_loop
// CHECK:         llvm.br ^[[LOOP:.*]](%{{.*}} : i64)
// CHECK-NEXT:  ^[[LOOP]](%iteration: i64):
// CHECK:         %j = llvm.urem %iteration, {{%.*}} : i64
// CHECK-NEXT:    [[ROW:%.*]] = llvm.udiv %iteration, {{%.*}} : i64
// CHECK-NEXT:    %i = llvm.add [[ROW]], {{%.*}} overflow<nsw> : i64
// CHECK-NOT:     GOMP
func.func @a_loop_without_a_team_is_a_loop(%v: f32, %y: memref<7x13xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c13 = arith.constant 13 : index
  scf.parallel (%i, %j) = (%c1, %c0) to (%c7, %c13) step (%c1, %c1) {
    memref.store %v, %y[%i, %j] : memref<7x13xf32>
    scf.reduce
  }
  return
}
