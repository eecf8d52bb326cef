// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: error: 'gawee.getitem' op operand 'input' at position 0 does not verify: Expected attribute !gawee.python_value but got tensor<2xf32>
func.func @getitem_of_a_tensor(%x: tensor<2xf32>) {
  %y = "gawee.getitem"(%x) <{index = "2"}> : (tensor<2xf32>) -> !gawee.python_value
  func.return
}

// -----

// CHECK: error: 'gawee.getattr' op operand 'input' at position 0 does not verify: !gawee.python_value should be of base attribute tensor
func.func @getattr_of_a_python_value(%x: !gawee.python_value) {
  %y = "gawee.getattr"(%x) <{attribute = "shape"}> : (!gawee.python_value) -> !gawee.python_value
  func.return
}

// -----

// CHECK: error: 'gawee.getattr' op result 'result' at position 0 does not verify: Expected attribute !gawee.python_value but got tensor<2xi64>
func.func @getattr_result_is_a_tensor(%x: tensor<2xf32>) {
  %y = "gawee.getattr"(%x) <{attribute = "shape"}> : (tensor<2xf32>) -> tensor<2xi64>
  func.return
}
