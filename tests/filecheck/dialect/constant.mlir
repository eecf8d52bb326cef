// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @constants_of_every_element_type
// CHECK-NEXT:  %a = gawee.constant dense<{{\[\[}}1.000000e+00, -0.000000e+00], [2.500000e+00, 1.000000e-03]]> : tensor<2x2xf32>
// CHECK-NEXT:  %b = gawee.constant dense<[5.000000e-01, 6.550400e+04]> : tensor<2xf16>
// CHECK-NEXT:  %c = gawee.constant dense<1.000000e-300> : tensor<f64>
// CHECK-NEXT:  %d = gawee.constant dense<[-9223372036854775808, 9223372036854775807]> : tensor<2xi64>
// CHECK-NEXT:  %e = gawee.constant dense<7> : tensor<3xi32>
// CHECK-NEXT:  %f = gawee.constant dense<[-128, 127]> : tensor<2xi8>
// CHECK-NEXT:  %g = gawee.constant dense<[0, 255]> : tensor<2xui8>
// CHECK-NEXT:  %h = gawee.constant dense<[true, false]> : tensor<2xi1>
func.func @constants_of_every_element_type() {
  %a = gawee.constant dense<[[1.0, -0.0], [2.5, 0.001]]> : tensor<2x2xf32>
  %b = gawee.constant dense<[0.5, 65504.0]> : tensor<2xf16>
  %c = gawee.constant dense<1.0e-300> : tensor<f64>
  %d = gawee.constant dense<[-9223372036854775808, 9223372036854775807]> : tensor<2xi64>
  %e = gawee.constant dense<7> : tensor<3xi32>
  %f = gawee.constant dense<[-128, 127]> : tensor<2xi8>
  %g = gawee.constant dense<[0, 255]> : tensor<2xui8>
  %h = gawee.constant dense<[true, false]> : tensor<2xi1>
  func.return
}

// A float that six decimals cannot say is written as its bits.
// CHECK-LABEL: func.func @floats_written_as_bits_stay_what_they_are
// CHECK-NEXT:  %a = gawee.constant dense<[0x7f800000, 0xff800000, 0x7fc00000, 0x4B7FFFFF]> : tensor<4xf32>
// CHECK-NEXT:  %b = gawee.constant dense<0x7c00> : tensor<f16>
// CHECK-NEXT:  %c = gawee.constant dense<0x7ff0000000000000> : tensor<2xf64>
func.func @floats_written_as_bits_stay_what_they_are() {
  %a = gawee.constant dense<[0x7f800000, 0xff800000, 0x7fc00000, 0x4b7fffff]> : tensor<4xf32>
  %b = gawee.constant dense<0x7c00> : tensor<f16>
  %c = gawee.constant dense<0x7ff0000000000000> : tensor<2xf64>
  func.return
}

// CHECK-LABEL: func.func @other_attributes_and_empty_tensors_are_kept
// CHECK-NEXT:  %a = gawee.constant {note = "kept"} dense<> : tensor<0x3xf32>
func.func @other_attributes_and_empty_tensors_are_kept() {
  %a = gawee.constant {note = "kept"} dense<> : tensor<0x3xf32>
  func.return
}

// CHECK-LABEL: func.func @constant_of_equal_elements_is_written_once
// CHECK-NEXT:  %a = gawee.constant dense<-0.000000e+00> : tensor<2x3xf32>
func.func @constant_of_equal_elements_is_written_once() {
  %a = gawee.constant dense<[[-0.0, -0.0, -0.0], [-0.0, -0.0, -0.0]]> : tensor<2x3xf32>
  func.return
}
