// RUN: gawee-opt %s --canonicalize | gawee-opt | filecheck %s

// CHECK-LABEL: func.func @zeros_of_both_signs_are_written_as_bytes
// CHECK-NEXT:  gawee.constant dense<"0x0000000000000080"> : tensor<2xf32>
func.func @zeros_of_both_signs_are_written_as_bytes() -> tensor<2xf32> {
  %a = gawee.constant dense<[0.0, -0.0]> : tensor<2xf32>
  func.return %a : tensor<2xf32>
}

// CHECK-LABEL: func.func @unread_constants_vanish
// CHECK-NEXT:  func.return
func.func @unread_constants_vanish() {
  %a = gawee.constant dense<1.0> : tensor<2xf32>
  func.return
}
