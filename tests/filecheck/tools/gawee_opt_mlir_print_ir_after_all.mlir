// RUN: gawee-opt --canonicalize --cse --mlir-print-ir-after-all %s -o %t 2>&1 | filecheck %s
// RUN: gawee-opt --canonicalize --cse --mlir-print-ir-after-all %s 2>/dev/null | filecheck %s --check-prefix=OUT

// CHECK: IR Dump After CanonicalizePass (canonicalize)
// CHECK: IR Dump After CommonSubexpressionElimination (cse)
// CHECK: gawee.relu

// OUT-NOT:   IR Dump
// OUT-LABEL: func.func @there_is_a_dump_after_every_pass
func.func @there_is_a_dump_after_every_pass(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.identity %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = gawee.relu %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}
