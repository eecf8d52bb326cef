// RUN: gawee-opt --check-each --check-rtol=0 --check-atol=0 --fold-batch-norm --verify-diagnostics %s 2>/dev/null | filecheck %s --check-prefix=NONE
// RUN: gawee-opt --check-each --check-rtol=1e-5 --check-atol=0 --fold-batch-norm --verify-diagnostics %s 2>/dev/null | filecheck %s

// NONE:  error: pass 'fold-batch-norm' moved output 'y' at {{.*}} allowed: reassociates

// CHECK: func.func @a_fold_moves_the_last_digit
func.func @a_fold_moves_the_last_digit(%x: tensor<2x2x5x4xf32> {gawee.input = "x"},
                %w: tensor<3x2x3x2xf32> {gawee.parameter = "conv.weight"},
                %m: tensor<3xf32> {gawee.parameter = "bn.running_mean"},
                %v: tensor<3xf32> {gawee.parameter = "bn.running_var"})
    -> (tensor<2x3x3x3xf32> {gawee.output = "y"}) {
  %c = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x2x5x4xf32>, tensor<3x2x3x2xf32>) -> tensor<2x3x3x3xf32>
  %y = gawee.batch_norm %c mean %m variance %v eps 1.000000e-05 : tensor<2x3x3x3xf32>, tensor<3xf32>
  return %y : tensor<2x3x3x3xf32>
}
