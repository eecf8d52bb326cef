// RUN: gawee-opt --lower-to-linalg %s | filecheck %s

// CHECK-LABEL: func.func @a_step_cuts_an_element_out_and_puts_what_it_makes_in
// CHECK-DAG:     %[[FIRST:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[END:.*]] = arith.constant 5 : index
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : index
// CHECK:         %[[MADE:.*]] = tensor.empty() : tensor<5x2x3xf32>
// CHECK-NEXT:    %{{.*}} = scf.for %[[T:.*]] = %[[FIRST]] to %[[END]] step %[[ONE]] iter_args(%[[H:.*]] = %s, %[[ALL:.*]] = %[[MADE]]) -> (tensor<2x3xf32>, tensor<5x2x3xf32>) {
// CHECK-NEXT:      %[[X:.*]] = tensor.extract_slice %x[%[[T]], 0, 0] [1, 2, 3] [1, 1, 1] : tensor<5x2x3xf32> to tensor<2x3xf32>
// CHECK:           %[[P:.*]] = linalg.matmul {{.*}} ins(%[[H]], %w
// CHECK:           %[[N:.*]] = linalg.generic {{.*}} ins(%[[P]], %[[X]]
// CHECK:           %[[I:.*]] = tensor.insert_slice %[[P]] into %[[ALL]][%[[T]], 0, 0] [1, 2, 3] [1, 1, 1] : tensor<2x3xf32> into tensor<5x2x3xf32>
// CHECK-NEXT:      scf.yield %[[N]], %[[I]] : tensor<2x3xf32>, tensor<5x2x3xf32>
// CHECK-NEXT:    } {gawee.scan}
func.func @a_step_cuts_an_element_out_and_puts_what_it_makes_in(%s: tensor<2x3xf32>, %x: tensor<5x2x3xf32>, %w: tensor<3x3xf32>) -> (tensor<2x3xf32>, tensor<5x2x3xf32>) {
  %h, %all = gawee.scan steps 5 initial(%s : tensor<2x3xf32>) over(%x : tensor<5x2x3xf32>) {
  ^bb0(%state: tensor<2x3xf32>, %now: tensor<2x3xf32>):
    %p = gawee.matmul %state, %w : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
    %n = gawee.add %p, %now : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    gawee.yield %n, %p : tensor<2x3xf32>, tensor<2x3xf32>
  } -> tensor<2x3xf32>, tensor<5x2x3xf32>
  return %h, %all : tensor<2x3xf32>, tensor<5x2x3xf32>
}

// CHECK-LABEL: func.func @the_last_step_comes_first
// CHECK:         %[[LAST:.*]] = arith.constant 6 : index
// CHECK-NEXT:    %[[P:.*]] = arith.subi %[[LAST]], %{{.*}} : index
// CHECK-NEXT:    %[[X:.*]] = tensor.extract_slice %x[%[[P]]] [1] [1] : tensor<7xf32> to tensor<f32>
// CHECK:         tensor.insert_slice %{{.*}} into %{{.*}}[%[[P]]] [1] [1] : tensor<f32> into tensor<7xf32>
func.func @the_last_step_comes_first(%x: tensor<7xf32>) -> tensor<7xf32> {
  %all = gawee.scan steps 7 reverse over(%x : tensor<7xf32>) {
  ^bb0(%now: tensor<f32>):
    %n = gawee.tanh %now : (tensor<f32>) -> tensor<f32>
    gawee.yield %n : tensor<f32>
  } -> tensor<7xf32>
  return %all : tensor<7xf32>
}
