// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @cumsum_of_columns
// CHECK-NEXT:  %r = gawee.cumsum %x axis 0 : (tensor<2x3xi64>) -> tensor<2x3xi64>
func.func @cumsum_of_columns(%x: tensor<2x3xi64>) -> tensor<2x3xi64> {
  %r = gawee.cumsum %x axis 0 : (tensor<2x3xi64>) -> tensor<2x3xi64>
  func.return %r : tensor<2x3xi64>
}

// CHECK-LABEL: func.func @softmax_of_rows
// CHECK-NEXT:  %r = gawee.softmax %x axis -1 : (tensor<2x3xf16>) -> tensor<2x3xf16>
func.func @softmax_of_rows(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %r = gawee.softmax %x axis -1 : (tensor<2x3xf16>) -> tensor<2x3xf16>
  func.return %r : tensor<2x3xf16>
}

// CHECK-LABEL: func.func @log_softmax_of_an_inner_axis
// CHECK-NEXT:  %r = gawee.log_softmax %x axis 1 : (tensor<2x3x5xf64>) -> tensor<2x3x5xf64>
func.func @log_softmax_of_an_inner_axis(%x: tensor<2x3x5xf64>) -> tensor<2x3x5xf64> {
  %r = gawee.log_softmax %x axis 1 : (tensor<2x3x5xf64>) -> tensor<2x3x5xf64>
  func.return %r : tensor<2x3x5xf64>
}
