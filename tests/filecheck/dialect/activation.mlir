// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @sigmoid_on_a_matrix
// CHECK-NEXT:  %r = gawee.sigmoid %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @sigmoid_on_a_matrix(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = gawee.sigmoid %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @silu_on_a_matrix
// CHECK-NEXT:  %r = gawee.silu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @silu_on_a_matrix(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = gawee.silu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @hard_sigmoid_on_a_matrix
// CHECK-NEXT:  %r = gawee.hard_sigmoid %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @hard_sigmoid_on_a_matrix(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = gawee.hard_sigmoid %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @hard_swish_on_a_matrix
// CHECK-NEXT:  %r = gawee.hard_swish %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @hard_swish_on_a_matrix(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = gawee.hard_swish %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @softplus_on_a_matrix
// CHECK-NEXT:  %r = gawee.softplus %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @softplus_on_a_matrix(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = gawee.softplus %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @leaky_relu_on_a_scalar
// CHECK-NEXT:  %r = gawee.leaky_relu %x alpha -2.500000e-01 : (tensor<f32>) -> tensor<f32>
func.func @leaky_relu_on_a_scalar(%x: tensor<f32>) -> tensor<f32> {
  %r = gawee.leaky_relu %x alpha -2.500000e-01 : (tensor<f32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// CHECK-LABEL: func.func @elu_on_f16
// CHECK-NEXT:  %r = gawee.elu %x alpha 1.000000e+00 : (tensor<2x3xf16>) -> tensor<2x3xf16>
func.func @elu_on_f16(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %r = gawee.elu %x alpha 1.000000e+00 : (tensor<2x3xf16>) -> tensor<2x3xf16>
  func.return %r : tensor<2x3xf16>
}

// CHECK-LABEL: func.func @gelu_exact
// CHECK-NEXT:  %r = gawee.gelu %x approximate "none" : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @gelu_exact(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = gawee.gelu %x approximate "none" : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @gelu_approximate
// CHECK-NEXT:  %r = gawee.gelu %x approximate "tanh" : (tensor<2x3xf64>) -> tensor<2x3xf64>
func.func @gelu_approximate(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %r = gawee.gelu %x approximate "tanh" : (tensor<2x3xf64>) -> tensor<2x3xf64>
  func.return %r : tensor<2x3xf64>
}

// CHECK-LABEL: func.func @clip_with_both_bounds
// CHECK-NEXT:  %r = gawee.clip %x min -1.000000e+00 max 6.000000e+00 : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @clip_with_both_bounds(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = gawee.clip %x min -1.000000e+00 max 6.000000e+00 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @clip_from_below
// CHECK-NEXT:  %r = gawee.clip %x min 2.000000e+00 : (tensor<2x3xi64>) -> tensor<2x3xi64>
func.func @clip_from_below(%x: tensor<2x3xi64>) -> tensor<2x3xi64> {
  %r = gawee.clip %x min 2.000000e+00 : (tensor<2x3xi64>) -> tensor<2x3xi64>
  func.return %r : tensor<2x3xi64>
}

// CHECK-LABEL: func.func @clip_from_above
// CHECK-NEXT:  %r = gawee.clip %x max 2.550000e+02 : (tensor<2x3xui8>) -> tensor<2x3xui8>
func.func @clip_from_above(%x: tensor<2x3xui8>) -> tensor<2x3xui8> {
  %r = gawee.clip %x max 2.550000e+02 : (tensor<2x3xui8>) -> tensor<2x3xui8>
  func.return %r : tensor<2x3xui8>
}

// CHECK-LABEL: func.func @clip_without_bounds
// CHECK-NEXT:  %r = gawee.clip %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @clip_without_bounds(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = gawee.clip %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}

// Its bits are how xDSL prints a float that has no point in 17 digits.
// CHECK-LABEL: func.func @clip_with_a_large_bound
// CHECK-NEXT:  %r = gawee.clip %x max 0x41DFFFFFFFC00000 : (tensor<2x3xi64>) -> tensor<2x3xi64>
func.func @clip_with_a_large_bound(%x: tensor<2x3xi64>) -> tensor<2x3xi64> {
  %r = gawee.clip %x max 0x41DFFFFFFFC00000 : (tensor<2x3xi64>) -> tensor<2x3xi64>
  func.return %r : tensor<2x3xi64>
}
