// RUN: gawee-reduce %s --load %S/../../tools/wrong_passes.py --crash 2>/dev/null | filecheck %s
// RUN: gawee-reduce %s --load %S/../../tools/wrong_passes.py -p crash --error=stride -o %t 2>&1 | filecheck %s --check-prefix=STEPS
// RUN: filecheck %s < %t
// RUN: gawee-reduce %s --load %S/../../tools/wrong_passes.py --wrong-numbers --numeric --seed=3 --rtol=0.01 --atol=0 2>/dev/null | filecheck %s --check-prefix=NUMERIC
// RUN: gawee-reduce %s --test=cat --time-limit=60 --test-time-limit=5 2>/dev/null | filecheck %s --check-prefix=ONE
// RUN: not gawee-reduce %s --canonicalize --numeric 2>&1 | filecheck %s --check-prefix=NONE

// CHECK:      func.func @main
// CHECK-NEXT: gawee.conv {{.*}} strides [1, 2] {{.*}} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>)
// CHECK-NEXT: func.return

// STEPS:      failure: stride
// STEPS-NEXT: input: {{ +}}4 ops, largest tensor {{ +}}840 elements
// STEPS:      ops: {{ +}}1 ops
// STEPS:      result: {{ +}}1 ops, largest tensor {{ +}}1 elements

// NUMERIC:      func.func @main
// NUMERIC-NEXT: gawee.conv {{.*}} strides [1, 2] {{.*}} : (tensor<1x1x1x2xf32>, tensor<1x1x1x1xf32>)
// NUMERIC-NEXT: func.return

// ONE:        func.func @main
// ONE-NEXT:   gawee.
// ONE-NEXT:   func.return

// NONE:       error: expected '{{.*}}gawee_reduce.mlir' to fail, got equal outputs
func.func @main(%x: tensor<2x3x10x14xf32> {gawee.input = "x"},
                %w: tensor<5x3x1x1xf32> {gawee.parameter = "w"},
                %v: tensor<4x5x3x3xf32> {gawee.parameter = "v"})
    -> (tensor<2x4x3x5xf32> {gawee.output = "y"}) {
  %a = gawee.relu %x : (tensor<2x3x10x14xf32>) -> tensor<2x3x10x14xf32>
  %b = gawee.conv %a, %w strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] groups 1
    : (tensor<2x3x10x14xf32>, tensor<5x3x1x1xf32>) -> tensor<2x5x5x7xf32>
  %c = gawee.conv %b, %v strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1
    : (tensor<2x5x5x7xf32>, tensor<4x5x3x3xf32>) -> tensor<2x4x3x5xf32>
  %y = gawee.add %c, %c : (tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  return %y : tensor<2x4x3x5xf32>
}
