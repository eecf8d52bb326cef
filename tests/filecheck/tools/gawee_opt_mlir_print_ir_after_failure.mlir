// RUN: gawee-opt --verify-diagnostics --cse --lower-to-linalg --mlir-print-ir-after-failure %s 2>&1 | filecheck %s

// CHECK-NOT: IR Dump After CommonSubexpressionElimination
// CHECK:     IR Dump After LowerToLinalg Failed (lower-to-linalg)
// CHECK:     "linalg.generic"
// CHECK:     error: 'gawee.getattr' op cannot be removed by lower-to-linalg
func.func @what_the_failed_pass_left_is_printed_in_the_generic_form(%x: tensor<2x3xf32>)
    -> (tensor<2x3xf32>, !gawee.python_value) {
  %y = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %s = gawee.getattr %x "shape" : tensor<2x3xf32>
  return %y, %s : tensor<2x3xf32>, !gawee.python_value
}
