// RUN: gawee-opt --verify-diagnostics --split-input-file %s | filecheck %s

// ForallOp C1: bounds of each loop
// CHECK: error: 'scf.forall' op expected bounds and steps of 1 loops, got [1, 2, 1]
func.func @an_upper_bound_too_many() {
  scf.forall (%i) = (0) to (5, 7) step (1) {
  }
  return
}

// -----

// ForallOp C2: the arguments of the body
// CHECK: error: 'scf.forall' op expected a body of 2 indices and 0 shared tensors
func.func @a_counter_too_few() {
  scf.forall (%i) in (5, 7) {
  }
  return
}

// -----

// ForallOp C3: the types of the results
// CHECK: error: 'scf.forall' op expected results of the types of the shared tensors
func.func @a_result_of_another_type(%x: tensor<5xf32>) -> tensor<7xf32> {
  %r = "scf.forall"(%x) <{staticLowerBound = array<i64: 0>, staticUpperBound = array<i64: 5>, staticStep = array<i64: 1>, operandSegmentSizes = array<i32: 0, 0, 0, 1>}> ({
  ^bb0(%i: index, %o: tensor<5xf32>):
    "scf.forall.in_parallel"() ({
    ^bb0:
    }) : () -> ()
  }) : (tensor<5xf32>) -> tensor<7xf32>
  return %r : tensor<7xf32>
}

// -----

// ForallOp C4: the end of the body
// CHECK: error: 'scf.forall' op expected the body to end in 'scf.forall.in_parallel'
func.func @a_body_that_yields() {
  "scf.forall"() <{staticLowerBound = array<i64: 0>, staticUpperBound = array<i64: 5>, staticStep = array<i64: 1>, operandSegmentSizes = array<i32: 0, 0, 0, 0>}> ({
  ^bb0(%i: index):
    "llvm.unreachable"() : () -> ()
  }) : () -> ()
  return
}

// -----

// ForallOp C4: what is inserted into
// CHECK: error: 'scf.forall' op expected insertions into shared tensors
func.func @an_insertion_elsewhere(%x: tensor<5xf32>, %y: tensor<1xf32>) {
  scf.forall (%i) in (5) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %x[%i] [1] [1] : tensor<1xf32> into tensor<5xf32>
    }
  }
  return
}

// -----

// InParallelOp C1: insertions alone
// CHECK: error: 'scf.forall.in_parallel' op expected 'tensor.parallel_insert_slice' ops alone, got 'arith.constant'
func.func @arithmetic_among_insertions() {
  scf.forall (%i) in (5) {
    scf.forall.in_parallel {
      %c = arith.constant 1 : index
    }
  }
  return
}

// -----

// ParallelInsertSliceOp C1: an offset for each axis
// CHECK: error: 'tensor.parallel_insert_slice' op expected an offset, a size and a stride for 2 axes
func.func @an_offset_too_few(%x: tensor<5x3xf32>, %y: tensor<1xf32>) -> tensor<5x3xf32> {
  %r = scf.forall (%i) in (5) shared_outs(%o = %x) -> (tensor<5x3xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i] [1] [1] : tensor<1xf32> into tensor<5x3xf32>
    }
  }
  return %r : tensor<5x3xf32>
}
