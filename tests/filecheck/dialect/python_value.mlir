// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @items_of_a_shape
// CHECK-SAME:  (%x: tensor<2x3xf32>, %v: !gawee.python_value)
// CHECK-NEXT:  %s = gawee.getattr %x "shape" : tensor<2x3xf32>
// CHECK-NEXT:  %i = gawee.getitem %s "-1"
// CHECK-NEXT:  %j = gawee.getitem %v "slice(2, None, None)"
func.func @items_of_a_shape(%x: tensor<2x3xf32>, %v: !gawee.python_value) {
  %s = gawee.getattr %x "shape" : tensor<2x3xf32>
  %i = gawee.getitem %s "-1"
  %j = gawee.getitem %v "slice(2, None, None)"
  func.return
}
