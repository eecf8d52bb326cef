// RUN: gawee-run %s --level llvm --compare gawee | filecheck %s

// What a pass of one's own computes with tensors, between ops of the graph, is compiled too.
// CHECK: z {{.*}} close
func.func @main(%x: tensor<3x5xf32> {gawee.input = "x"}, %y: tensor<3x5xf32> {gawee.input = "y"}) -> (tensor<3x5xf32> {gawee.output = "z"}) {
  %0 = arith.addf %x, %y : tensor<3x5xf32>
  %1 = math.exp %0 : tensor<3x5xf32>
  %2 = gawee.relu %1 : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %2 : tensor<3x5xf32>
}
