// RUN: gawee-opt --gawee-optimize %s | filecheck %s

// Batch normalization has gone into the weight and a new bias, the identity away.
// CHECK-LABEL: func.func @main
// CHECK-SAME:  (%[[X:.*]]: tensor<1x2x5x4xf32> {gawee.input = "x"}
// CHECK-NOT:   gawee.{{(batch_norm|identity)}}
// CHECK:       %[[CONV:.*]] = gawee.conv %[[X]], %{{.*}} bias
// CHECK-NEXT:  %[[RELU:.*]] = gawee.relu %[[CONV]]
// CHECK-NEXT:  return %[[RELU]]
func.func @main(%x: tensor<1x2x5x4xf32> {gawee.input = "x"},
                %w: tensor<3x2x3x2xf32> {gawee.parameter = "conv.weight"},
                %m: tensor<3xf32> {gawee.parameter = "bn.running_mean"},
                %v: tensor<3xf32> {gawee.parameter = "bn.running_var"})
    -> (tensor<1x3x3x3xf32> {gawee.output = "y"}) {
  %c = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1x2x5x4xf32>, tensor<3x2x3x2xf32>) -> tensor<1x3x3x3xf32>
  %b = gawee.batch_norm %c mean %m variance %v eps 1.000000e-05 : tensor<1x3x3x3xf32>, tensor<3xf32>
  %i = gawee.identity %b : (tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32>
  %y = gawee.relu %i : (tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32> loc("act"("graph.json":41:7))
  return %y : tensor<1x3x3x3xf32>
}
