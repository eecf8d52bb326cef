// RUN: gawee-opt --canonicalize --cse --mlir-print-ir-before-all %s -o %t 2>&1 | filecheck %s

// CHECK: IR Dump Before CanonicalizePass (canonicalize)
// CHECK: gawee.identity
// CHECK: IR Dump Before CommonSubexpressionElimination (cse)
// CHECK-NOT: gawee.identity
func.func @there_is_a_dump_before_every_pass(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.identity %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = gawee.relu %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}
