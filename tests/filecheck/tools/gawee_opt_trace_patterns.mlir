// RUN: gawee-opt --canonicalize --lower-to-linalg --trace-patterns %s -o %t 2>&1 | filecheck %s

// CHECK: canonicalize: folded: gawee.identity at {{.*}}trace_patterns.mlir:6:3 -> values that were there
// CHECK: lower-to-linalg: LowerElementwise (gawee_dialect/passes/graph/lower_to_linalg/elementwise.py:{{[0-9]+}}): gawee.relu at {{.*}}trace_patterns.mlir:7:3 -> tensor.empty, linalg.generic
func.func @every_rewrite_is_a_line(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.identity %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = gawee.relu %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}
