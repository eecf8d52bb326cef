// REQUIRES: pycparser
// RUN: gawee-opt %s --lower-opdesc | filecheck %s

// Padding that the description computes: 9 with a stride of 2 is 5, which takes (1, 1); 7 takes (0, 1).
// CHECK-LABEL: func.func @automatic_padding_is_padding
// CHECK-NEXT:    %y = gawee.conv %x, %w bias %b strides [2, 1] padding [1, 0, 1, 1] dilations [1, 1] groups 2 : (tensor<2x6x9x7xf32>, tensor<4x3x3x2xf32>, tensor<4xf32>) -> tensor<2x4x5x7xf32>
func.func @automatic_padding_is_padding(%x: tensor<2x6x9x7xf32>, %w: tensor<4x3x3x2xf32>, %b: tensor<4xf32>) -> tensor<2x4x5x7xf32> {
  %y = lightnet.conv2d %x, %w, %b group 2 size [3, 2] stride [2, 1] dilation [1, 1] padding [0, 0, 0, 0] autopad "SAME_UPPER" : (tensor<2x6x9x7xf32>, tensor<4x3x3x2xf32>, tensor<4xf32>) -> tensor<2x4x5x7xf32>
  func.return %y : tensor<2x4x5x7xf32>
}

// CHECK-LABEL: func.func @forward_is_its_input_and_print_is_nothing
// CHECK-NEXT:    func.return %x : tensor<3xf32>
func.func @forward_is_its_input_and_print_is_nothing(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = lightnet.forward %x : (tensor<3xf32>) -> tensor<3xf32>
  lightnet.print %y msg "y" : (tensor<3xf32>) -> ()
  func.return %y : tensor<3xf32>
}
