// RUN: gawee-opt --gawee-to-kernels=target=generic-avx2 %s | filecheck %s
// RUN: not gawee-opt --gawee-to-kernels=target=abacus %s 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not gawee-opt --gawee-to-kernels=num-threads=-1 %s 2>&1 | filecheck %s --check-prefix=THREADS
// RUN: not gawee-opt --gawee-to-kernels=algorithms=quick %s 2>&1 | filecheck %s --check-prefix=ALGORITHMS

// The weights are folded and packed once, in blocks of features; everything else is one kernel.
// CHECK-LABEL: func.func @prepare
// CHECK-SAME:  tensor<18x4x3x3xf32> {gawee.parameter = "conv.weight"}
// CHECK:       gawee.kernel parallel [18, 4, 3, 3]
// CHECK-LABEL: func.func @main
// CHECK:       gawee.kernel parallel [1, 18, 3, 4] reduce [4, 3, 3]
// CHECK:       arith.maximumf
// CHECK:       schedule #gawee.schedule<{{.*}} : tensor<1x18x3x4xf32>
// CHECK-NOT:   {{(tensor|linalg)}}.

// TARGET:      error: unknown target 'abacus'
// THREADS:     error: expected num_threads of at least 0, got -1
// ALGORITHMS:  error: unsupported algorithms 'quick'; supported: fast, exact
func.func @main(%x: tensor<1x4x8x9xf32> {gawee.input = "x"},
                %w: tensor<18x4x3x3xf32> {gawee.parameter = "conv.weight"},
                %m: tensor<18xf32> {gawee.parameter = "bn.running_mean"},
                %v: tensor<18xf32> {gawee.parameter = "bn.running_var"})
    -> (tensor<1x18x3x4xf32> {gawee.output = "y"}) {
  %c = gawee.conv %x, %w strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1x4x8x9xf32>, tensor<18x4x3x3xf32>) -> tensor<1x18x3x4xf32>
  %b = gawee.batch_norm %c mean %m variance %v eps 1.000000e-05 : tensor<1x18x3x4xf32>, tensor<18xf32>
  %y = gawee.relu %b : (tensor<1x18x3x4xf32>) -> tensor<1x18x3x4xf32>
  return %y : tensor<1x18x3x4xf32>
}
