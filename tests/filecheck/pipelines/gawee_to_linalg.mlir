// RUN: gawee-opt --gawee-to-linalg %s | filecheck %s

// What depends on parameters alone is computed in @prepare, once.
// CHECK-LABEL: func.func @prepare
// CHECK-SAME:  gawee.parameter = "conv.weight"
// CHECK:       math.sqrt
// CHECK-LABEL: func.func @main
// CHECK-SAME:  gawee.input = "x"{{.*}}gawee.prepared = "0"{{.*}}gawee.prepared = "1"
// CHECK:       linalg.conv_2d_nchw_fchw
// CHECK-NOT:   {{(gawee\.[a-z_]+ %|math\.sqrt)}}
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
