// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @scan_hands_a_state_on_and_keeps_what_steps_make
// CHECK-NEXT:  %h, %all = gawee.scan steps 5 initial(%s : tensor<2x3xf32>) over(%x : tensor<5x2x3xf32>) {
// CHECK-NEXT:  ^bb0(%state: tensor<2x3xf32>, %now: tensor<2x3xf32>):
// CHECK-NEXT:    %p = gawee.matmul %state, %w
// CHECK-NEXT:    %n = gawee.add %p, %now
// CHECK-NEXT:    gawee.yield %n, %p : tensor<2x3xf32>, tensor<2x3xf32>
// CHECK-NEXT:  } -> tensor<2x3xf32>, tensor<5x2x3xf32>
func.func @scan_hands_a_state_on_and_keeps_what_steps_make(%s: tensor<2x3xf32>, %x: tensor<5x2x3xf32>, %w: tensor<3x3xf32>) -> (tensor<2x3xf32>, tensor<5x2x3xf32>) {
  %h, %all = gawee.scan steps 5 initial(%s : tensor<2x3xf32>) over(%x : tensor<5x2x3xf32>) {
  ^bb0(%state: tensor<2x3xf32>, %now: tensor<2x3xf32>):
    %p = gawee.matmul %state, %w : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
    %n = gawee.add %p, %now : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    gawee.yield %n, %p : tensor<2x3xf32>, tensor<2x3xf32>
  } -> tensor<2x3xf32>, tensor<5x2x3xf32>
  func.return %h, %all : tensor<2x3xf32>, tensor<5x2x3xf32>
}

// CHECK-LABEL: func.func @scan_from_the_last_step_to_the_first
// CHECK-NEXT:  %all = gawee.scan steps 7 reverse over(%x, %y : tensor<7x3xf32>, tensor<7xi64>) {
// CHECK-NEXT:  ^bb0(%a: tensor<3xf32>, %b: tensor<i64>):
// CHECK-NEXT:    gawee.yield %a : tensor<3xf32>
// CHECK-NEXT:  } -> tensor<7x3xf32>
func.func @scan_from_the_last_step_to_the_first(%x: tensor<7x3xf32>, %y: tensor<7xi64>) -> tensor<7x3xf32> {
  %all = gawee.scan steps 7 reverse over(%x, %y : tensor<7x3xf32>, tensor<7xi64>) {
  ^bb0(%a: tensor<3xf32>, %b: tensor<i64>):
    gawee.yield %a : tensor<3xf32>
  } -> tensor<7x3xf32>
  func.return %all : tensor<7x3xf32>
}

// CHECK-LABEL: func.func @scan_of_a_state_alone
// CHECK-NEXT:  %h = gawee.scan steps 3 initial(%s : tensor<5xf32>) {
func.func @scan_of_a_state_alone(%s: tensor<5xf32>) -> tensor<5xf32> {
  %h = gawee.scan steps 3 initial(%s : tensor<5xf32>) {
  ^bb0(%state: tensor<5xf32>):
    %n = gawee.add %state, %state : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
    gawee.yield %n : tensor<5xf32>
  } -> tensor<5xf32>
  func.return %h : tensor<5xf32>
}
