// RUN: gawee-opt --check-each --gawee-to-linalg --bufferize %s -o %t 2>&1 | filecheck %s --check-prefix=TABLE
// RUN: gawee-opt --check-each --gawee-to-linalg --bufferize %s 2>/dev/null | filecheck %s

// TABLE:      pass {{.*}} numerics {{.*}} ran in {{.*}} largest difference {{.*}} relative {{.*}} ulp {{.*}} seconds
// TABLE:      (as it was read) {{.*}} interpreter
// TABLE:      canonicalize {{.*}} exact {{.*}} unchanged
// TABLE:      fold-batch-norm {{.*}} reassociates {{.*}} interpreter
// TABLE:      lower-to-linalg {{.*}} reassociates {{.*}} interpreter
// TABLE:      bufferize {{.*}} exact {{.*}} interpreter {{.*}} 0 {{.*}} 0 {{.*}} 0

// CHECK-NOT:  numerics
// CHECK:      func.func @main
// CHECK-SAME:   memref<2x3x3x3xf32>
func.func @main(%x: tensor<2x2x5x4xf32> {gawee.input = "x"},
                %w: tensor<3x2x3x2xf32> {gawee.parameter = "conv.weight"},
                %m: tensor<3xf32> {gawee.parameter = "bn.running_mean"},
                %v: tensor<3xf32> {gawee.parameter = "bn.running_var"})
    -> (tensor<2x3x3x3xf32> {gawee.output = "y"}) {
  %c = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x2x5x4xf32>, tensor<3x2x3x2xf32>) -> tensor<2x3x3x3xf32>
  %y = gawee.batch_norm %c mean %m variance %v eps 1.000000e-05 : tensor<2x3x3x3xf32>, tensor<3xf32>
  return %y : tensor<2x3x3x3xf32>
}
