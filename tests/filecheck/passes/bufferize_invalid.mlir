// RUN: gawee-opt --bufferize --split-input-file --verify-diagnostics %s | filecheck %s

// CHECK: bufferize_invalid.mlir:5:3: error: 'gawee.relu' op cannot be bufferized: no rule is for it
func.func @graph_op_is_left(%x: tensor<5xf32>) -> tensor<5xf32> {
  %y = gawee.relu %x : (tensor<5xf32>) -> tensor<5xf32>
  func.return %y : tensor<5xf32>
}

// -----

// CHECK: error: 'tensor.extract' op cannot be bufferized: it uses a version of a tensor that a newer one took the place of
func.func @version_is_read_after_the_next_was_made(%x: tensor<5xf32>, %v: f32) -> tensor<5xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %five = arith.constant 5 : index
  %y = scf.for %j = %zero to %five step %one iter_args(%t = %x) -> (tensor<5xf32>) {
    %n = tensor.insert %v into %t[%j] : tensor<5xf32>
    %old = tensor.extract %t[%j] : tensor<5xf32>
    %m = tensor.insert %old into %n[%zero] : tensor<5xf32>
    scf.yield %m : tensor<5xf32>
  }
  func.return %y : tensor<5xf32>
}

// -----

// CHECK: error: 'scf.yield' op cannot be bufferized: it uses a version of a tensor that a newer one took the place of
func.func @two_tensors_change_places(%x: tensor<5xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %five = arith.constant 5 : index
  %a, %b = scf.for %j = %zero to %five step %one iter_args(%t = %x, %u = %y) -> (tensor<5xf32>, tensor<5xf32>) {
    scf.yield %u, %t : tensor<5xf32>, tensor<5xf32>
  }
  func.return %a : tensor<5xf32>
}

// -----

// CHECK: error: 'tensor.dim' op cannot be bufferized inside a loop: no rule is for it
func.func @loop_has_an_op_without_a_rule(%x: tensor<5xf32>, %v: f32) -> tensor<5xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %five = arith.constant 5 : index
  %y = scf.for %j = %zero to %five step %one iter_args(%t = %x) -> (tensor<5xf32>) {
    %d = tensor.dim %t, %zero : tensor<5xf32>
    %n = tensor.insert %v into %t[%d] : tensor<5xf32>
    scf.yield %n : tensor<5xf32>
  }
  func.return %y : tensor<5xf32>
}
