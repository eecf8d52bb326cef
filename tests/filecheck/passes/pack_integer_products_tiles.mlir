// RUN: gawee-opt -p 'pack-integer-products{target=sapphirerapids}' %s | filecheck %s
// RUN: gawee-opt -p 'pack-integer-products{target=znver5}' %s | filecheck --check-prefix VECTORS %s

// Three channels are a word, of which tiles load seven neighbours; vectors join words of four neighbours of a channel.
// CHECK-LABEL: func.func @few_channels_are_a_word
// CHECK:         %[[X:.*]] = gawee.kernel parallel [1, 1, 11, 13] ins(
// CHECK:         } : tensor<1x1x11x13xi32>
// CHECK:         gawee.kernel parallel [1, 16, 3, 4] reduce [1, 7, 7] ins(%[[X]], %{{.*}} : tensor<1x1x11x13xi32>, tensor<16x1x7x7xi32>)
// VECTORS-LABEL: func.func @few_channels_are_a_word
// VECTORS:       gawee.kernel parallel [1, 16, 3, 4] reduce [3, 7, 2]
func.func @few_channels_are_a_word(%x: tensor<1x3x11x13xui8>, %w: tensor<16x3x7x7xi8> {gawee.parameter = "w"}) -> tensor<1x16x3x4xi32> {
  %a = gawee.kernel parallel [1, 3, 11, 13] ins(%x : tensor<1x3x11x13xui8>)
    maps [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>] finish {
  ^bb0(%e: ui8):
    %0 = builtin.unrealized_conversion_cast %e : ui8 to i8
    %1 = arith.extui %0 : i8 to i32
    gawee.yield %1 : i32
  } : tensor<1x3x11x13xi32>
  %b = gawee.kernel parallel [16, 3, 7, 7] ins(%w : tensor<16x3x7x7xi8>)
    maps [affine_map<(f, c, i, j) -> (f, c, i, j)>, affine_map<(f, c, i, j) -> (f, c, i, j)>] finish {
  ^bb0(%e: i8):
    %0 = arith.extsi %e : i8 to i32
    gawee.yield %0 : i32
  } : tensor<16x3x7x7xi32>
  %y = gawee.kernel parallel [1, 16, 3, 4] reduce [3, 7, 7] ins(%a, %b : tensor<1x3x11x13xi32>, tensor<16x3x7x7xi32>)
    maps [affine_map<(n, f, h, w, c, i, j) -> (n, c, h * 2 + i, w * 2 + j)>,
    affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>,
    affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>]
    initial 0 : i32 accumulate {
  ^bb0(%l: i32, %r: i32, %s: i32):
    %0 = arith.muli %l, %r : i32
    %1 = arith.addi %s, %0 : i32
    gawee.yield %1 : i32
  } finish {
  ^bb0(%l: i32, %r: i32, %s: i32):
    gawee.yield %s : i32
  } : tensor<1x16x3x4xi32>
  func.return %y : tensor<1x16x3x4xi32>
}
