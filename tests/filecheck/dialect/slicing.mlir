// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @slice_walks_backwards_with_a_negative_stride
// CHECK-NEXT:  %y = gawee.slice %x offsets [1, 4] sizes [2, 3] strides [1, -2] : (tensor<3x5xf32>) -> tensor<2x3xf32>
func.func @slice_walks_backwards_with_a_negative_stride(%x: tensor<3x5xf32>) -> (tensor<2x3xf32>) {
  %y = gawee.slice %x offsets [1, 4] sizes [2, 3] strides [1, -2] : (tensor<3x5xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @slice_of_no_elements_may_start_anywhere
// CHECK-NEXT:  %y = gawee.slice %x offsets [3, 0] sizes [0, 5] strides [1, 1] : (tensor<3x5xf32>) -> tensor<0x5xf32>
func.func @slice_of_no_elements_may_start_anywhere(%x: tensor<3x5xf32>) -> (tensor<0x5xf32>) {
  %y = gawee.slice %x offsets [3, 0] sizes [0, 5] strides [1, 1] : (tensor<3x5xf32>) -> tensor<0x5xf32>
  func.return %y : tensor<0x5xf32>
}

// CHECK-LABEL: func.func @insert_slice_writes_a_strided_box
// CHECK-NEXT:  %y = gawee.insert_slice %x, %u offsets [1, 0] strides [1, 2] : (tensor<3x5xi1>, tensor<2x3xi1>) -> tensor<3x5xi1>
func.func @insert_slice_writes_a_strided_box(%x: tensor<3x5xi1>, %u: tensor<2x3xi1>) -> (tensor<3x5xi1>) {
  %y = gawee.insert_slice %x, %u offsets [1, 0] strides [1, 2] : (tensor<3x5xi1>, tensor<2x3xi1>) -> tensor<3x5xi1>
  func.return %y : tensor<3x5xi1>
}

// CHECK-LABEL: func.func @pad_has_a_float_value
// CHECK-NEXT:  %y = gawee.pad %x low [1, 0] high [0, -2] mode "constant" value 5.000000e-01 : f64 : (tensor<3x5xf32>) -> tensor<4x3xf32>
func.func @pad_has_a_float_value(%x: tensor<3x5xf32>) -> (tensor<4x3xf32>) {
  %y = gawee.pad %x low [1, 0] high [0, -2] mode "constant" value 5.000000e-01 : f64 : (tensor<3x5xf32>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @pad_has_an_infinite_value
// CHECK-NEXT:  %y = gawee.pad %x low [1, 0] high [0, 0] mode "constant" value 0xfff0000000000000 : f64 : (tensor<3x5xf32>) -> tensor<4x5xf32>
func.func @pad_has_an_infinite_value(%x: tensor<3x5xf32>) -> (tensor<4x5xf32>) {
  %y = gawee.pad %x low [1, 0] high [0, 0] mode "constant" value 0xfff0000000000000 : f64 : (tensor<3x5xf32>) -> tensor<4x5xf32>
  func.return %y : tensor<4x5xf32>
}

// CHECK-LABEL: func.func @pad_has_an_integer_value
// CHECK-NEXT:  %y = gawee.pad %x low [1, 0] high [0, 0] mode "constant" value 255 : i64 : (tensor<3x5xui8>) -> tensor<4x5xui8>
func.func @pad_has_an_integer_value(%x: tensor<3x5xui8>) -> (tensor<4x5xui8>) {
  %y = gawee.pad %x low [1, 0] high [0, 0] mode "constant" value 255 : i64 : (tensor<3x5xui8>) -> tensor<4x5xui8>
  func.return %y : tensor<4x5xui8>
}

// CHECK-LABEL: func.func @pad_mirrors_without_a_value
// CHECK-NEXT:  %y = gawee.pad %x low [2, 0] high [0, 4] mode "reflect" : (tensor<3x5xf32>) -> tensor<5x9xf32>
func.func @pad_mirrors_without_a_value(%x: tensor<3x5xf32>) -> (tensor<5x9xf32>) {
  %y = gawee.pad %x low [2, 0] high [0, 4] mode "reflect" : (tensor<3x5xf32>) -> tensor<5x9xf32>
  func.return %y : tensor<5x9xf32>
}
