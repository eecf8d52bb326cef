// RUN: gawee-opt --cse --canonicalize --cse --mlir-print-ir-after-change %s -o %t 2>&1 | filecheck %s

// CHECK-NOT: IR Dump After CommonSubexpressionElimination
// CHECK:     IR Dump After CanonicalizePass (canonicalize)
// CHECK-NOT: IR Dump
func.func @passes_that_change_nothing_are_left_out(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.identity %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = gawee.relu %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}
