// RUN: gawee-opt --annotate-cost=target=haswell --split-input-file %s | filecheck %s

// 2 * 2 * 5 * 3 FLOPs; x, w and the result are 6, 15 and 10 floats.
// 60 FLOPs at 3.4 GHz * 8 lanes * 2 units * 2 take 0.55 ns, 124 bytes at 64 a cycle 0.57 ns.
// CHECK-LABEL: func.func @node_reads_its_weights
// CHECK-NEXT:    gawee.matmul
// CHECK-SAME:      {gawee.cost = {flops = 60 : i64, bytes = 124 : i64, intensity = 4.839000e-01 : f64, predicted_us = 5.699000e-04 : f64}}
// CHECK-NEXT:    func.return
func.func @node_reads_its_weights(%x: tensor<2x3xf32>, %w: tensor<5x3xf32> {gawee.parameter = "w"}) -> tensor<2x5xf32> {
  %y = gawee.matmul %x, %w : (tensor<2x3xf32>, tensor<5x3xf32>) -> tensor<2x5xf32>
  func.return %y : tensor<2x5xf32>
}

// -----

// CHECK-LABEL: func.func @view_moves_nothing
// CHECK-NEXT:    gawee.constant
// CHECK-NOT:     gawee.cost
// CHECK:         gawee.flatten
// CHECK-SAME:      {gawee.cost = {flops = 0 : i64, bytes = 0 : i64, intensity = 0.000000e+00 : f64, predicted_us = 0.000000e+00 : f64}}
func.func @view_moves_nothing() -> tensor<6xf32> {
  %c = gawee.constant dense<1.0> : tensor<2x3xf32>
  %y = gawee.flatten %c start_dim 0 end_dim -1 : (tensor<2x3xf32>) -> tensor<6xf32>
  func.return %y : tensor<6xf32>
}

// -----

// CHECK-LABEL: func.func @structured_op_on_tensors
// CHECK-NEXT:    linalg.matmul {gawee.cost = {flops = 60 : i64, bytes = 148 : i64,
// CHECK-NEXT:    arith.constant
// CHECK-NEXT:    tensor.pad
// CHECK:         } {gawee.cost = {flops = 0 : i64, bytes = 60 : i64,
func.func @structured_op_on_tensors(%a: tensor<2x5xf32>, %b: tensor<5x3xf32>, %c: tensor<2x3xf32>) -> tensor<3x3xf32> {
  %y = linalg.matmul ins(%a, %b : tensor<2x5xf32>, tensor<5x3xf32>) outs(%c : tensor<2x3xf32>) -> tensor<2x3xf32>
  %zero = arith.constant 0.0 : f32
  %z = tensor.pad %y low[0, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<2x3xf32> to tensor<3x3xf32>
  func.return %z : tensor<3x3xf32>
}

// -----

// The call is the sum: the fill writes 24 bytes, the product moves 148.
// CHECK-LABEL: func.func @call_and_copy_on_buffers
// CHECK-NEXT:    func.call @matmul_0(%{{.*}}) {gawee.cost = {flops = 60 : i64, bytes = 172 : i64,
// CHECK-NEXT:    "memref.copy"(%{{.*}}) {gawee.cost = {flops = 0 : i64, bytes = 48 : i64,
// CHECK:       func.func private @matmul_0
// CHECK:         linalg.fill {gawee.cost = {flops = 0 : i64, bytes = 24 : i64,
// CHECK-NEXT:    linalg.matmul {gawee.cost = {flops = 60 : i64, bytes = 148 : i64,
func.func @call_and_copy_on_buffers(%a: memref<2x5xf32>, %b: memref<5x3xf32>, %c: memref<2x3xf32>, %d: memref<2x3xf32>) {
  func.call @matmul_0(%a, %b, %c) : (memref<2x5xf32>, memref<5x3xf32>, memref<2x3xf32>) -> ()
  "memref.copy"(%c, %d) : (memref<2x3xf32>, memref<2x3xf32>) -> ()
  func.return
}
func.func private @matmul_0(%a: memref<2x5xf32>, %b: memref<5x3xf32>, %c: memref<2x3xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<2x3xf32>)
  linalg.matmul ins(%a, %b : memref<2x5xf32>, memref<5x3xf32>) outs(%c : memref<2x3xf32>)
  func.return
}

// -----

// CHECK-LABEL: func.func @loop_nest
// CHECK:         scf.for
// CHECK:         } {gawee.cost = {flops = 7 : i64, bytes = 56 : i64,
func.func @loop_nest(%x: memref<7xf32>, %y: memref<7xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %seven = arith.constant 7 : index
  scf.for %i = %zero to %seven step %one {
    %v = memref.load %x[%i] : memref<7xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %y[%i] : memref<7xf32>
  }
  func.return
}

// -----

// An attribute that an earlier pass left is replaced, or removed where there is nothing to say.
// CHECK-LABEL: func.func @costs_are_counted_anew
// CHECK-NEXT:    arith.constant 2.000000e+00 : f32
// CHECK-NEXT:    linalg.fill {gawee.cost = {flops = 0 : i64, bytes = 12 : i64,
func.func @costs_are_counted_anew(%e: tensor<3xf32>) -> tensor<3xf32> {
  %c = arith.constant {gawee.cost = {flops = 99 : i64}} 2.0 : f32
  %y = linalg.fill {gawee.cost = {flops = 99 : i64}} ins(%c : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// -----

// CHECK-LABEL: func.func @a_function_that_calls_itself_has_no_cost
// CHECK:         func.call @a_function_that_calls_itself_has_no_cost(%x) : (memref<3xf32>) -> ()
func.func @a_function_that_calls_itself_has_no_cost(%x: memref<3xf32>) {
  func.call @a_function_that_calls_itself_has_no_cost(%x) : (memref<3xf32>) -> ()
  func.return
}

// -----

// CHECK-LABEL: func.func @functions_that_call_each_other_have_no_cost
// CHECK-NOT:     gawee.cost
func.func @functions_that_call_each_other_have_no_cost(%x: memref<3xf32>) {
  func.call @other(%x) : (memref<3xf32>) -> ()
  func.return
}
func.func @other(%x: memref<3xf32>) {
  func.call @functions_that_call_each_other_have_no_cost(%x) : (memref<3xf32>) -> ()
  func.return
}
