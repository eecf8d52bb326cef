// RUN: gawee-opt %s --split-input-file -p 'assign-schedules{target=znver5}' | filecheck %s
// RUN: gawee-opt %s --split-input-file -p 'assign-schedules{target=skylake-avx512}' | filecheck --check-prefix OTHER %s

// Weights have pairs along the reduction in each lane.
// CHECK-LABEL: func.func @products_of_bf16_take_two_terms_a_step
// CHECK:         %[[W:.*]] = gawee.kernel parallel [32, 64] ins(%w : tensor<32x64xbf16>)
// CHECK-SAME:      ((d1 floordiv 2), ((d0 * 2) + (d1 mod 2)))
// CHECK:         gawee.kernel parallel [6, 32] reduce [64]
// CHECK:         } schedule #gawee.schedule<loops = [d2 by 2], vector = d1 by 16
// OTHER-LABEL: func.func @products_of_bf16_take_two_terms_a_step
// OTHER-NOT:     by 2]
func.func @products_of_bf16_take_two_terms_a_step(%x: tensor<6x64xbf16> {gawee.input = "x"}, %w: tensor<32x64xbf16> {gawee.parameter = "w"}) -> (tensor<6x32xf32> {gawee.output = "y"}) {
  %y = gawee.kernel parallel [6, 32] reduce [64] ins(%x, %w : tensor<6x64xbf16>, tensor<32x64xbf16>)
    maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%a: bf16, %b: bf16, %t: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %t, %2 : f32
    gawee.yield %3 : f32
  } finish {
  ^bb0(%a: bf16, %b: bf16, %t: f32):
    gawee.yield %t : f32
  } : tensor<6x32xf32>
  func.return %y : tensor<6x32xf32>
}

// -----

// CHECK-LABEL: func.func @an_odd_number_of_terms_is_taken_one_by_one
// CHECK-NOT:     by 2]
func.func @an_odd_number_of_terms_is_taken_one_by_one(%x: tensor<6x65xbf16> {gawee.input = "x"}, %w: tensor<32x65xbf16> {gawee.parameter = "w"}) -> (tensor<6x32xf32> {gawee.output = "y"}) {
  %y = gawee.kernel parallel [6, 32] reduce [65] ins(%x, %w : tensor<6x65xbf16>, tensor<32x65xbf16>)
    maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%a: bf16, %b: bf16, %t: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %t, %2 : f32
    gawee.yield %3 : f32
  } finish {
  ^bb0(%a: bf16, %b: bf16, %t: f32):
    gawee.yield %t : f32
  } : tensor<6x32xf32>
  func.return %y : tensor<6x32xf32>
}
