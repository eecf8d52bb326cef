// RUN: gawee-opt %s -p 'narrow-products{target=znver5}' | filecheck %s
// RUN: gawee-opt %s -p 'narrow-products{target=icelake-server}' | filecheck --check-prefix OTHER %s

// What was a bf16 is read as one. OTHER processors multiply f32 alone.
// CHECK-LABEL: func.func @a_widened_input_is_read_as_it_is_stored
// CHECK-NEXT:    %y = gawee.kernel parallel [6, 32] reduce [64] ins(%w, %x : tensor<32x64xbf16>, tensor<6x64xbf16>)
// OTHER-LABEL: func.func @a_widened_input_is_read_as_it_is_stored
// OTHER:         gawee.kernel parallel [6, 32] reduce [64] ins(%a, %w : tensor<6x64xf32>, tensor<32x64xbf16>)
func.func @a_widened_input_is_read_as_it_is_stored(%x: tensor<6x64xbf16> {gawee.input = "x"}, %w: tensor<32x64xbf16> {gawee.parameter = "w"}) -> (tensor<6x32xf32> {gawee.output = "y"}) {
  %a = gawee.kernel parallel [6, 64] ins(%x : tensor<6x64xbf16>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] finish {
  ^bb0(%0: bf16):
    %1 = arith.extf %0 : bf16 to f32
    gawee.yield %1 : f32
  } : tensor<6x64xf32>
  %y = gawee.kernel parallel [6, 32] reduce [64] ins(%a, %w : tensor<6x64xf32>, tensor<32x64xbf16>)
    maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%p: f32, %q: bf16, %t: f32):
    %0 = arith.extf %q : bf16 to f32
    %1 = arith.mulf %p, %0 : f32
    %2 = arith.addf %t, %1 : f32
    gawee.yield %2 : f32
  } finish {
  ^bb0(%p: f32, %q: bf16, %t: f32):
    gawee.yield %t : f32
  } : tensor<6x32xf32>
  func.return %y : tensor<6x32xf32>
}

// What is computed in f32 and rounded is converted once more, for all rows.
// CHECK-LABEL: func.func @what_is_computed_is_converted_once
// CHECK:         %a = gawee.kernel parallel ["n", 64]
// CHECK:         %[[A:.*]] = gawee.kernel parallel ["n", 64] counts(n = %{{.*}}) ins(%a : tensor<?x64xf32>)
// CHECK:           arith.truncf
// CHECK:         gawee.kernel parallel ["n", 32] reduce [64] counts(n = %{{.*}}) ins(%[[A]], %w : tensor<?x64xbf16>, tensor<32x64xbf16>)
func.func @what_is_computed_is_converted_once(%x: tensor<?x64xf32> {gawee.input = "x", gawee.sizes = ["n", "-"]}, %w: tensor<32x64xbf16> {gawee.parameter = "w"})
    -> (tensor<?x32xf32> {gawee.output = "y"}) attributes {gawee.ranges = {n = "1 to 300"}} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  %a = gawee.kernel parallel ["n", 64] counts(n = %n) ins(%x : tensor<?x64xf32>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] finish {
  ^bb0(%0: f32):
    %1 = arith.negf %0 : f32
    %2 = arith.truncf %1 : f32 to bf16
    %3 = arith.extf %2 : bf16 to f32
    gawee.yield %3 : f32
  } : tensor<?x64xf32> shape ["n", 64]
  %y = gawee.kernel parallel ["n", 32] reduce [64] counts(n = %n) ins(%a, %w : tensor<?x64xf32>, tensor<32x64xbf16>)
    maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%p: f32, %q: bf16, %t: f32):
    %0 = arith.extf %q : bf16 to f32
    %1 = arith.mulf %p, %0 : f32
    %2 = arith.addf %t, %1 : f32
    gawee.yield %2 : f32
  } finish {
  ^bb0(%p: f32, %q: bf16, %t: f32):
    gawee.yield %t : f32
  } : tensor<?x32xf32> shape ["n", 32]
  func.return %y : tensor<?x32xf32>
}

// What no bf16 holds stays.
// CHECK-LABEL: func.func @an_f32_stays_one
// CHECK-NEXT:    %y = gawee.kernel parallel [6, 32] reduce [64] ins(%x, %w : tensor<6x64xf32>, tensor<32x64xbf16>)
func.func @an_f32_stays_one(%x: tensor<6x64xf32> {gawee.input = "x"}, %w: tensor<32x64xbf16> {gawee.parameter = "w"}) -> (tensor<6x32xf32> {gawee.output = "y"}) {
  %y = gawee.kernel parallel [6, 32] reduce [64] ins(%x, %w : tensor<6x64xf32>, tensor<32x64xbf16>)
    maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%p: f32, %q: bf16, %t: f32):
    %0 = arith.extf %q : bf16 to f32
    %1 = arith.mulf %p, %0 : f32
    %2 = arith.addf %t, %1 : f32
    gawee.yield %2 : f32
  } finish {
  ^bb0(%p: f32, %q: bf16, %t: f32):
    gawee.yield %t : f32
  } : tensor<6x32xf32>
  func.return %y : tensor<6x32xf32>
}
