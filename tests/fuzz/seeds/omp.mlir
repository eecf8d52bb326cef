builtin.module {
  func.func @a_nest_is_one_space_of_iterations(%v: f32, %y: memref<7x13xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c7 = arith.constant 7 : index
    %c13 = arith.constant 13 : index
    "omp.parallel"() <{operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0>}> ({
      "omp.wsloop"() <{operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0>}> ({
        "omp.loop_nest"(%c0, %c1, %c7, %c13, %c1, %c2) <{collapse_num_loops = 2 : i64}> ({
        ^bb0(%i: index, %j: index):
          memref.store %v, %y[%i, %j] : memref<7x13xf32>
          omp.yield
        }) : (index, index, index, index, index, index) -> ()
      }) : () -> ()
      "omp.terminator"() : () -> ()
    }) : () -> ()
    func.return
  }
}
