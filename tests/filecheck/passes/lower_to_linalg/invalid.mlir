// RUN: gawee-opt --lower-to-linalg --verify-diagnostics --split-input-file %s | filecheck %s

// CHECK: invalid.mlir:6:3: error: 'gawee.getattr' op cannot be removed by lower-to-linalg: leftover Python value; canonicalize folds those that are known
// CHECK: invalid.mlir:7:3: error: 'gawee.getitem' op cannot be removed by lower-to-linalg: leftover Python value; canonicalize folds those that are known
func.func @python_values_are_not_lowered(%x: tensor<2x3xf32>) -> !gawee.python_value {
  %s = gawee.getattr %x "shape" : tensor<2x3xf32>
  %h = gawee.getitem %s "1"
  return %h : !gawee.python_value
}
