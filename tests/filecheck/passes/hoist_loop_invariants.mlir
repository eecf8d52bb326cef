// RUN: gawee-opt --hoist-loop-invariants %s | filecheck %s

// A view that stays costs nothing; what is computed of it takes a view of its own along.
// CHECK-LABEL: func.func @what_all_steps_compute_alike_is_computed_once
// CHECK:         %[[W:.*]] = tensor.extract_slice %w[1, 0]
// CHECK:         %[[V:.*]] = linalg.exp ins(%[[W]]
// CHECK:         scf.for {{.*}} iter_args(%[[H:.*]] = %s)
// CHECK-NEXT:      tensor.empty()
// CHECK-NEXT:      linalg.add ins(%[[H]], %[[V]]
func.func @what_all_steps_compute_alike_is_computed_once(%s: tensor<3xf32>, %w: tensor<2x3xf32>) -> tensor<3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %t = %c0 to %c5 step %c1 iter_args(%h = %s) -> (tensor<3xf32>) {
    %row = tensor.extract_slice %w[1, 0] [1, 3] [1, 1] : tensor<2x3xf32> to tensor<3xf32>
    %e = tensor.empty() : tensor<3xf32>
    %v = linalg.exp ins(%row : tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
    %f = tensor.empty() : tensor<3xf32>
    %n = linalg.add ins(%h, %v : tensor<3xf32>, tensor<3xf32>) outs(%f : tensor<3xf32>) -> tensor<3xf32>
    scf.yield %n : tensor<3xf32>
  } {gawee.scan}
  return %r : tensor<3xf32>
}

// CHECK-LABEL: func.func @what_only_repeats_stays
// CHECK:         scf.for
// CHECK:           linalg.fill
// CHECK:           linalg.broadcast
func.func @what_only_repeats_stays(%s: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %t = %c0 to %c5 step %c1 iter_args(%h = %s) -> (tensor<2x3xf32>) {
    %e = tensor.empty() : tensor<2x3xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
    %w = linalg.broadcast ins(%b : tensor<3xf32>) outs(%e : tensor<2x3xf32>) dimensions = [0]
    %n = linalg.add ins(%h, %w : tensor<2x3xf32>, tensor<2x3xf32>) outs(%z : tensor<2x3xf32>) -> tensor<2x3xf32>
    scf.yield %n : tensor<2x3xf32>
  } {gawee.scan}
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @it_leaves_every_loop_that_it_does_not_depend_on
// CHECK:         %[[A:.*]] = linalg.exp ins(%w
// CHECK:         scf.for {{.*}} iter_args(%[[H:.*]] = %s)
// CHECK:           %[[B:.*]] = linalg.exp ins(%[[H]]
// CHECK:           %[[C:.*]] = linalg.add ins(%[[A]], %[[B]]
// CHECK:           scf.for {{.*}} iter_args(%[[G:.*]] = %[[H]])
// CHECK-NEXT:        linalg.add ins(%[[G]], %[[C]]
func.func @it_leaves_every_loop_that_it_does_not_depend_on(%s: tensor<3xf32>, %w: tensor<3xf32>) -> tensor<3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %t = %c0 to %c5 step %c1 iter_args(%h = %s) -> (tensor<3xf32>) {
    %q = scf.for %u = %c0 to %c5 step %c1 iter_args(%g = %h) -> (tensor<3xf32>) {
      %e = tensor.empty() : tensor<3xf32>
      %a = linalg.exp ins(%w : tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
      %b = linalg.exp ins(%h : tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
      %c = linalg.add ins(%a, %b : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
      %n = linalg.add ins(%g, %c : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
      scf.yield %n : tensor<3xf32>
    } {gawee.scan}
    scf.yield %q : tensor<3xf32>
  } {gawee.scan}
  return %r : tensor<3xf32>
}

// CHECK-LABEL: func.func @loops_of_others_stay_as_they_are
// CHECK:         scf.for
// CHECK:           linalg.exp ins(%w
func.func @loops_of_others_stay_as_they_are(%s: tensor<3xf32>, %w: tensor<3xf32>) -> tensor<3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %t = %c0 to %c5 step %c1 iter_args(%h = %s) -> (tensor<3xf32>) {
    %e = tensor.empty() : tensor<3xf32>
    %v = linalg.exp ins(%w : tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
    %n = linalg.add ins(%h, %v : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
    scf.yield %n : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}

// What a branch computes of weights alone is computed before; what reads an input may not be needed.
// CHECK-LABEL: func.func @a_branch_finds_what_weights_decide
// CHECK-NEXT:    tensor.empty()
// CHECK-NEXT:    %[[V:.*]] = linalg.exp ins(%w
// CHECK-NEXT:    scf.if
// CHECK:           linalg.exp ins(%x
// CHECK:           linalg.add ins(%{{.*}}, %[[V]]
func.func @a_branch_finds_what_weights_decide(%x: tensor<3xf32> {gawee.input = "x"}, %w: tensor<3xf32> {gawee.parameter = "w"}, %c: i1 {gawee.input = "c"}) -> tensor<3xf32> {
  %r = scf.if %c -> (tensor<3xf32>) {
    %e = tensor.empty() : tensor<3xf32>
    %v = linalg.exp ins(%w : tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
    %u = linalg.exp ins(%x : tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
    %n = linalg.add ins(%u, %v : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
    scf.yield %n : tensor<3xf32>
  } else {
    scf.yield %x : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}
