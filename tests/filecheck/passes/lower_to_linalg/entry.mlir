// RUN: gawee-opt --lower-to-linalg --mlir-print-debuginfo %s | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME:    %x: tensor<2x8xf32> {gawee.input = "x"}
// CHECK-SAME:    %w: tensor<3x8xf32> {gawee.parameter = "fc.weight", gawee.path = "weights/fc_weight_0.bin"}
// CHECK-SAME:    -> (tensor<2x3xf32> {gawee.output = "act"})
// CHECK:       linalg.matmul {{.*}} loc("fc"("graph.json":4:7))
// CHECK:       linalg.generic
// CHECK:         arith.maximumf {{.*}} loc("act"("graph.json":9:7))
// CHECK:       } -> tensor<2x3xf32> loc("act"("graph.json":9:7))
func.func @main(%x: tensor<2x8xf32> {gawee.input = "x"}, %w: tensor<3x8xf32> {gawee.parameter = "fc.weight", gawee.path = "weights/fc_weight_0.bin"}) -> (tensor<2x3xf32> {gawee.output = "act"}) {
  %y = gawee.matmul %x, %w : (tensor<2x8xf32>, tensor<3x8xf32>) -> tensor<2x3xf32> loc("fc"("graph.json":4:7))
  %z = gawee.relu %y : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("act"("graph.json":9:7))
  return %z : tensor<2x3xf32>
}
