// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @exp_on_f16
// CHECK-NEXT:  %r = gawee.exp %x : (tensor<2x3xf16>) -> tensor<2x3xf16>
func.func @exp_on_f16(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %r = gawee.exp %x : (tensor<2x3xf16>) -> tensor<2x3xf16>
  func.return %r : tensor<2x3xf16>
}

// CHECK-LABEL: func.func @log_on_f32
// CHECK-NEXT:  %r = gawee.log %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @log_on_f32(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = gawee.log %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @log1p_on_f64
// CHECK-NEXT:  %r = gawee.log1p %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
func.func @log1p_on_f64(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %r = gawee.log1p %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  func.return %r : tensor<2x3xf64>
}

// CHECK-LABEL: func.func @tanh_on_f16
// CHECK-NEXT:  %r = gawee.tanh %x : (tensor<2x3xf16>) -> tensor<2x3xf16>
func.func @tanh_on_f16(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %r = gawee.tanh %x : (tensor<2x3xf16>) -> tensor<2x3xf16>
  func.return %r : tensor<2x3xf16>
}

// CHECK-LABEL: func.func @erf_on_f32
// CHECK-NEXT:  %r = gawee.erf %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @erf_on_f32(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = gawee.erf %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @sin_on_f64
// CHECK-NEXT:  %r = gawee.sin %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
func.func @sin_on_f64(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %r = gawee.sin %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  func.return %r : tensor<2x3xf64>
}

// CHECK-LABEL: func.func @cos_on_f16
// CHECK-NEXT:  %r = gawee.cos %x : (tensor<2x3xf16>) -> tensor<2x3xf16>
func.func @cos_on_f16(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %r = gawee.cos %x : (tensor<2x3xf16>) -> tensor<2x3xf16>
  func.return %r : tensor<2x3xf16>
}

// CHECK-LABEL: func.func @rsqrt_on_f32
// CHECK-NEXT:  %r = gawee.rsqrt %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @rsqrt_on_f32(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = gawee.rsqrt %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}
