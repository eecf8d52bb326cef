// RUN: gawee-opt -p 'pack-integer-products{target=znver5}' --split-input-file %s | filecheck %s
// RUN: gawee-opt -p 'pack-integer-products{target=haswell}' --split-input-file %s | filecheck --check-prefix PAIRS %s
// RUN: gawee-opt -p 'pack-integer-products{target=apple-m1}' --split-input-file %s | filecheck --check-prefix OTHER %s

// The zero point of one factor is taken off with sums of the other, here of weights.
// CHECK-LABEL: func.func @bytes_lie_in_words_by_fours
// CHECK:         %[[X:.*]] = gawee.kernel parallel [3, 2] ins(%x, %x, %x, %x : tensor<3x8xi8>, tensor<3x8xi8>, tensor<3x8xi8>, tensor<3x8xi8>)
// CHECK:         arith.xori
// CHECK:         %[[W:.*]] = gawee.kernel parallel [2, 5] ins(%w, %w, %w, %w :
// CHECK:         %[[SUMS:.*]] = gawee.kernel parallel [5] reduce [8] ins(%b : tensor<8x5xi32>)
// CHECK:         %y = gawee.kernel parallel [3, 5] reduce [2] ins(%[[X]], %[[W]], %[[SUMS]], %zx : tensor<3x2xi32>, tensor<2x5xi32>, tensor<5xi32>, tensor<i8>)
// CHECK:         finish
// CHECK:         %[[LESS:.*]] = arith.constant -128 : i32
// CHECK-NEXT:    arith.extsi
// CHECK-NEXT:    %[[ZERO:.*]] = arith.subi %{{.*}}, %[[LESS]] : i32
// CHECK-NEXT:    %[[PART:.*]] = arith.muli %[[ZERO]], %{{.*}} : i32
// CHECK-NEXT:    arith.subi %{{.*}}, %[[PART]] : i32
//
// PAIRS-LABEL: func.func @bytes_lie_in_words_by_fours
// PAIRS:         %[[X:.*]] = gawee.kernel parallel [3, 4] ins(%x, %zx, %x :
// PAIRS:         %[[W:.*]] = gawee.kernel parallel [4, 5] ins(%w, %w :
// PAIRS:         %y = gawee.kernel parallel [3, 5] reduce [4] ins(%[[X]], %[[W]] : tensor<3x4xi32>, tensor<4x5xi32>)
//
// OTHER-LABEL: func.func @bytes_lie_in_words_by_fours
// OTHER:         gawee.kernel parallel [3, 5] reduce [8] ins(%a, %b :
func.func @bytes_lie_in_words_by_fours(%x: tensor<3x8xi8>, %zx: tensor<i8>, %w: tensor<8x5xi8> {gawee.parameter = "w"}) -> tensor<3x5xi32> {
  %a = gawee.kernel parallel [3, 8] ins(%x, %zx : tensor<3x8xi8>, tensor<i8>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> ()>, affine_map<(i, k) -> (i, k)>] finish {
  ^bb0(%e: i8, %z: i8):
    %0 = arith.extsi %e : i8 to i32
    %2 = arith.extsi %z : i8 to i32
    %1 = arith.subi %0, %2 : i32
    gawee.yield %1 : i32
  } : tensor<3x8xi32>
  %b = gawee.kernel parallel [8, 5] ins(%w : tensor<8x5xi8>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>] finish {
  ^bb0(%e: i8):
    %0 = arith.extsi %e : i8 to i32
    gawee.yield %0 : i32
  } : tensor<8x5xi32>
  %y = gawee.kernel parallel [3, 5] reduce [8] ins(%a, %b : tensor<3x8xi32>, tensor<8x5xi32>)
    maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]
    initial 0 : i32 accumulate {
  ^bb0(%l: i32, %r: i32, %s: i32):
    %0 = arith.muli %l, %r : i32
    %1 = arith.addi %s, %0 : i32
    gawee.yield %1 : i32
  } finish {
  ^bb0(%l: i32, %r: i32, %s: i32):
    gawee.yield %s : i32
  } : tensor<3x5xi32>
  func.return %y : tensor<3x5xi32>
}

// -----

// Nothing says that numbers of 32 bits are small.
// CHECK-LABEL: func.func @whole_integers_stay
// CHECK:         gawee.kernel parallel [3, 5] reduce [8] ins(%a, %b :
// PAIRS-LABEL: func.func @whole_integers_stay
// PAIRS:         gawee.kernel parallel [3, 5] reduce [8] ins(%a, %b :
func.func @whole_integers_stay(%a: tensor<3x8xi32>, %b: tensor<8x5xi32>) -> tensor<3x5xi32> {
  %y = gawee.kernel parallel [3, 5] reduce [8] ins(%a, %b : tensor<3x8xi32>, tensor<8x5xi32>)
    maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]
    initial 0 : i32 accumulate {
  ^bb0(%l: i32, %r: i32, %s: i32):
    %0 = arith.muli %l, %r : i32
    %1 = arith.addi %s, %0 : i32
    gawee.yield %1 : i32
  } finish {
  ^bb0(%l: i32, %r: i32, %s: i32):
    gawee.yield %s : i32
  } : tensor<3x5xi32>
  func.return %y : tensor<3x5xi32>
}

// -----

// Of numbers of 16 bits a word holds two.
// CHECK-LABEL: func.func @short_integers_lie_in_words_by_pairs
// CHECK:         gawee.kernel parallel [3, 5] reduce [4] ins(
// PAIRS-LABEL: func.func @short_integers_lie_in_words_by_pairs
// PAIRS:         gawee.kernel parallel [3, 5] reduce [4] ins(
func.func @short_integers_lie_in_words_by_pairs(%x: tensor<3x8xi16>, %zx: tensor<i8>, %w: tensor<8x5xi16> {gawee.parameter = "w"}) -> tensor<3x5xi32> {
  %a = gawee.kernel parallel [3, 8] ins(%x : tensor<3x8xi16>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>] finish {
  ^bb0(%e: i16):
    %0 = arith.extsi %e : i16 to i32
    gawee.yield %0 : i32
  } : tensor<3x8xi32>
  %b = gawee.kernel parallel [8, 5] ins(%w : tensor<8x5xi16>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>] finish {
  ^bb0(%e: i16):
    %0 = arith.extsi %e : i16 to i32
    gawee.yield %0 : i32
  } : tensor<8x5xi32>
  %y = gawee.kernel parallel [3, 5] reduce [8] ins(%a, %b : tensor<3x8xi32>, tensor<8x5xi32>)
    maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]
    initial 0 : i32 accumulate {
  ^bb0(%l: i32, %r: i32, %s: i32):
    %0 = arith.muli %l, %r : i32
    %1 = arith.addi %s, %0 : i32
    gawee.yield %1 : i32
  } finish {
  ^bb0(%l: i32, %r: i32, %s: i32):
    gawee.yield %s : i32
  } : tensor<3x5xi32>
  func.return %y : tensor<3x5xi32>
}

// -----

// Bytes that no word is full of have zeros behind them.
// CHECK-LABEL: func.func @the_last_word_is_filled_with_zeros
// CHECK:         gawee.kernel parallel [3, 7] ins(%x : tensor<3x7xui8>)
// CHECK:         } : tensor<3x8xui8>
// CHECK:         gawee.kernel parallel [3, 2] ins(
// CHECK:         gawee.kernel parallel [3, 5] reduce [2] ins(
func.func @the_last_word_is_filled_with_zeros(%x: tensor<3x7xui8>, %zx: tensor<i8>, %w: tensor<7x5xi8> {gawee.parameter = "w"}) -> tensor<3x5xi32> {
  %a = gawee.kernel parallel [3, 7] ins(%x, %zx : tensor<3x7xui8>, tensor<i8>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> ()>, affine_map<(i, k) -> (i, k)>] finish {
  ^bb0(%e: ui8, %z: i8):
    %s = builtin.unrealized_conversion_cast %e : ui8 to i8
    %0 = arith.extui %s : i8 to i32
    %2 = arith.extsi %z : i8 to i32
    %1 = arith.subi %0, %2 : i32
    gawee.yield %1 : i32
  } : tensor<3x7xi32>
  %b = gawee.kernel parallel [7, 5] ins(%w : tensor<7x5xi8>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>] finish {
  ^bb0(%e: i8):
    %0 = arith.extsi %e : i8 to i32
    gawee.yield %0 : i32
  } : tensor<7x5xi32>
  %y = gawee.kernel parallel [3, 5] reduce [7] ins(%a, %b : tensor<3x7xi32>, tensor<7x5xi32>)
    maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]
    initial 0 : i32 accumulate {
  ^bb0(%l: i32, %r: i32, %s: i32):
    %0 = arith.muli %l, %r : i32
    %1 = arith.addi %s, %0 : i32
    gawee.yield %1 : i32
  } finish {
  ^bb0(%l: i32, %r: i32, %s: i32):
    gawee.yield %s : i32
  } : tensor<3x5xi32>
  func.return %y : tensor<3x5xi32>
}

// -----

// Neighbours along a row of each window are a word where they are read: of three, the fourth byte
// counts nothing. Rows are longer by as much, and padded with the zero point.
// CHECK-LABEL: func.func @windows_of_bytes_are_read_by_fours
// CHECK:         %[[X:.*]] = gawee.kernel parallel [1, 2, 5, 6] ins(%x : tensor<1x2x5x6xui8>)
// CHECK-SAME:      affine_map<(d0, d1, d2, d3) -> (d0, d1, (d2 + 1), (d3 + 1))>] outside 7 : ui8 finish
// CHECK:         } : tensor<1x2x7x9xui8>
// CHECK:         gawee.kernel parallel [2, 3, 3] ins(%w : tensor<2x3x3xi8>)
// CHECK:         } : tensor<2x3x4xi8>
// CHECK:         %[[W:.*]] = gawee.kernel parallel [2, 3, 1] ins(
// CHECK:         %[[SUMS:.*]] = gawee.kernel parallel [2] reduce [3, 3] ins(%b :
// CHECK:         %y = gawee.kernel parallel [1, 2, 3, 6] reduce [3, 1] ins(%[[X]], %[[X]], %[[X]], %[[X]], %[[W]], %[[SUMS]] :
// CHECK-SAME:      affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, ((d2 * 2) + d4), (d3 + 3))>
// CHECK:           arith.ori
//
// PAIRS-LABEL: func.func @windows_of_bytes_are_read_by_fours
// PAIRS:         %y = gawee.kernel parallel [1, 2, 3, 6] reduce [3, 3] ins(%a, %b :
func.func @windows_of_bytes_are_read_by_fours(%x: tensor<1x2x5x6xui8>, %w: tensor<2x3x3xi8> {gawee.parameter = "w"}) -> tensor<1x2x3x6xi32> {
  %a = gawee.kernel parallel [1, 2, 5, 6] ins(%x : tensor<1x2x5x6xui8>)
    maps [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h + 1, w + 1)>] finish {
  ^bb0(%e: ui8):
    %s = builtin.unrealized_conversion_cast %e : ui8 to i8
    %0 = arith.extui %s : i8 to i32
    %z = arith.constant 7 : i32
    %1 = arith.subi %0, %z : i32
    gawee.yield %1 : i32
  } : tensor<1x2x7x8xi32>
  %b = gawee.kernel parallel [2, 3, 3] ins(%w : tensor<2x3x3xi8>)
    maps [affine_map<(c, i, j) -> (c, i, j)>, affine_map<(c, i, j) -> (c, i, j)>] finish {
  ^bb0(%e: i8):
    %0 = arith.extsi %e : i8 to i32
    gawee.yield %0 : i32
  } : tensor<2x3x3xi32>
  %y = gawee.kernel parallel [1, 2, 3, 6] reduce [3, 3] ins(%a, %b : tensor<1x2x7x8xi32>, tensor<2x3x3xi32>)
    maps [affine_map<(n, c, h, w, i, j) -> (n, c, h * 2 + i, w + j)>, affine_map<(n, c, h, w, i, j) -> (c, i, j)>, affine_map<(n, c, h, w, i, j) -> (n, c, h, w)>]
    initial 0 : i32 accumulate {
  ^bb0(%l: i32, %r: i32, %s: i32):
    %0 = arith.muli %l, %r : i32
    %1 = arith.addi %s, %0 : i32
    gawee.yield %1 : i32
  } finish {
  ^bb0(%l: i32, %r: i32, %s: i32):
    gawee.yield %s : i32
  } : tensor<1x2x3x6xi32>
  func.return %y : tensor<1x2x3x6xi32>
}

// -----

// There is no byte without a sign whose difference to -128 is 0, which pads.
// CHECK-LABEL: func.func @what_no_byte_stands_for_is_not_padded_with
// CHECK:         %y = gawee.kernel parallel [2, 4] reduce [2, 3] ins(
func.func @what_no_byte_stands_for_is_not_padded_with(%x: tensor<4x4xui8>, %w: tensor<2x4x3xi8> {gawee.parameter = "w"}) -> tensor<2x4xi32> {
  %a = gawee.kernel parallel [4, 4] ins(%x : tensor<4x4xui8>)
    maps [affine_map<(c, w) -> (c, w)>, affine_map<(c, w) -> (c, w + 1)>] finish {
  ^bb0(%e: ui8):
    %s = builtin.unrealized_conversion_cast %e : ui8 to i8
    %0 = arith.extui %s : i8 to i32
    %z = arith.constant -128 : i32
    %1 = arith.subi %0, %z : i32
    gawee.yield %1 : i32
  } : tensor<4x6xi32>
  %b = gawee.kernel parallel [2, 4, 3] ins(%w : tensor<2x4x3xi8>)
    maps [affine_map<(f, c, j) -> (f, c, j)>, affine_map<(f, c, j) -> (f, c, j)>] finish {
  ^bb0(%e: i8):
    %0 = arith.extsi %e : i8 to i32
    gawee.yield %0 : i32
  } : tensor<2x4x3xi32>
  %y = gawee.kernel parallel [2, 4] reduce [4, 3] ins(%a, %b : tensor<4x6xi32>, tensor<2x4x3xi32>)
    maps [affine_map<(f, w, c, j) -> (c, w + j)>, affine_map<(f, w, c, j) -> (f, c, j)>, affine_map<(f, w, c, j) -> (f, w)>]
    initial 0 : i32 accumulate {
  ^bb0(%l: i32, %r: i32, %s: i32):
    %0 = arith.muli %l, %r : i32
    %1 = arith.addi %s, %0 : i32
    gawee.yield %1 : i32
  } finish {
  ^bb0(%l: i32, %r: i32, %s: i32):
    gawee.yield %s : i32
  } : tensor<2x4xi32>
  func.return %y : tensor<2x4xi32>
}

// -----

// Words of three channels would be as many, with a byte in four that stands for nothing; those of
// four columns of a row are full.
// CHECK-LABEL: func.func @windows_of_few_channels_are_read_by_fours
// CHECK:         %y = gawee.kernel parallel [2, 5] reduce [3, 1] ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<3x8xui8>, tensor<3x8xui8>, tensor<3x8xui8>, tensor<3x8xui8>, tensor<2x3x1xi32>)
// PAIRS-LABEL: func.func @windows_of_few_channels_are_read_by_fours
// PAIRS:         %y = gawee.kernel parallel [2, 5] reduce [2, 4] ins(
func.func @windows_of_few_channels_are_read_by_fours(%x: tensor<3x8xui8>, %w: tensor<2x3x4xi8> {gawee.parameter = "w"}) -> tensor<2x5xi32> {
  %a = gawee.kernel parallel [3, 8] ins(%x : tensor<3x8xui8>)
    maps [affine_map<(c, w) -> (c, w)>, affine_map<(c, w) -> (c, w)>] finish {
  ^bb0(%e: ui8):
    %s = builtin.unrealized_conversion_cast %e : ui8 to i8
    %0 = arith.extui %s : i8 to i32
    gawee.yield %0 : i32
  } : tensor<3x8xi32>
  %b = gawee.kernel parallel [2, 3, 4] ins(%w : tensor<2x3x4xi8>)
    maps [affine_map<(f, c, j) -> (f, c, j)>, affine_map<(f, c, j) -> (f, c, j)>] finish {
  ^bb0(%e: i8):
    %0 = arith.extsi %e : i8 to i32
    gawee.yield %0 : i32
  } : tensor<2x3x4xi32>
  %y = gawee.kernel parallel [2, 5] reduce [3, 4] ins(%a, %b : tensor<3x8xi32>, tensor<2x3x4xi32>)
    maps [affine_map<(f, w, c, j) -> (c, w + j)>, affine_map<(f, w, c, j) -> (f, c, j)>, affine_map<(f, w, c, j) -> (f, w)>]
    initial 0 : i32 accumulate {
  ^bb0(%l: i32, %r: i32, %s: i32):
    %0 = arith.muli %l, %r : i32
    %1 = arith.addi %s, %0 : i32
    gawee.yield %1 : i32
  } finish {
  ^bb0(%l: i32, %r: i32, %s: i32):
    gawee.yield %s : i32
  } : tensor<2x5xi32>
  func.return %y : tensor<2x5xi32>
}
