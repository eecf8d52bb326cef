// RUN: gawee-opt --bufferize --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @result_becomes_an_output_argument
// CHECK-SAME:  (%[[X:.*]]: memref<5x3xf32> {gawee.input = "x"}, %[[Y:.*]]: memref<5x3xf32> {gawee.output = "y"}) {
// CHECK-NEXT:    linalg.exp ins(%[[X]] : memref<5x3xf32>) outs(%[[Y]] : memref<5x3xf32>)
// CHECK-NEXT:    func.return
func.func @result_becomes_an_output_argument(%x: tensor<5x3xf32> {gawee.input = "x"}) -> (tensor<5x3xf32> {gawee.output = "y"}) {
  %e = tensor.empty() : tensor<5x3xf32>
  %y = linalg.exp ins(%x : tensor<5x3xf32>) outs(%e : tensor<5x3xf32>) -> tensor<5x3xf32>
  func.return %y : tensor<5x3xf32>
}

// -----

// The accumulator is filled and then accumulated into: one buffer, no copy.
// CHECK-LABEL: func.func @accumulator_is_written_in_place
// CHECK-SAME:  (%[[A:.*]]: memref<2x5xf32> {{.*}}, %[[B:.*]]: memref<5x3xf32> {{.*}}, %[[OUT:.*]]: memref<2x3xf32> {{.*}}
// CHECK:         linalg.fill ins(%{{.*}} : f32) outs(%[[OUT]] : memref<2x3xf32>)
// CHECK-NEXT:    linalg.matmul ins(%[[A]], %[[B]] : memref<2x5xf32>, memref<5x3xf32>) outs(%[[OUT]] : memref<2x3xf32>)
// CHECK-NEXT:    func.return
func.func @accumulator_is_written_in_place(%a: tensor<2x5xf32>, %b: tensor<5x3xf32>) -> tensor<2x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = linalg.matmul ins(%a, %b : tensor<2x5xf32>, tensor<5x3xf32>) outs(%f : tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %c : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @splat_fills_a_buffer
// CHECK-SAME:  (%[[V:.*]]: f32 {{.*}}, %[[OUT:.*]]: memref<2x3xf32> {{.*}}
// CHECK-NEXT:    linalg.fill ins(%[[V]] : f32) outs(%[[OUT]] : memref<2x3xf32>)
// CHECK-NEXT:    func.return
func.func @splat_fills_a_buffer(%v: f32) -> tensor<2x3xf32> {
  %y = tensor.splat %v : tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @elements_are_stored_one_by_one
// CHECK-SAME:  (%[[A:.*]]: f32 {{.*}}, %[[B:.*]]: f32 {{.*}}, %[[OUT:.*]]: memref<2x1xf32> {{.*}}
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT:    memref.store %[[B]], %[[OUT]][%[[ZERO]], %[[ZERO]]]
// CHECK-NEXT:    memref.store %[[A]], %[[OUT]][%[[ONE]], %[[ZERO]]]
// CHECK-NEXT:    func.return
func.func @elements_are_stored_one_by_one(%a: f32, %b: f32) -> tensor<2x1xf32> {
  %y = tensor.from_elements %b, %a : tensor<2x1xf32>
  func.return %y : tensor<2x1xf32>
}

// -----

// CHECK-LABEL: func.func @argument_is_copied_before_it_is_accumulated_into
// CHECK-SAME:  (%[[A:.*]]: memref<2x5xf32> {{.*}}, %[[B:.*]]: memref<5x3xf32> {{.*}}, %[[INIT:.*]]: memref<2x3xf32> {{.*}}, %[[OUT:.*]]: memref<2x3xf32> {{.*}}
// CHECK-NEXT:    "memref.copy"(%[[INIT]], %[[OUT]])
// CHECK-NEXT:    linalg.matmul ins(%[[A]], %[[B]] : {{.*}}) outs(%[[OUT]] : memref<2x3xf32>)
func.func @argument_is_copied_before_it_is_accumulated_into(%a: tensor<2x5xf32>, %b: tensor<5x3xf32>, %init: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = linalg.matmul ins(%a, %b : tensor<2x5xf32>, tensor<5x3xf32>) outs(%init : tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %c : tensor<2x3xf32>
}

// -----

// %f is read again after the first matmul, which therefore may not overwrite it.
// CHECK-LABEL: func.func @destination_that_is_read_later_is_copied
// CHECK:         %[[F:.*]] = memref.alloc() : memref<2x3xf32>
// CHECK-NEXT:    linalg.fill ins(%{{.*}}) outs(%[[F]]
// CHECK-NEXT:    "memref.copy"(%[[F]], %[[OUT0:[^)]*]])
// CHECK-NEXT:    linalg.matmul ins({{.*}}) outs(%[[OUT0]]
// CHECK-NEXT:    linalg.add ins(%[[F]], %[[OUT0]]
func.func @destination_that_is_read_later_is_copied(%a: tensor<2x5xf32>, %b: tensor<5x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<2x3xf32>
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = linalg.matmul ins(%a, %b : tensor<2x5xf32>, tensor<5x3xf32>) outs(%f : tensor<2x3xf32>) -> tensor<2x3xf32>
  %e2 = tensor.empty() : tensor<2x3xf32>
  %d = linalg.add ins(%f, %c : tensor<2x3xf32>, tensor<2x3xf32>) outs(%e2 : tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %c, %d : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// One tensor.empty for two results: the second must not overwrite the first.
// CHECK-LABEL: func.func @shared_empty_gives_each_writer_its_buffer
// CHECK-SAME:  (%[[X:.*]]: memref<4xf32> {{.*}}, %[[Y:.*]]: memref<4xf32> {{.*}}, %[[Z:.*]]: memref<4xf32> {{.*}}
// CHECK-NEXT:    linalg.exp ins(%[[X]] : memref<4xf32>) outs(%[[Y]] : memref<4xf32>)
// CHECK-NEXT:    linalg.log ins(%[[X]] : memref<4xf32>) outs(%[[Z]] : memref<4xf32>)
func.func @shared_empty_gives_each_writer_its_buffer(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %z = linalg.log ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  func.return %y, %z : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @padding_fills_and_copies_into_the_middle
// CHECK-SAME:  (%[[X:.*]]: memref<3x5xf32> {{.*}}, %[[OUT:.*]]: memref<6x9xf32> {{.*}}
// CHECK:         linalg.fill ins(%{{.*}} : f32) outs(%[[OUT]] : memref<6x9xf32>)
// CHECK-NEXT:    %[[MID:.*]] = memref.subview %[[OUT]][1, 4] [3, 5] [1, 1] : memref<6x9xf32> to memref<3x5xf32, strided<[9, 1], offset: 13>>
// CHECK-NEXT:    "memref.copy"(%[[X]], %[[MID]])
func.func @padding_fills_and_copies_into_the_middle(%x: tensor<3x5xf32>) -> tensor<6x9xf32> {
  %p = tensor.pad %x low[1, 4] high[2, 0] {
  ^bb0(%i: index, %j: index):
    %zero = arith.constant 0.0 : f32
    tensor.yield %zero : f32
  } : tensor<3x5xf32> to tensor<6x9xf32>
  func.return %p : tensor<6x9xf32>
}

// -----

// CHECK-LABEL: func.func @concatenation_writes_slices_of_one_buffer
// CHECK-SAME:  (%[[X:.*]]: memref<2x3xf32> {{.*}}, %[[Y:.*]]: memref<2x4xf32> {{.*}}, %[[OUT:.*]]: memref<2x7xf32> {{.*}}
// CHECK-NEXT:    %[[L:.*]] = memref.subview %[[OUT]][0, 0] [2, 3] [1, 1]
// CHECK-NEXT:    "memref.copy"(%[[X]], %[[L]])
// CHECK-NEXT:    %[[R:.*]] = memref.subview %[[OUT]][0, 3] [2, 4] [1, 1]
// CHECK-NEXT:    "memref.copy"(%[[Y]], %[[R]])
// CHECK-NEXT:    func.return
func.func @concatenation_writes_slices_of_one_buffer(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) -> tensor<2x7xf32> {
  %e = tensor.empty() : tensor<2x7xf32>
  %0 = tensor.insert_slice %x into %e[0, 0] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<2x7xf32>
  %1 = tensor.insert_slice %y into %0[0, 3] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<2x7xf32>
  func.return %1 : tensor<2x7xf32>
}

// -----

// CHECK:       builtin.module
// CHECK:         "memref.global"() <{sym_name = "constant_0", type = memref<2xf32>, initial_value = dense<[1.000000e+00, 2.000000e+00]>
// CHECK:       func.func @returned_input_and_constant_are_copied
// CHECK-SAME:  (%[[X:.*]]: memref<3xf32> {{.*}}, %[[Y:.*]]: memref<3xf32> {{.*}}, %[[C:.*]]: memref<2xf32> {{.*}}
// CHECK:         %[[G:.*]] = memref.get_global @constant_0 : memref<2xf32>
// CHECK-NEXT:    "memref.copy"(%[[X]], %[[Y]])
// CHECK-NEXT:    "memref.copy"(%[[G]], %[[C]])
func.func @returned_input_and_constant_are_copied(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<2xf32>) {
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  func.return %x, %c : tensor<3xf32>, tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @gather_reads_the_buffer
// CHECK-SAME:  (%[[X:.*]]: memref<5xf32> {{.*}}, %[[OUT:.*]]: memref<3xf32> {{.*}}
// CHECK:         linalg.generic
// CHECK:           %[[I:.*]] = linalg.index 0 : index
// CHECK:           memref.load %[[X]][%[[I]]] : memref<5xf32>
func.func @gather_reads_the_buffer(%x: tensor<5xf32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<3xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %v = tensor.extract %x[%i] : tensor<5xf32>
    linalg.yield %v : f32
  } -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// -----

// CHECK-LABEL: func.func @loop_writes_a_copy_of_an_input_in_place
// CHECK-SAME:  (%[[X:.*]]: memref<5xf32> {{.*}}, %[[I:.*]]: memref<3xi64> {{.*}}, %[[OUT:.*]]: memref<5xf32> {{.*}}
// CHECK:         "memref.copy"(%[[X]], %[[OUT]])
// CHECK-NEXT:    scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %{{[^ ]*}} {
// CHECK-NEXT:      memref.load %[[I]][%[[J]]]
// CHECK-NEXT:      %[[P:.*]] = arith.index_cast
// CHECK-NEXT:      %[[V:.*]] = memref.load %[[OUT]][%[[P]]]
// CHECK-NEXT:      memref.store %[[V]], %[[OUT]][%[[J]]]
func.func @loop_writes_a_copy_of_an_input_in_place(%x: tensor<5xf32>, %i: tensor<3xi64>) -> tensor<5xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %y = scf.for %j = %zero to %three step %one iter_args(%t = %x) -> (tensor<5xf32>) {
    %k = tensor.extract %i[%j] : tensor<3xi64>
    %p = arith.index_cast %k : i64 to index
    %v = tensor.extract %t[%p] : tensor<5xf32>
    %n = tensor.insert %v into %t[%j] : tensor<5xf32>
    scf.yield %n : tensor<5xf32>
  }
  func.return %y : tensor<5xf32>
}

// -----

// CHECK-LABEL: func.func @loop_that_reads_what_it_started_from_has_its_own_buffer
// CHECK:         %[[A:.*]] = memref.alloc() : memref<5xf32>
// CHECK:         "memref.copy"(%[[A]], %[[OUT:[^)]*]])
// CHECK:         scf.for %[[J:[^ ]*]] = %{{.*}} iter_args(%[[S:[^ ]*]] = %{{.*}}) -> (index) {
// CHECK-NEXT:      %[[V:.*]] = memref.load %[[A]][%[[J]]]
// CHECK-NEXT:      memref.store %[[V]], %[[OUT]][%[[S]]]
// CHECK-NEXT:      %[[N:.*]] = arith.subi %[[S]]
// CHECK-NEXT:      scf.yield %[[N]] : index
func.func @loop_that_reads_what_it_started_from_has_its_own_buffer(%x: tensor<5xf32>) -> tensor<5xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %five = arith.constant 5 : index
  %e = tensor.empty() : tensor<5xf32>
  %a = linalg.exp ins(%x : tensor<5xf32>) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  %y, %s = scf.for %j = %zero to %five step %one iter_args(%t = %a, %p = %four) -> (tensor<5xf32>, index) {
    %v = tensor.extract %a[%j] : tensor<5xf32>
    %n = tensor.insert %v into %t[%p] : tensor<5xf32>
    %q = arith.subi %p, %one : index
    scf.yield %n, %q : tensor<5xf32>, index
  }
  func.return %y : tensor<5xf32>
}

// -----

// CHECK-LABEL: func.func private @elsewhere(memref<5xf32>, f32, memref<5xf32>) -> f32
// CHECK-LABEL: func.func @a_call_is_given_the_buffers_of_its_results
// CHECK-SAME:    (%x: memref<5xf32> {gawee.input = "x"}, %v: f32 {gawee.input = "v"}, %y: memref<5xf32> {gawee.output = "y"}, %[[OUT:.*]]: memref<f32> {gawee.output = "output1"})
// CHECK-NEXT:    %[[S:.*]] = func.call @elsewhere(%x, %v, %y) : (memref<5xf32>, f32, memref<5xf32>) -> f32
// CHECK-NEXT:    memref.store %[[S]], %[[OUT]][] : memref<f32>
// CHECK-NEXT:    func.return
func.func private @elsewhere(tensor<5xf32>, f32) -> (f32, tensor<5xf32>)
func.func @a_call_is_given_the_buffers_of_its_results(%x: tensor<5xf32>, %v: f32) -> (tensor<5xf32> {gawee.output = "y"}, f32) {
  %s, %y = func.call @elsewhere(%x, %v) : (tensor<5xf32>, f32) -> (f32, tensor<5xf32>)
  return %y, %s : tensor<5xf32>, f32
}

// -----

// CHECK-LABEL: func.func @a_function_that_is_called_returns_its_scalar
// CHECK-SAME:    -> (f32
func.func @a_function_that_is_called_returns_its_scalar(%x: f32) -> f32 {
  func.return %x : f32
}
func.func @caller(%x: f32) -> f32 {
  %y = func.call @a_function_that_is_called_returns_its_scalar(%x) : (f32) -> f32
  func.return %y : f32
}

// -----

// CHECK-LABEL: func.func @independent_iterations_write_their_parts_in_place
// CHECK:         scf.parallel (%i) = (%{{.*}}) to (%{{.*}}) step (%{{.*}}) {
// CHECK-NEXT:      %[[FROM:.*]] = memref.subview %x[%i] [2] [1]
// CHECK-NEXT:      %[[TO:.*]] = memref.subview %y[%i] [2] [1]
// CHECK-NEXT:      linalg.exp ins(%[[FROM]]
// CHECK-SAME:      outs(%[[TO]]
// CHECK-NEXT:      scf.reduce
// CHECK-NOT:     memref.alloc
func.func @independent_iterations_write_their_parts_in_place(%x: tensor<6xf32>) -> (tensor<6xf32> {gawee.output = "y"}) {
  %e = tensor.empty() : tensor<6xf32>
  %r = scf.forall (%i) = (0) to (6) step (2) shared_outs(%t = %e) -> (tensor<6xf32>) {
    %from = tensor.extract_slice %x[%i] [2] [1] : tensor<6xf32> to tensor<2xf32>
    %to = tensor.extract_slice %t[%i] [2] [1] : tensor<6xf32> to tensor<2xf32>
    %p = linalg.exp ins(%from : tensor<2xf32>) outs(%to : tensor<2xf32>) -> tensor<2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %p into %t[%i] [2] [1] : tensor<2xf32> into tensor<6xf32>
    }
  }
  return %r : tensor<6xf32>
}

// -----

// CHECK-LABEL: func.func @a_tile_of_a_computed_size_gets_a_part_of_a_buffer
// CHECK:         %[[LARGEST:.*]] = memref.alloc() : memref<4xf32>
// CHECK:         scf.for %i
// CHECK:           %n = arith.minsi
// CHECK:           %[[PART:.*]] = memref.subview %[[LARGEST]][0] [%n] [1] : memref<4xf32> to memref<?xf32, strided<[1]>>
// CHECK-NEXT:      linalg.fill ins(%v : f32) outs(%[[PART]]
func.func @a_tile_of_a_computed_size_gets_a_part_of_a_buffer(%x: tensor<7xf32>, %v: f32) -> tensor<7xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %e = tensor.empty() : tensor<7xf32>
  %r = scf.for %i = %c0 to %c7 step %c4 iter_args(%t = %e) -> (tensor<7xf32>) {
    %left = arith.subi %c7, %i : index
    %n = arith.minsi %left, %c4 : index
    %s = tensor.extract_slice %x[%i] [%n] [1] : tensor<7xf32> to tensor<?xf32>
    %f = tensor.empty(%n) : tensor<?xf32>
    %w = linalg.fill ins(%v : f32) outs(%f : tensor<?xf32>) -> tensor<?xf32>
    %p = linalg.add ins(%s, %w : tensor<?xf32>, tensor<?xf32>) outs(%w : tensor<?xf32>) -> tensor<?xf32>
    %m = tensor.insert_slice %p into %t[%i] [%n] [1] : tensor<?xf32> into tensor<7xf32>
    scf.yield %m : tensor<7xf32>
  }
  return %r : tensor<7xf32>
}

// -----

// CHECK-LABEL: func.func @a_while_loop_copies_what_is_tested_and_what_is_passed_on
// CHECK:         %[[T:.*]] = memref.alloc() : memref<5xf32>
// CHECK-NEXT:    "memref.copy"(%x, %[[T]])
// CHECK-NEXT:    %{{.*}} = scf.while (%[[J:.*]] = %zero) : (i32) -> i32 {
// CHECK-NEXT:      %c = arith.cmpi slt, %[[J]], %n : i32
// CHECK-NEXT:      "memref.copy"(%[[T]], %y)
// CHECK-NEXT:      scf.condition(%c) %[[J]] : i32
// CHECK:           %[[V:.*]] = memref.alloc() : memref<5xf32>
// CHECK-NEXT:      linalg.exp ins(%y : memref<5xf32>) outs(%[[V]] : memref<5xf32>)
// CHECK:           "memref.copy"(%[[V]], %[[T]])
func.func @a_while_loop_copies_what_is_tested_and_what_is_passed_on(%x: tensor<5xf32>, %n: i32) -> (tensor<5xf32> {gawee.output = "y"}) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %i, %y = scf.while (%j = %zero, %t = %x) : (i32, tensor<5xf32>) -> (i32, tensor<5xf32>) {
    %c = arith.cmpi slt, %j, %n : i32
    scf.condition(%c) %j, %t : i32, tensor<5xf32>
  } do {
  ^bb0(%k: i32, %u: tensor<5xf32>):
    %e = tensor.empty() : tensor<5xf32>
    %v = linalg.exp ins(%u : tensor<5xf32>) outs(%e : tensor<5xf32>) -> tensor<5xf32>
    %l = arith.addi %k, %one : i32
    scf.yield %l, %v : i32, tensor<5xf32>
  }
  func.return %y : tensor<5xf32>
}

// -----

// CHECK-LABEL: func.func @each_branch_writes_the_buffer_of_the_result
// CHECK:         scf.if %c {
// CHECK-NEXT:      %[[A:.*]] = memref.alloc() : memref<5xf32>
// CHECK-NEXT:      linalg.exp ins(%x : memref<5xf32>) outs(%[[A]] : memref<5xf32>)
// CHECK-NEXT:      "memref.copy"(%[[A]], %y)
// CHECK-NEXT:    } else {
// CHECK-NEXT:      "memref.copy"(%x, %y)

func.func @each_branch_writes_the_buffer_of_the_result(%x: tensor<5xf32>, %c: i1) -> (tensor<5xf32> {gawee.output = "y"}) {
  %y = scf.if %c -> (tensor<5xf32>) {
    %e = tensor.empty() : tensor<5xf32>
    %a = linalg.exp ins(%x : tensor<5xf32>) outs(%e : tensor<5xf32>) -> tensor<5xf32>
    scf.yield %a : tensor<5xf32>
  } else {
    scf.yield %x : tensor<5xf32>
  }
  func.return %y : tensor<5xf32>
}

// -----

// CHECK-LABEL: func.func @a_kernel_that_a_branch_ends_with_writes_the_result
// CHECK:         scf.if %c {
// CHECK-NEXT:      gawee.kernel parallel [5] ins(%x : memref<5xf32>) outs(%y)
// CHECK:         } else {
// CHECK-NEXT:      "memref.copy"(%x, %y)
func.func @a_kernel_that_a_branch_ends_with_writes_the_result(%x: tensor<5xf32>, %c: i1) -> (tensor<5xf32> {gawee.output = "y"}) {
  %y = scf.if %c -> (tensor<5xf32>) {
    %a = gawee.kernel parallel [5] ins(%x : tensor<5xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] finish {
    ^bb0(%e: f32):
      %n = arith.negf %e : f32
      gawee.yield %n : f32
    } : tensor<5xf32>
    scf.yield %a : tensor<5xf32>
  } else {
    scf.yield %x : tensor<5xf32>
  }
  func.return %y : tensor<5xf32>
}

// -----

// CHECK-LABEL: func.func @what_is_on_buffers_stays
// CHECK:         linalg.generic
// CHECK-SAME:    outs(%x, %[[A:.*]] : memref<5xf32>, memref<5xf32>)
// CHECK:         linalg.exp ins(%[[A]] : memref<5xf32>) outs(%x : memref<5xf32>)
func.func @what_is_on_buffers_stays(%x: memref<5xf32>, %t: tensor<5xf32>) -> tensor<5xf32> {
  %a = memref.alloc() : memref<5xf32>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x, %a : memref<5xf32>, memref<5xf32>) {
  ^bb0(%b: f32, %c: f32):
    linalg.yield %c, %b : f32, f32
  }
  linalg.exp ins(%a : memref<5xf32>) outs(%x : memref<5xf32>)
  func.return %t : tensor<5xf32>
}

// -----

// CHECK-LABEL: func.func @elements_of_a_tensor_go_to_a_buffer
// CHECK:         linalg.generic
// CHECK-SAME:    outs(%y : memref<5xf32>)
// CHECK:           memref.load %x[%i]
func.func @elements_of_a_tensor_go_to_a_buffer(%x: tensor<5xf32>, %y: memref<5xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : memref<5xf32>) {
  ^bb0(%a: f32):
    %i = linalg.index 0 : index
    %e = tensor.extract %x[%i] : tensor<5xf32>
    linalg.yield %e : f32
  }
  func.return
}

// -----

// CHECK-LABEL: func.func @a_constant_vector_stays
// CHECK:         arith.constant dense<{{.*}}> : vector<4xf32>
func.func @a_constant_vector_stays(%x: tensor<4xf32>, %y: memref<4xf32>, %i: index) -> tensor<4xf32> {
  %v = arith.constant dense<1.0> : vector<4xf32>
  vector.store %v, %y[%i] : memref<4xf32>, vector<4xf32>
  func.return %x : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @a_view_that_is_returned_twice_is_copied
// CHECK-SAME:    %output0: memref<6xf32> {gawee.output = "output0"}, %output1: memref<6xf32>
// CHECK:         "memref.copy"(%output0, %output1)
func.func @a_view_that_is_returned_twice_is_copied(%x: tensor<2x3xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %e = tensor.empty() : tensor<2x3xf32>
  %y = linalg.exp ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %v = tensor.collapse_shape %y [[0 : i64, 1 : i64]] : tensor<2x3xf32> into tensor<6xf32>
  func.return %v, %v : tensor<6xf32>, tensor<6xf32>
}

// -----

// CHECK-LABEL: func.func @a_row_that_was_never_written_is_broadcast
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : memref<3xf32>) outs(%{{.*}} : memref<2x3xf32>)
func.func @a_row_that_was_never_written_is_broadcast() -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %big = tensor.empty() : tensor<2x3xf32>
  %q = linalg.broadcast ins(%e : tensor<3xf32>) outs(%big : tensor<2x3xf32>) dimensions = [0]
  func.return %q : tensor<2x3xf32>
}
