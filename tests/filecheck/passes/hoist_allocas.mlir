// RUN: gawee-opt --hoist-allocas %s | filecheck %s

// CHECK-LABEL: func.func @one_buffer_does_for_all_iterations
// CHECK:       %[[A:.*]] = memref.alloca() : memref<4xf32>
// CHECK-NEXT:  scf.for
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      memref.store %x, %[[A]][%i]
func.func @one_buffer_does_for_all_iterations(%x: f32, %n: index, %s: index) {
  scf.for %i = %n to %n step %s {
    scf.for %j = %n to %n step %s {
      %a = memref.alloca() : memref<4xf32>
      memref.store %x, %a[%i] : memref<4xf32>
    }
  }
  return
}

// CHECK-LABEL: func.func @a_buffer_belongs_to_its_parallel_iteration
// CHECK:       scf.parallel
// CHECK-NEXT:    memref.alloca() : memref<4xf32>
// CHECK-NEXT:    scf.for
func.func @a_buffer_belongs_to_its_parallel_iteration(%x: f32, %n: index, %s: index) {
  scf.parallel (%i) = (%n) to (%n) step (%s) {
    scf.for %j = %n to %n step %s {
      %a = memref.alloca() : memref<4xf32>
      memref.store %x, %a[%j] : memref<4xf32>
    }
    scf.reduce
  }
  return
}
