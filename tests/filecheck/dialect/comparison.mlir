// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @compare_broadcasts_both_sides
// CHECK-NEXT:  %r = gawee.compare %x, %y predicate "lt" : (tensor<2x1x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xi1>
func.func @compare_broadcasts_both_sides(%x: tensor<2x1x5xf32>, %y: tensor<3x1xf32>) -> tensor<2x3x5xi1> {
  %r = gawee.compare %x, %y predicate "lt" : (tensor<2x1x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xi1>
  func.return %r : tensor<2x3x5xi1>
}

// CHECK-LABEL: func.func @isnan_on_f64
// CHECK-NEXT:  %r = gawee.isnan %x : (tensor<2x3xf64>) -> tensor<2x3xi1>
func.func @isnan_on_f64(%x: tensor<2x3xf64>) -> tensor<2x3xi1> {
  %r = gawee.isnan %x : (tensor<2x3xf64>) -> tensor<2x3xi1>
  func.return %r : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @where_broadcasts_all_three
// CHECK-NEXT:  %r = gawee.where %c, %x, %y : (tensor<2x1xi1>, tensor<3xf32>, tensor<f32>) -> tensor<2x3xf32>
func.func @where_broadcasts_all_three(%c: tensor<2x1xi1>, %x: tensor<3xf32>, %y: tensor<f32>) -> tensor<2x3xf32> {
  %r = gawee.where %c, %x, %y : (tensor<2x1xi1>, tensor<3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}
