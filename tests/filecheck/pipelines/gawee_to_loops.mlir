// RUN: gawee-opt --gawee-to-loops %s | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME:  %[[Y:[a-z]+]]: memref<1x3x3x3xf32> {gawee.output = "y"}, %[[SPACE:[a-z]+]]: memref<128xi8>
// CHECK:       %[[B:.*]] = memref.view %[[SPACE]]{{.*}} to memref<1x3x3x3xf32>
// CHECK:       call @[[CONV:conv_2d_nchw_fchw_0]](%{{.*}}, %[[B]],
// CHECK:       call @{{.*}}(%[[B]], %[[Y]])
// CHECK:       func.func private @[[CONV]]
// CHECK:       scf.for
// CHECK-NOT:   {{(tensor|linalg)}}.
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
