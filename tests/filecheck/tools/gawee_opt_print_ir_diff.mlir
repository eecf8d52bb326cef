// RUN: gawee-opt --canonicalize --cse --print-ir-diff %s -o %t 2>&1 | filecheck %s

// CHECK:      // -----// IR Diff of canonicalize //----- //
// CHECK-NEXT: --- @functions_that_change_are_shown before canonicalize
// CHECK-NEXT: +++ @functions_that_change_are_shown after canonicalize
// CHECK:      -  %y = gawee.identity %x
// CHECK:      +  %z = gawee.relu %x
// CHECK-NOT:  @functions_that_stay_are_not
// CHECK:      // -----// IR Diff of cse: (unchanged) //----- //
func.func @functions_that_change_are_shown(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.identity %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = gawee.relu %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}

func.func @functions_that_stay_are_not(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
