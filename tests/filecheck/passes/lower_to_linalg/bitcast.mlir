// RUN: gawee-opt --lower-to-linalg --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @floats_become_integers_bit_by_bit
// CHECK:       %[[V:.*]] = arith.bitcast %{{.*}} : f32 to i32
// CHECK-NEXT:  linalg.yield %[[V]] : i32
func.func @floats_become_integers_bit_by_bit(%x: tensor<2x5xf32>) -> tensor<2x5xi32> {
  %y = gawee.bitcast %x : (tensor<2x5xf32>) -> tensor<2x5xi32>
  return %y : tensor<2x5xi32>
}

// -----

// CHECK-LABEL: func.func @halves_are_not_computed_in_singles
// CHECK-NOT:   arith.extf
// CHECK:       %[[V:.*]] = arith.bitcast %{{.*}} : f16 to i16
// CHECK-NEXT:  builtin.unrealized_conversion_cast %[[V]] : i16 to ui16
func.func @halves_are_not_computed_in_singles(%x: tensor<5xf16>) -> tensor<5xui16> {
  %y = gawee.bitcast %x : (tensor<5xf16>) -> tensor<5xui16>
  return %y : tensor<5xui16>
}
