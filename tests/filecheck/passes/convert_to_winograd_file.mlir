// RUN: gawee-opt --convert-to-winograd=target=skylake-avx512 %s | filecheck %s --check-prefix=MODEL
// RUN: gawee-opt --convert-to-winograd='target=skylake-avx512 schedules="%S/inputs/algorithms_direct.jsonl"' %s | filecheck %s --check-prefix=DIRECT
// RUN: gawee-opt --convert-to-winograd='target=skylake-avx512 schedules="%S/inputs/algorithms_winograd.jsonl"' %s | filecheck %s --check-prefix=CHOSEN
// RUN: not gawee-opt --convert-to-winograd='target=skylake-avx512 schedules="%S/inputs/algorithms_misfit.jsonl"' %s 2>&1 | filecheck %s --check-prefix=MISFIT

// MODEL: "gawee.winograd"({{.*}}tile = 4 : i64
// DIRECT-NOT: gawee.winograd
// CHOSEN: "gawee.winograd"(%{{.*}}, %{{.*}}) <{tile = 2 : i64
// CHOSEN-SAME: by_channel = false, block = 28 : i64, rows = 7 : i64, lanes = 16 : i64
// MISFIT: error: 'gawee.kernel' op cannot be computed by 'winograd' as chosen: expected 'panel' to divide the output channels (64), got 48
// MISFIT-NEXT: hint: the choice is that of {{.*}}algorithms_misfit.jsonl:1

#x = affine_map<(n, f, h, w, c, i, j) -> (n, c, h + i, w + j)>
#w = affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>
#y = affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>
func.func @a_convolution(%x: tensor<1x64x58x58xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32> {
  %y = gawee.kernel parallel [1, 64, 56, 56] reduce [64, 3, 3] ins(%x, %w : tensor<1x64x58x58xf32>, tensor<64x64x3x3xf32>) maps [#x, #w, #y] initial 0.0 : f32
    accumulate {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %sum, %0 : f32
      gawee.yield %1 : f32
    } finish {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      gawee.yield %sum : f32
    } : tensor<1x64x56x56xf32>
  func.return %y : tensor<1x64x56x56xf32>
}
