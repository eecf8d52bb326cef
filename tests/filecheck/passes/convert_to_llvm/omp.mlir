// RUN: gawee-opt %s --convert-scf-to-openmp --convert-to-llvm --split-input-file | filecheck %s

// What a region uses is an argument: pointers that do not overlap, numbers; constants and views
// are computed again.
// CHECK-LABEL: llvm.func internal @captures_parallel_0
// CHECK-SAME:    (%n: i64, %x: !llvm.ptr {llvm.noalias, llvm.align = 4 : i64, {{.*}}llvm.readonly}, %s: f32, %w: !llvm.ptr {llvm.noalias, llvm.align = 64 : i64, {{.*}}}, %thread: i64, %threads: i64)
// CHECK:         %view = llvm.getelementptr inbounds %w
// CHECK:         llvm.br ^[[LOOP:.*]]({{%.*}} : i64)
// CHECK-NEXT:  ^[[LOOP]](%iteration: i64):
// CHECK-LABEL: llvm.func internal @captures_parallel_0_team(%captured: !llvm.ptr)
// CHECK:         llvm.call @omp_get_thread_num() : () -> i32
// CHECK:         llvm.call @captures_parallel_0
func.func @captures(%x: memref<9xf32>, %n: index, %s: f32, %w: memref<256xi8> {gawee.workspace}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %view = memref.view %w[%c128][] : memref<256xi8> to memref<9xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%i] : memref<9xf32>
    %p = arith.mulf %v, %s : f32
    memref.store %p, %view[%i] : memref<9xf32>
    scf.reduce
  }
  return
}

// -----

// A vector of one constant is no argument: it would hold a register that a tile needs.
// CHECK-LABEL: llvm.func internal @a_constant_vector_is_made_inside_parallel_0
// CHECK-SAME:    (%y: !llvm.ptr {{{[^%]*}}}, %thread: i64, %threads: i64)
// CHECK:         llvm.mlir.constant(dense<0.000000e+00> : vector<4xf32>) : vector<4xf32>
func.func @a_constant_vector_is_made_inside(%y: memref<12xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c12 = arith.constant 12 : index
  %zero = arith.constant 0.0 : f32
  %zeros = vector.broadcast %zero : f32 to vector<4xf32>
  scf.parallel (%i) = (%c0) to (%c12) step (%c4) {
    vector.store %zeros, %y[%i] : memref<12xf32>, vector<4xf32>
    scf.reduce
  }
  return
}

// -----

// CHECK-LABEL: llvm.func @a_team_of_one_is_a_call
// CHECK:         [[SIZE:%.*]] = llvm.call @omp_get_max_threads() : () -> i32
// CHECK:         [[ALONE:%.*]] = llvm.icmp "eq" [[SIZE]], {{%.*}} : i32
// CHECK-NEXT:    llvm.cond_br [[ALONE]], ^[[ONE:.*]], ^[[SEVERAL:.*]]
// CHECK-NEXT:  ^[[ONE]]:
// CHECK-NEXT:    llvm.call @a_team_of_one_is_a_call_parallel_0(%y{{.*}}, {{%.*}}, {{%.*}})
// CHECK:       ^[[SEVERAL]]:
// CHECK:         llvm.call @GOMP_parallel
func.func @a_team_of_one_is_a_call(%y: memref<9xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i) = (%c0) to (%c9) step (%c1) {
    memref.store %zero, %y[%i] : memref<9xf32>
    scf.reduce
  }
  return
}

// -----

// A stack buffer of the region belongs to the thread; one from outside is shared.
// CHECK-LABEL: llvm.func internal @stack_buffers_parallel_0
// CHECK-SAME:    (%shared: !llvm.ptr {llvm.noalias, llvm.align = 64 : i64
// CHECK:         %own = llvm.alloca
// CHECK-LABEL: llvm.func @stack_buffers()
// CHECK:         %shared{{.*}} = llvm.alloca
func.func @stack_buffers() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f32
  %shared = memref.alloca() : memref<9xf32>
  scf.parallel (%i) = (%c0) to (%c9) step (%c1) {
    %own = memref.alloca() : memref<3xf32>
    memref.store %zero, %own[%c0] : memref<3xf32>
    memref.store %zero, %shared[%i] : memref<9xf32>
    scf.reduce
  }
  return
}

// -----

// A memref that may be either of two others overlaps them, so nothing is promised.
// CHECK-LABEL: llvm.func internal @one_of_two_parallel_0
// CHECK-NOT:     llvm.noalias
// CHECK-LABEL: llvm.func internal @one_of_two_parallel_0_team
func.func @one_of_two(%x: memref<9xf32>, %y: memref<9xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %either = scf.if %c -> (memref<9xf32>) {
    scf.yield %x : memref<9xf32>
  } else {
    scf.yield %y : memref<9xf32>
  }
  scf.parallel (%i) = (%c0) to (%c9) step (%c1) {
    %v = memref.load %either[%i] : memref<9xf32>
    memref.store %v, %x[%i] : memref<9xf32>
    scf.reduce
  }
  return
}
