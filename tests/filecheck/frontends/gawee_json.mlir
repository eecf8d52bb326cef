// RUN: gawee-translate %S/inputs/conv_relu.json | filecheck %s
// RUN: gawee-translate - --from gawee-json --no-weights < %S/inputs/conv_relu.json | filecheck %s
// RUN: gawee-translate %S/inputs/conv_relu.json | gawee-translate --from mlir --no-weights --to gawee-json | gawee-translate --no-weights | filecheck %s
// RUN: gawee-translate %S/inputs/conv_relu.json --mlir-print-debuginfo | filecheck %s --check-prefix LOC

// CHECK-LABEL: func.func @main
// CHECK-SAME:  %[[X:.*]]: tensor<2x3x5x4xf32> {gawee.input = "x"}
// CHECK-SAME:  %[[W:.*]]: tensor<4x3x1x2xf32> {gawee.parameter = "body.conv.weight", gawee.path = "weights/body.conv_weight_0.bin"}
// CHECK-SAME:  tensor<2x4x5x3xf32> {gawee.output = "relu"}
// CHECK:       %[[Y:.*]] = gawee.conv %[[X]], %[[W]] strides [1, 1] padding [0, 0, 0, 0]
// CHECK:       %[[Z:.*]] = gawee.relu %[[Y]]
// CHECK:       func.return %[[Z]]

// LOC: gawee.conv
// LOC-SAME: loc("body.conv"("{{.*}}conv_relu.json":10:5))
