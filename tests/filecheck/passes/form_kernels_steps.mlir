// RUN: gawee-opt --form-kernels %s | filecheck %s

// What is computed before the loop is not computed again in each step; what repeats is read through.
// CHECK-LABEL: func.func @kernels_of_a_step_are_fused_with_each_other_alone
// CHECK:         %[[A:.*]] = gawee.kernel parallel [2, 3] ins(%x :
// CHECK:           math.exp
// CHECK:         scf.for {{.*}} iter_args(%[[H:.*]] = %s)
// CHECK-NEXT:      %[[N:.*]] = gawee.kernel parallel [2, 3] reduce [3] ins(%[[H]], %w, %[[A]], %b :
// CHECK:             math.tanh
// CHECK:           scf.yield %[[N]]
// CHECK-NEXT:    } {gawee.scan}
func.func @kernels_of_a_step_are_fused_with_each_other_alone(%s: tensor<2x3xf32>, %x: tensor<2x3xf32>, %w: tensor<3x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3xf32>
  %a = linalg.exp ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %bias = linalg.broadcast ins(%b : tensor<3xf32>) outs(%e : tensor<2x3xf32>) dimensions = [0]
  %r = scf.for %t = %c0 to %c5 step %c1 iter_args(%h = %s) -> (tensor<2x3xf32>) {
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
    %p = linalg.matmul ins(%h, %w : tensor<2x3xf32>, tensor<3x3xf32>) outs(%z : tensor<2x3xf32>) -> tensor<2x3xf32>
    %q = linalg.add ins(%p, %a : tensor<2x3xf32>, tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
    %u = linalg.add ins(%q, %bias : tensor<2x3xf32>, tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
    %n = linalg.tanh ins(%u : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
    scf.yield %n : tensor<2x3xf32>
  } {gawee.scan}
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @what_reduces_before_a_loop_stays_there
// CHECK:         %[[P:.*]] = gawee.kernel parallel [2, 3] reduce [3]
// CHECK:         scf.for
// CHECK:           gawee.kernel parallel [2, 3] ins(%{{.*}}, %[[P]] :
func.func @what_reduces_before_a_loop_stays_there(%s: tensor<2x3xf32>, %x: tensor<2x3xf32>, %w: tensor<3x3xf32>) -> tensor<2x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %p = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x3xf32>) outs(%z : tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = scf.for %t = %c0 to %c5 step %c1 iter_args(%h = %s) -> (tensor<2x3xf32>) {
    %n = linalg.add ins(%h, %p : tensor<2x3xf32>, tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
    scf.yield %n : tensor<2x3xf32>
  } {gawee.scan}
  return %r : tensor<2x3xf32>
}
