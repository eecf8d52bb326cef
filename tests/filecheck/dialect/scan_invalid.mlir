// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// ScanOp C1: no steps.
// CHECK: error: 'gawee.scan' op expected at least one step, got 0
func.func @scan_c1_no_steps(%s: tensor<3xf32>, %x: tensor<5x3xf32>) {
  %r:1 = gawee.scan steps 0 initial(%s : tensor<3xf32>) {
  ^bb0(%h: tensor<3xf32>):
    gawee.yield %h : tensor<3xf32>
  } -> tensor<3xf32>
  func.return
}

// -----

// ScanOp C2: a sequence of five elements.
// CHECK: error: 'gawee.scan' op expected sequence #0 of 4 elements along axis 0, got 5x3
func.func @scan_c2_a_sequence_of_another_length(%s: tensor<3xf32>, %x: tensor<5x3xf32>) {
  %r:1 = gawee.scan steps 4 initial(%s : tensor<3xf32>) over(%x : tensor<5x3xf32>) {
  ^bb0(%h: tensor<3xf32>, %n: tensor<3xf32>):
    gawee.yield %n : tensor<3xf32>
  } -> tensor<3xf32>
  func.return
}

// -----

// ScanOp C3: the body takes the whole sequence.
// CHECK: error: 'gawee.scan' op expected body to take (tensor<3xf32>, tensor<3xf32>), got (tensor<3xf32>, tensor<5x3xf32>)
func.func @scan_c3_the_body_takes_the_whole_sequence(%s: tensor<3xf32>, %x: tensor<5x3xf32>) {
  %r:1 = gawee.scan steps 5 initial(%s : tensor<3xf32>) over(%x : tensor<5x3xf32>) {
  ^bb0(%h: tensor<3xf32>, %n: tensor<5x3xf32>):
    gawee.yield %h : tensor<3xf32>
  } -> tensor<3xf32>
  func.return
}

// -----

// ScanOp C4: the body ends otherwise.
// CHECK: error: 'gawee.scan' op expected body to end in gawee.yield
func.func @scan_c4_the_body_ends_otherwise(%s: tensor<3xf32>, %x: tensor<5x3xf32>) {
  %r:1 = gawee.scan steps 5 initial(%s : tensor<3xf32>) over(%x : tensor<5x3xf32>) {
  ^bb0(%h: tensor<3xf32>, %n: tensor<3xf32>):
    linalg.yield %n : tensor<3xf32>
  } -> tensor<3xf32>
  func.return
}

// -----

// ScanOp C4: no next state.
// CHECK: error: 'gawee.scan' op expected body to yield the next state (tensor<3xf32>), got ()
func.func @scan_c4_no_next_state(%s: tensor<3xf32>, %x: tensor<5x3xf32>) {
  %r:1 = gawee.scan steps 5 initial(%s : tensor<3xf32>) over(%x : tensor<5x3xf32>) {
  ^bb0(%h: tensor<3xf32>, %n: tensor<3xf32>):
    "gawee.yield"() : () -> ()
  } -> tensor<3xf32>
  func.return
}

// -----

// ScanOp C4: a number is made.
// CHECK: error: 'gawee.scan' op expected body to make tensors, got 'f32'
func.func @scan_c4_a_number_is_made(%s: tensor<3xf32>, %x: tensor<5x3xf32>) {
  %r:2 = gawee.scan steps 5 initial(%s : tensor<3xf32>) over(%x : tensor<5x3xf32>) {
  ^bb0(%h: tensor<3xf32>, %n: tensor<3xf32>):
    %c = arith.constant 0.0 : f32
    gawee.yield %n, %c : tensor<3xf32>, f32
  } -> tensor<3xf32>, tensor<5xf32>
  func.return
}

// -----

// ScanOp C4: a tensor of any size is made.
// CHECK: error: 'gawee.scan' op expected what body makes (#0) of static shape, got 'tensor<?xf32>'
func.func @scan_c4_a_tensor_of_any_size_is_made(%s: tensor<3xf32>, %x: tensor<5x3xf32>) {
  %r:2 = gawee.scan steps 5 initial(%s : tensor<3xf32>) over(%x : tensor<5x3xf32>) {
  ^bb0(%h: tensor<3xf32>, %n: tensor<3xf32>):
    %c = tensor.cast %n : tensor<3xf32> to tensor<?xf32>
    gawee.yield %n, %c : tensor<3xf32>, tensor<?xf32>
  } -> tensor<3xf32>, tensor<5x3xf32>
  func.return
}

// -----

// Each result is the last state, or what the steps made.
// CHECK: error: 'gawee.scan' op expected 1 results, got 2
func.func @scan_results_are_counted(%s: tensor<3xf32>, %x: tensor<5x3xf32>) {
  %r:2 = gawee.scan steps 5 initial(%s : tensor<3xf32>) over(%x : tensor<5x3xf32>) {
  ^bb0(%h: tensor<3xf32>, %n: tensor<3xf32>):
    gawee.yield %n : tensor<3xf32>
  } -> tensor<3xf32>, tensor<5x3xf32>
  func.return
}

// -----

// The type of every result is checked.
// CHECK: error: 'gawee.scan' op expected result type 'tensor<5x3xf32>', got 'tensor<3x5xf32>'
func.func @scan_what_is_made_has_another_type(%x: tensor<5x3xf32>) {
  %r = gawee.scan steps 5 over(%x : tensor<5x3xf32>) {
  ^bb0(%n: tensor<3xf32>):
    gawee.yield %n : tensor<3xf32>
  } -> tensor<3x5xf32>
  func.return
}

// -----

// A list of two numbers of steps.
// CHECK: error: 'gawee.scan' op expected one number of steps, got 2
func.func @scan_two_numbers_of_steps(%s: tensor<3xf32>) {
  %r = "gawee.scan"(%s) <{steps = array<i64: 2, 3>, operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%h: tensor<3xf32>):
    "gawee.yield"(%h) : (tensor<3xf32>) -> ()
  }) : (tensor<3xf32>) -> tensor<3xf32>
  func.return
}
