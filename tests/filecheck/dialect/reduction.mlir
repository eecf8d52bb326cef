// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @reduce_sum_along_two_axes
// CHECK-NEXT:  %r = gawee.reduce_sum %x axes [0, -1] : (tensor<2x3x5xf32>) -> tensor<3xf32>
func.func @reduce_sum_along_two_axes(%x: tensor<2x3x5xf32>) -> tensor<3xf32> {
  %r = gawee.reduce_sum %x axes [0, -1] : (tensor<2x3x5xf32>) -> tensor<3xf32>
  func.return %r : tensor<3xf32>
}

// CHECK-LABEL: func.func @reduce_mean_along_two_axes
// CHECK-NEXT:  %r = gawee.reduce_mean %x axes [0, -1] : (tensor<2x3x5xf32>) -> tensor<3xf32>
func.func @reduce_mean_along_two_axes(%x: tensor<2x3x5xf32>) -> tensor<3xf32> {
  %r = gawee.reduce_mean %x axes [0, -1] : (tensor<2x3x5xf32>) -> tensor<3xf32>
  func.return %r : tensor<3xf32>
}

// CHECK-LABEL: func.func @reduce_max_along_two_axes
// CHECK-NEXT:  %r = gawee.reduce_max %x axes [0, -1] : (tensor<2x3x5xf32>) -> tensor<3xf32>
func.func @reduce_max_along_two_axes(%x: tensor<2x3x5xf32>) -> tensor<3xf32> {
  %r = gawee.reduce_max %x axes [0, -1] : (tensor<2x3x5xf32>) -> tensor<3xf32>
  func.return %r : tensor<3xf32>
}

// CHECK-LABEL: func.func @reduce_min_along_two_axes
// CHECK-NEXT:  %r = gawee.reduce_min %x axes [0, -1] : (tensor<2x3x5xf32>) -> tensor<3xf32>
func.func @reduce_min_along_two_axes(%x: tensor<2x3x5xf32>) -> tensor<3xf32> {
  %r = gawee.reduce_min %x axes [0, -1] : (tensor<2x3x5xf32>) -> tensor<3xf32>
  func.return %r : tensor<3xf32>
}

// CHECK-LABEL: func.func @reduce_prod_along_two_axes
// CHECK-NEXT:  %r = gawee.reduce_prod %x axes [0, -1] : (tensor<2x3x5xf32>) -> tensor<3xf32>
func.func @reduce_prod_along_two_axes(%x: tensor<2x3x5xf32>) -> tensor<3xf32> {
  %r = gawee.reduce_prod %x axes [0, -1] : (tensor<2x3x5xf32>) -> tensor<3xf32>
  func.return %r : tensor<3xf32>
}

// CHECK-LABEL: func.func @reduce_any_along_two_axes
// CHECK-NEXT:  %r = gawee.reduce_any %x axes [0, -1] : (tensor<2x3x5xi1>) -> tensor<3xi1>
func.func @reduce_any_along_two_axes(%x: tensor<2x3x5xi1>) -> tensor<3xi1> {
  %r = gawee.reduce_any %x axes [0, -1] : (tensor<2x3x5xi1>) -> tensor<3xi1>
  func.return %r : tensor<3xi1>
}

// CHECK-LABEL: func.func @reduce_all_along_two_axes
// CHECK-NEXT:  %r = gawee.reduce_all %x axes [0, -1] : (tensor<2x3x5xi1>) -> tensor<3xi1>
func.func @reduce_all_along_two_axes(%x: tensor<2x3x5xi1>) -> tensor<3xi1> {
  %r = gawee.reduce_all %x axes [0, -1] : (tensor<2x3x5xi1>) -> tensor<3xi1>
  func.return %r : tensor<3xi1>
}

// CHECK-LABEL: func.func @reduce_sum_keeps_dims
// CHECK-NEXT:  %r = gawee.reduce_sum %x axes [1] keep_dims : (tensor<2x3xi64>) -> tensor<2x1xi64>
func.func @reduce_sum_keeps_dims(%x: tensor<2x3xi64>) -> tensor<2x1xi64> {
  %r = gawee.reduce_sum %x axes [1] keep_dims : (tensor<2x3xi64>) -> tensor<2x1xi64>
  func.return %r : tensor<2x1xi64>
}

// CHECK-LABEL: func.func @reduce_sum_along_no_axis
// CHECK-NEXT:  %r = gawee.reduce_sum %x axes [] : (tensor<2x3xui8>) -> tensor<2x3xui8>
func.func @reduce_sum_along_no_axis(%x: tensor<2x3xui8>) -> tensor<2x3xui8> {
  %r = gawee.reduce_sum %x axes [] : (tensor<2x3xui8>) -> tensor<2x3xui8>
  func.return %r : tensor<2x3xui8>
}

// CHECK-LABEL: func.func @arg_max_of_columns
// CHECK-NEXT:  %r = gawee.arg_max %x axis 1 : (tensor<2x3x5xf16>) -> tensor<2x5xi64>
func.func @arg_max_of_columns(%x: tensor<2x3x5xf16>) -> tensor<2x5xi64> {
  %r = gawee.arg_max %x axis 1 : (tensor<2x3x5xf16>) -> tensor<2x5xi64>
  func.return %r : tensor<2x5xi64>
}

// CHECK-LABEL: func.func @arg_min_keeps_dims
// CHECK-NEXT:  %r = gawee.arg_min %x axis -1 keep_dims : (tensor<2x3x5xi8>) -> tensor<2x3x1xi64>
func.func @arg_min_keeps_dims(%x: tensor<2x3x5xi8>) -> tensor<2x3x1xi64> {
  %r = gawee.arg_min %x axis -1 keep_dims : (tensor<2x3x5xi8>) -> tensor<2x3x1xi64>
  func.return %r : tensor<2x3x1xi64>
}
