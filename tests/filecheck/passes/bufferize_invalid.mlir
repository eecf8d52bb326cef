// RUN: gawee-opt --bufferize --split-input-file --verify-diagnostics %s | filecheck %s

// CHECK: bufferize_invalid.mlir:6:3: error: 'gawee.relu' op cannot be bufferized: no rule is for it
// CHECK-NEXT: hint: lower-to-linalg lowers it; --gawee-to-linalg runs all passes up to it
func.func @graph_op_is_left(%x: tensor<5xf32>) -> tensor<5xf32> {
  %y = gawee.relu %x : (tensor<5xf32>) -> tensor<5xf32>
  func.return %y : tensor<5xf32>
}

// -----

// CHECK: error: 'tensor.concat' op cannot be bufferized: no rule is for it
// CHECK-NEXT: hint: docs/tutorial/new_op.md shows how an op of one's own is lowered
func.func @loop_has_an_op_without_a_rule(%x: tensor<5xf32>) -> tensor<5xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %five = arith.constant 5 : index
  %y = scf.for %j = %zero to %five step %one iter_args(%t = %x) -> (tensor<5xf32>) {
    %n = tensor.concat dim(0) %t : (tensor<5xf32>) -> tensor<5xf32>
    scf.yield %n : tensor<5xf32>
  }
  func.return %y : tensor<5xf32>
}

// -----

// CHECK: error: 'tensor.extract_slice' op cannot be bufferized: expected a shape that is static or bounded, got 'memref<?xf32, strided<[1]>>'
func.func @tile_of_a_size_that_the_run_knows(%x: tensor<12xf32>, %n: index) -> tensor<12xf32> {
  %s = tensor.extract_slice %x[0] [%n] [1] : tensor<12xf32> to tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = linalg.exp ins(%s : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = tensor.insert_slice %y into %x[0] [%n] [1] : tensor<?xf32> into tensor<12xf32>
  func.return %r : tensor<12xf32>
}

// -----

// CHECK: error: 'linalg.exp' op cannot be bufferized: expected a static shape, got 'tensor<?xf32>'
func.func @argument_of_any_size(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = linalg.exp ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}

// -----

// CHECK: error: 'tensor.pad' op cannot be bufferized: expected a static shape, got 'tensor<?xf32>'
func.func @padding_to_any_size(%x: tensor<5xf32>, %n: index, %v: f32) -> tensor<?xf32> {
  %p = tensor.pad %x low[0] high[%n] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } : tensor<5xf32> to tensor<?xf32>
  func.return %p : tensor<?xf32>
}

// -----

// CHECK: error: 'linalg.generic' op cannot be bufferized: expected scalars in its body, got 'gawee.relu'
func.func @an_element_is_computed_of_tensors(%x: tensor<5xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<5xf32>) outs(%y : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32):
    %z = gawee.relu %x : (tensor<5xf32>) -> tensor<5xf32>
    linalg.yield %a : f32
  } -> tensor<5xf32>
  func.return %r : tensor<5xf32>
}

// -----

// CHECK: error: 'func.func' op cannot be bufferized: expected one block, got 2
func.func @two_blocks(%x: tensor<5xf32>) -> tensor<5xf32> {
  cf.br ^next
^next:
  func.return %x : tensor<5xf32>
}

// -----

// CHECK: error: 'func.call' op cannot be bufferized: expected a shape that is static or bounded, got 'tensor<?xf32>'
func.func private @first(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = func.call @second(%x) : (tensor<?xf32>) -> tensor<?xf32>
  func.return %x : tensor<?xf32>
}
func.func private @second(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = func.call @first(%x) : (tensor<?xf32>) -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}

// -----

// CHECK: error: 'tensor.pad' op cannot be bufferized: expected padding of at least 0, got [0, 2] and [-1, 0]
func.func @padding_that_crops(%x: tensor<5x6xf32>, %v: f32) -> tensor<4x8xf32> {
  %p = tensor.pad %x low[0, 2] high[-1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<5x6xf32> to tensor<4x8xf32>
  func.return %p : tensor<4x8xf32>
}
