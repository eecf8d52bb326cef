// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @a_parallel_loop_has_a_text_of_its_own
// CHECK:         scf.parallel (%i, %j) = (%a, %a) to (%b, %c) step (%d, %d) {
// CHECK-NEXT:      scf.reduce
// CHECK-NEXT:    }
func.func @a_parallel_loop_has_a_text_of_its_own(%a: index, %b: index, %c: index, %d: index) {
  scf.parallel (%i, %j) = (%a, %a) to (%b, %c) step (%d, %d) {
    scf.reduce
  }
  return
}

// CHECK-LABEL: func.func @a_terminator_and_attributes_may_be_left_out_or_given
// CHECK:         scf.parallel (%i) = (%a) to (%b) step (%c) {
// CHECK-NEXT:      scf.reduce
// CHECK-NEXT:    } {tile = 4 : i64}
func.func @a_terminator_and_attributes_may_be_left_out_or_given(%a: index, %b: index, %c: index) {
  scf.parallel (%i) = (%a) to (%b) step (%c) {
  } {tile = 4 : i64}
  return
}

// CHECK-LABEL: func.func @a_reduction_has_an_initial_value
// CHECK:         %r = scf.parallel (%i) = (%a) to (%b) step (%c) init (%x) -> f32 {
// CHECK-NEXT:      scf.reduce(%x : f32) {
func.func @a_reduction_has_an_initial_value(%a: index, %b: index, %c: index, %x: f32) {
  %r = scf.parallel (%i) = (%a) to (%b) step (%c) init (%x) -> f32 {
    scf.reduce(%x : f32) {
    ^bb0(%l: f32, %m: f32):
      %t = arith.addf %l, %m : f32
      scf.reduce.return %t : f32
    }
  }
  return
}

// CHECK-LABEL: func.func @independent_iterations_put_a_tensor_together
// CHECK:       %r = scf.forall (%i, %j) = (0, %n) to (7, 5) step (2, %n) shared_outs(%o = %x) -> (tensor<7x5xf32>) {
// CHECK:         scf.forall.in_parallel {
// CHECK-NEXT:      tensor.parallel_insert_slice %y into %o[%i, %j] [1, 1] [1, 1] : tensor<1x1xf32> into tensor<7x5xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:  } {mapping = [0 : i64]}
func.func @independent_iterations_put_a_tensor_together(%x: tensor<7x5xf32>, %y: tensor<1x1xf32>, %n: index) -> tensor<7x5xf32> {
  %r = scf.forall (%i, %j) = (0, %n) to (7, 5) step (2, %n) shared_outs(%o = %x) -> (tensor<7x5xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, %j] [1, 1] [1, 1] : tensor<1x1xf32> into tensor<7x5xf32>
    }
  } {mapping = [0 : i64]}
  return %r : tensor<7x5xf32>
}

// CHECK-LABEL: func.func @iterations_that_count_from_zero_by_one
// CHECK:       scf.forall (%i) in (%n) {
// CHECK:         memref.store %v, %m[%i] : memref<7xf32>
// CHECK-NEXT:    scf.forall.in_parallel {
// CHECK-NEXT:    }
// CHECK-NEXT:  }
func.func @iterations_that_count_from_zero_by_one(%m: memref<7xf32>, %v: f32, %n: index) {
  scf.forall (%i) in (%n) {
    memref.store %v, %m[%i] : memref<7xf32>
  }
  return
}
