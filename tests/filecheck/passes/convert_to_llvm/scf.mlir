// RUN: gawee-opt %s --convert-to-llvm --split-input-file | filecheck %s

// CHECK-LABEL: llvm.func @loops_carry_values_as_block_arguments
// CHECK:         llvm.br ^[[HEAD:.*]](%lower, %zero : i64, f32)
// CHECK-NEXT:  ^[[HEAD]](%i: i64, %acc: f32):
// CHECK-NEXT:    [[MORE:%.*]] = llvm.icmp "slt" %i, %upper : i64
// CHECK-NEXT:    llvm.cond_br [[MORE]], ^[[BODY:.*]], ^[[DONE:.*]]
// CHECK-NEXT:  ^[[BODY]]:
// CHECK:         [[NEXT:%.*]] = llvm.add %i, %step overflow<nsw> : i64
// CHECK-NEXT:    llvm.br ^[[HEAD]]([[NEXT]], %sum : i64, f32)
func.func @loops_carry_values_as_block_arguments(%x: memref<9xf32>, %y: memref<f32>) {
  %lower = arith.constant 1 : index
  %upper = arith.constant 9 : index
  %step = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %total = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> (f32) {
    %v = memref.load %x[%i] : memref<9xf32>
    %sum = arith.addf %acc, %v : f32
    scf.yield %sum : f32
  }
  memref.store %total, %y[] : memref<f32>
  return
}

// -----

// An unknown bound may be so large that the last sum wraps.
// CHECK-LABEL: llvm.func @unknown_bounds_promise_nothing
// CHECK:         llvm.add %i, {{%.*}} : i64
// CHECK-NEXT:    llvm.br ^{{.*}}{loop_annotation = #llvm.loop_annotation<unroll = <count = 4 : i32>>}
func.func @unknown_bounds_promise_nothing(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
  } {loop_annotation = #llvm.loop_annotation<unroll = <count = 4 : i32>>}
  return
}

// -----

// CHECK-LABEL: llvm.func @branches_meet_in_a_block_with_the_results
// CHECK:         llvm.cond_br %c, ^[[THEN:.*]], ^[[ELSE:.*]]
// CHECK-NEXT:  ^[[THEN]]:
// CHECK-NEXT:    llvm.br ^[[MERGE:.*]](%a : i32)
// CHECK-NEXT:  ^[[ELSE]]:
// CHECK-NEXT:    llvm.br ^[[MERGE]](%b : i32)
// CHECK-NEXT:  ^[[MERGE]](%r: i32):
func.func @branches_meet_in_a_block_with_the_results(%c: i1, %a: i32, %b: i32, %y: memref<i32>) {
  %r = scf.if %c -> (i32) {
    scf.yield %a : i32
  } else {
    scf.yield %b : i32
  }
  scf.if %c {
    memref.store %r, %y[] : memref<i32>
  }
  return
}

// -----

// CHECK-LABEL: llvm.func @elements_at_read_positions_are_moved_one_by_one
// CHECK:         llvm.br ^{{.*}}{loop_annotation = #llvm.loop_annotation<vectorize = <disable = true>, unroll = <count = 8 : i32>>}
func.func @elements_at_read_positions_are_moved_one_by_one(%x: memref<9xf32>, %at: memref<5xi32>, %y: memref<5xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  scf.for %i = %c0 to %c5 step %c1 {
    %position = memref.load %at[%i] : memref<5xi32>
    %index = arith.index_cast %position : i32 to index
    %v = memref.load %x[%index] : memref<9xf32>
    memref.store %v, %y[%i] : memref<5xf32>
  }
  return
}

// -----

// CHECK-LABEL: llvm.func @loops_that_compute_are_left_to_llvm
// CHECK-NOT:     loop_annotation
func.func @loops_that_compute_are_left_to_llvm(%x: memref<9xf32>, %at: memref<5xi32>, %y: memref<5xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  scf.for %i = %c0 to %c5 step %c1 {
    %position = memref.load %at[%i] : memref<5xi32>
    %index = arith.index_cast %position : i32 to index
    %v = memref.load %x[%index] : memref<9xf32>
    %root = math.sqrt %v : f32
    memref.store %root, %y[%i] : memref<5xf32>
  }
  return
}

// -----

// CHECK-LABEL: llvm.func @a_while_loop_tests_then_runs
// CHECK:         llvm.br ^[[TEST:.*]](%one : i32)
// CHECK-NEXT:  ^[[TEST]](%i: i32):
// CHECK-NEXT:    %c = llvm.icmp "slt" %i, %n : i32
// CHECK-NEXT:    llvm.cond_br %c, ^[[BODY:.*]](%i : i32), ^[[DONE:.*]](%i : i32)
// CHECK-NEXT:  ^[[BODY]](%j: i32):
// CHECK-NEXT:    %k = llvm.add %j, %j : i32
// CHECK-NEXT:    llvm.br ^[[TEST]](%k : i32)
// CHECK-NEXT:  ^[[DONE]](%r: i32):
// CHECK-NEXT:    llvm.return %r : i32
func.func @a_while_loop_tests_then_runs(%n: i32) -> i32 {
  %one = arith.constant 1 : i32
  %r = scf.while (%i = %one) : (i32) -> i32 {
    %c = arith.cmpi slt, %i, %n : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%j: i32):
    %k = arith.addi %j, %j : i32
    scf.yield %k : i32
  }
  func.return %r : i32
}
