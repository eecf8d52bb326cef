// RUN: gawee-opt --outline-kernels --split-input-file %s | filecheck %s

// Both calls share one kernel, although the ops have different locations.
// CHECK-LABEL: func.func @equal_ops_share_a_kernel
// CHECK-SAME:  (%[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<4xf32>, %[[Z:.*]]: memref<4xf32>)
// CHECK-NEXT:    func.call @exp_0(%[[X]], %[[Y]])
// CHECK-NEXT:    func.call @exp_0(%[[Y]], %[[Z]])
// CHECK-NEXT:    func.return
// CHECK:       func.func private @exp_0(
// CHECK-NEXT:    linalg.exp
// CHECK-NOT:   func.func
func.func @equal_ops_share_a_kernel(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
  linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  linalg.exp ins(%y : memref<4xf32>) outs(%z : memref<4xf32>)
  func.return
}

// -----

// CHECK-LABEL: func.func @ops_of_one_node_are_one_kernel
// CHECK-SAME:  (%[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<4xf32>)
// CHECK-NEXT:    func.call @exp_0(%[[Y]], %[[X]])
// CHECK-NEXT:    func.return
// CHECK:       func.func private @exp_0(
// CHECK-NEXT:    %[[C:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    linalg.fill ins(%[[C]]
// CHECK-NEXT:    linalg.exp
func.func @ops_of_one_node_are_one_kernel(%x: memref<4xf32>, %y: memref<4xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<4xf32>) loc("node"("graph.json":3:5))
  linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) loc("node"("graph.json":3:5))
  func.return
}

// -----

// The kernel gets the whole buffer and makes the view itself.
// CHECK-LABEL: func.func @views_move_into_the_kernel
// CHECK-SAME:  (%[[X:.*]]: memref<2xf32>, %[[Y:.*]]: memref<5xf32>)
// CHECK-NEXT:    func.call @copy_0(%[[X]], %[[Y]]) : (memref<2xf32>, memref<5xf32>)
// CHECK-NEXT:    func.return
// CHECK:       func.func private @copy_0(
// CHECK-NEXT:    memref.subview
func.func @views_move_into_the_kernel(%x: memref<2xf32>, %y: memref<5xf32>) {
  %v = memref.subview %y[3] [2] [1] : memref<5xf32> to memref<2xf32, strided<[1], offset: 3>>
  "memref.copy"(%x, %v) : (memref<2xf32>, memref<2xf32, strided<[1], offset: 3>>) -> ()
  func.return
}

// -----

// The element that is loaded is one of %a, which the first of them writes.
// CHECK-LABEL: func.func @a_load_ends_a_group
// CHECK:       func.call @fill_0(%a)
// CHECK-NEXT:  %[[E:.*]] = memref.load %a
// CHECK-NEXT:  func.call @exp_0(%a, %y)
// CHECK-NEXT:  memref.store %[[E]], %y
func.func @a_load_ends_a_group(%a: memref<5xf32>, %y: memref<5xf32>) {
  %zero = arith.constant 0.0 : f32
  %three = arith.constant 3 : index
  linalg.fill ins(%zero : f32) outs(%a : memref<5xf32>) loc("node"("graph.json":3:5))
  %e = memref.load %a[%three] : memref<5xf32>
  linalg.exp ins(%a : memref<5xf32>) outs(%y : memref<5xf32>) loc("node"("graph.json":3:5))
  memref.store %e, %y[%three] : memref<5xf32>
  func.return
}

// -----

// The second loop reads what the first one returns, and the third what is made of that.
// CHECK-LABEL: func.func @what_reads_a_loops_result_is_in_its_kernel
// CHECK-SAME:  (%[[X:.*]]: memref<7xi32>, %[[Y:.*]]: memref<5xi32>)
// CHECK:       func.call @fill_0(
// CHECK-NEXT:  func.call @loop_0(
// CHECK-NEXT:  func.return
// CHECK:       func.func private @loop_0(
// CHECK:         %[[SUM:.*]] = scf.for
// CHECK:         %[[TWICE:.*]] = arith.addi %[[SUM]], %[[SUM]]
// CHECK:         memref.store %[[TWICE]]
func.func @what_reads_a_loops_result_is_in_its_kernel(%x: memref<7xi32>, %y: memref<5xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %seven = arith.constant 7 : index
  %init = arith.constant 0 : i32
  linalg.fill ins(%init : i32) outs(%y : memref<5xi32>)
  %sum = scf.for %i = %zero to %seven step %one iter_args(%s = %init) -> (i32) {
    %e = memref.load %x[%i] : memref<7xi32>
    %next = arith.addi %s, %e : i32
    scf.yield %next : i32
  }
  %twice = arith.addi %sum, %sum : i32
  memref.store %twice, %y[%three] : memref<5xi32>
  func.return
}

// -----

// CHECK-LABEL: func.func @a_loop_whose_result_is_returned_stays
// CHECK:       func.call @fill_0(
// CHECK:       %[[SUM:.*]] = scf.for
// CHECK:       func.call @exp_0(
// CHECK-NEXT:  func.return %[[SUM]]
func.func @a_loop_whose_result_is_returned_stays(%x: memref<7xf32>, %y: memref<7xf32>) -> f32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %seven = arith.constant 7 : index
  %init = arith.constant 0.0 : f32
  linalg.fill ins(%init : f32) outs(%y : memref<7xf32>) loc("node"("graph.json":3:5))
  %sum = scf.for %i = %zero to %seven step %one iter_args(%s = %init) -> (f32) {
    %e = memref.load %x[%i] : memref<7xf32>
    %next = arith.addf %s, %e : f32
    scf.yield %next : f32
  } loc("node"("graph.json":3:5))
  linalg.exp ins(%x : memref<7xf32>) outs(%y : memref<7xf32>) loc("node"("graph.json":3:5))
  func.return %sum : f32
}

// -----

// CHECK-LABEL: func.func public @a_public_function_calls_kernels
// CHECK-NEXT:    func.call @exp_0(
func.func public @a_public_function_calls_kernels(%x: memref<7xf32>, %y: memref<7xf32>) {
  linalg.exp ins(%x : memref<7xf32>) outs(%y : memref<7xf32>)
  func.return
}

// -----

// What decides stays where it is; a loop that hands a buffer on is left alone.
// CHECK-LABEL: func.func @what_branches_and_loops_do_are_functions
// CHECK:         scf.if %c {
// CHECK-NEXT:      func.call @exp_0(%x, %y)
// CHECK-NEXT:    } else {
// CHECK-NEXT:      func.call @copy_0(%x, %y)
// CHECK:         scf.while () : () -> () {
// CHECK-NEXT:      memref.load
// CHECK:         } do {
// CHECK-NEXT:      func.call @exp_0(%y, %x)
// CHECK:         scf.while
// CHECK:           linalg.exp
func.func @what_branches_and_loops_do_are_functions(%x: memref<7xf32>, %y: memref<7xf32>, %c: i1, %f: memref<i1>) {
  %no = arith.constant false
  scf.if %c {
    linalg.exp ins(%x : memref<7xf32>) outs(%y : memref<7xf32>)
  } else {
    "memref.copy"(%x, %y) : (memref<7xf32>, memref<7xf32>) -> ()
  }
  scf.while () : () -> () {
    %d = memref.load %f[] : memref<i1>
    scf.condition(%d)
  } do {
    linalg.exp ins(%y : memref<7xf32>) outs(%x : memref<7xf32>)
    memref.store %no, %f[] : memref<i1>
    scf.yield
  }
  %z = scf.while (%a = %x) : (memref<7xf32>) -> memref<7xf32> {
    %d = memref.load %f[] : memref<i1>
    scf.condition(%d) %a : memref<7xf32>
  } do {
  ^bb0(%b: memref<7xf32>):
    linalg.exp ins(%b : memref<7xf32>) outs(%y : memref<7xf32>)
    memref.store %no, %f[] : memref<i1>
    scf.yield %y : memref<7xf32>
  }
  func.return
}
