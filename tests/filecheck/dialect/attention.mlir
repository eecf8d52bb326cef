// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @causal_attention_of_grouped_heads
// CHECK-NEXT:  %r = gawee.attention %q, %k, %v scale 5.000000e-01 causal : (tensor<2x6x5x4xf32>, tensor<2x3x7x4xf32>, tensor<2x3x7x8xf32>) -> tensor<2x6x5x8xf32>
func.func @causal_attention_of_grouped_heads(%q: tensor<2x6x5x4xf32>, %k: tensor<2x3x7x4xf32>, %v: tensor<2x3x7x8xf32>) -> tensor<2x6x5x8xf32> {
  %r = gawee.attention %q, %k, %v scale 5.000000e-01 causal : (tensor<2x6x5x4xf32>, tensor<2x3x7x4xf32>, tensor<2x3x7x8xf32>) -> tensor<2x6x5x8xf32>
  func.return %r : tensor<2x6x5x8xf32>
}

// CHECK-LABEL: func.func @attention_with_a_mask_of_bits
// CHECK-NEXT:  %r = gawee.attention %q, %k, %v mask %m scale 1.000000e+00 : (tensor<5x4xf16>, tensor<7x4xf16>, tensor<7x8xf16>, tensor<1x7xi1>) -> tensor<5x8xf16>
func.func @attention_with_a_mask_of_bits(%q: tensor<5x4xf16>, %k: tensor<7x4xf16>, %v: tensor<7x8xf16>, %m: tensor<1x7xi1>) -> tensor<5x8xf16> {
  %r = gawee.attention %q, %k, %v mask %m scale 1.000000e+00 : (tensor<5x4xf16>, tensor<7x4xf16>, tensor<7x8xf16>, tensor<1x7xi1>) -> tensor<5x8xf16>
  func.return %r : tensor<5x8xf16>
}
