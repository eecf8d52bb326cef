// RUN: gawee-opt --unroll-scan %s | filecheck %s

// CHECK-LABEL: func.func @each_step_reads_the_state_that_the_one_before_left
// CHECK-NEXT:  %[[S0:.*]] = gawee.slice %x offsets [0, 0] sizes [1, 3] strides [1, 1]
// CHECK-NEXT:  %[[X0:.*]] = gawee.reshape %[[S0]] {{.*}}-> tensor<3xf32>
// CHECK-NEXT:  %[[H1:.*]] = gawee.add %s, %[[X0]]
// CHECK-NEXT:  %[[S1:.*]] = gawee.slice %x offsets [1, 0] sizes [1, 3] strides [1, 1]
// CHECK-NEXT:  %[[X1:.*]] = gawee.reshape %[[S1]] {{.*}} -> tensor<3xf32>
// CHECK-NEXT:  %[[H2:.*]] = gawee.add %[[H1]], %[[X1]]
// CHECK-NEXT:  %[[R0:.*]] = gawee.reshape %s {{.*}} -> tensor<1x3xf32>
// CHECK-NEXT:  %[[R1:.*]] = gawee.reshape %[[H1]] {{.*}} -> tensor<1x3xf32>
// CHECK-NEXT:  %[[ALL:.*]] = gawee.cat %[[R0]], %[[R1]] dim 0
// CHECK-NEXT:  func.return %[[H2]], %[[ALL]]
func.func @each_step_reads_the_state_that_the_one_before_left(%s: tensor<3xf32>, %x: tensor<2x3xf32>) -> (tensor<3xf32>, tensor<2x3xf32>) {
  %h, %all = gawee.scan steps 2 initial(%s : tensor<3xf32>) over(%x : tensor<2x3xf32>) {
  ^bb0(%state: tensor<3xf32>, %now: tensor<3xf32>):
    %n = gawee.add %state, %now : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    gawee.yield %n, %state : tensor<3xf32>, tensor<3xf32>
  } -> tensor<3xf32>, tensor<2x3xf32>
  return %h, %all : tensor<3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @the_last_step_comes_first
// CHECK-NEXT:  gawee.slice %x offsets [1, 0] sizes [1, 3] strides [1, 1]
// CHECK:       gawee.slice %x offsets [0, 0] sizes [1, 3] strides [1, 1]
func.func @the_last_step_comes_first(%s: tensor<3xf32>, %x: tensor<2x3xf32>) -> tensor<3xf32> {
  %h = gawee.scan steps 2 reverse initial(%s : tensor<3xf32>) over(%x : tensor<2x3xf32>) {
  ^bb0(%state: tensor<3xf32>, %now: tensor<3xf32>):
    %n = gawee.sub %state, %now : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    gawee.yield %n : tensor<3xf32>
  } -> tensor<3xf32>
  return %h : tensor<3xf32>
}
