// RUN: gawee-opt --load %S/inputs/forgetful.py --verify-roundtrip --split-input-file --verify-diagnostics %s | filecheck %s

// CHECK-LABEL: func.func @what_is_read_again_as_it_was_is_printed
func.func @what_is_read_again_as_it_was_is_printed(%x: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  // CHECK: gawee.relu
  %y = gawee.relu %x : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}

// -----

// CHECK:      gawee_opt_verify_roundtrip.mlir:15:3: error: 'forgetful.note' op expected to be the same after it was printed in the pretty form and read
// CHECK-NEXT: hint: 'text' was "a", became absent
func.func @what_a_form_leaves_out_is_an_error() {
  "forgetful.note"() {text = "a"} : () -> ()
  return
}
