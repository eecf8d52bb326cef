// RUN: gawee-opt %s --convert-to-llvm --split-input-file --verify-diagnostics | filecheck %s

// CHECK: error: 'omp.wsloop' op cannot be removed by convert-to-llvm: expected 'omp.parallel' around it
func.func @a_shared_loop_needs_a_team(%a: index) {
  "omp.wsloop"() <{operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0>}> ({
    "omp.loop_nest"(%a, %a, %a) ({
    ^bb0(%i: index):
      omp.yield
    }) : (index, index, index) -> ()
  }) : () -> ()
  return
}

// -----

// CHECK: error: 'omp.wsloop' op cannot be removed by convert-to-llvm: unsupported schedule 'dynamic'; supported: static
func.func @the_schedule_is_static(%a: index) {
  "omp.parallel"() <{operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0>}> ({
    "omp.wsloop"() <{operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0>, schedule_kind = #omp<schedulekind dynamic>}> ({
      "omp.loop_nest"(%a, %a, %a) ({
      ^bb0(%i: index):
        omp.yield
      }) : (index, index, index) -> ()
    }) : () -> ()
    "omp.terminator"() : () -> ()
  }) : () -> ()
  return
}

// -----

// CHECK: error: 'omp.parallel' op cannot be removed by convert-to-llvm: expected no clause with values, got 1
func.func @the_number_of_threads_is_the_callers(%a: index) {
  "omp.parallel"(%a) <{operandSegmentSizes = array<i32: 0, 0, 0, 1, 0, 0>}> ({
    "omp.terminator"() : () -> ()
  }) : (index) -> ()
  return
}

// -----

// CHECK: error: 'scf.parallel' op cannot be removed by convert-to-llvm: expected no reductions, got 1
func.func @there_are_no_reductions(%a: index, %x: f32) -> f32 {
  %r = scf.parallel (%i) = (%a) to (%a) step (%a) init (%x) -> f32 {
    scf.reduce(%x : f32) {
    ^bb0(%l: f32, %m: f32):
      scf.reduce.return %l : f32
    }
  }
  return %r : f32
}
