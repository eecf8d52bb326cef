// RUN: gawee-opt --form-kernels --split-input-file %s | filecheck %s

// The loops that are reduced come last, and what is filled in becomes `initial`.
// CHECK-LABEL: func.func @a_convolution_starts_with_what_its_output_is_filled_with
// CHECK-NEXT:    gawee.kernel parallel [2, 5, 4, 3] reduce [3, 2, 2] ins(%x, %w :
// CHECK-SAME:      (d0, d4, ((d2 * 2) + d5), (d3 + d6))>
// CHECK-SAME:      (d1, d4, d5, d6)>
// CHECK-SAME:      (d0, d1, d2, d3)>] initial 1.500000e+00 : f32 accumulate {
// CHECK:           arith.mulf
// CHECK-NEXT:      arith.addf
// CHECK:         } finish {
func.func @a_convolution_starts_with_what_its_output_is_filled_with(%x: tensor<2x3x8x4xf32>, %w: tensor<5x3x2x2xf32>) -> tensor<2x5x4x3xf32> {
  %c = arith.constant 1.5 : f32
  %e = tensor.empty() : tensor<2x5x4x3xf32>
  %i = linalg.fill ins(%c : f32) outs(%e : tensor<2x5x4x3xf32>) -> tensor<2x5x4x3xf32>
  %y = linalg.conv_2d_nchw_fchw {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<2x3x8x4xf32>, tensor<5x3x2x2xf32>) outs(%i : tensor<2x5x4x3xf32>) -> tensor<2x5x4x3xf32>
  func.return %y : tensor<2x5x4x3xf32>
}

// -----

// CHECK-LABEL: func.func @a_broadcast_bias_is_added_at_the_end
// CHECK-NEXT:    %{{.*}} = gawee.kernel parallel [4, 5] reduce [7] ins(%a, %b, %bias :
// CHECK-SAME:      (d0, d1, d2) -> (d1)>
// CHECK-SAME:      initial 0.000000e+00 : f32
// CHECK:         } finish {
// CHECK-NEXT:    ^bb0(%{{.*}}: f32, %{{.*}}: f32, %[[BIAS:.*]]: f32, %[[SUM:.*]]: f32):
// CHECK-NEXT:      arith.addf %[[BIAS]], %[[SUM]]
// CHECK-NOT:     linalg
func.func @a_broadcast_bias_is_added_at_the_end(%a: tensor<4x7xf32>, %b: tensor<7x5xf32>, %bias: tensor<5xf32>) -> tensor<4x5xf32> {
  %e = tensor.empty() : tensor<4x5xf32>
  %i = linalg.broadcast ins(%bias : tensor<5xf32>) outs(%e : tensor<4x5xf32>) dimensions = [0]
  %y = linalg.matmul ins(%a, %b : tensor<4x7xf32>, tensor<7x5xf32>) outs(%i : tensor<4x5xf32>) -> tensor<4x5xf32>
  func.return %y : tensor<4x5xf32>
}

// -----

// The window operand, which has no uses, goes.
// CHECK-LABEL: func.func @padding_leaves_its_constant_outside
// CHECK-NEXT:    %[[P:.*]] = gawee.kernel parallel [2, 3, 5, 4] ins(%x :
// CHECK-SAME:      (d0, d1, (d2 + 1), d3)>] outside 0xff800000 : f32 finish
// CHECK:         gawee.kernel parallel [2, 3, 5, 3] reduce [3, 2] ins(%[[P]] :
// CHECK-SAME:      initial 0xff800000 : f32
func.func @padding_leaves_its_constant_outside(%x: tensor<2x3x5x4xf32>) -> tensor<2x3x5x3xf32> {
  %c = arith.constant 0xff800000 : f32
  %p = tensor.pad %x low[0, 0, 1, 0] high[0, 0, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %c : f32
  } : tensor<2x3x5x4xf32> to tensor<2x3x7x4xf32>
  %w = tensor.empty() : tensor<3x2xf32>
  %e = tensor.empty() : tensor<2x3x5x3xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x3x5x3xf32>) -> tensor<2x3x5x3xf32>
  %y = linalg.pooling_nchw_max {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%p, %w : tensor<2x3x7x4xf32>, tensor<3x2xf32>) outs(%f : tensor<2x3x5x3xf32>) -> tensor<2x3x5x3xf32>
  func.return %y : tensor<2x3x5x3xf32>
}

// -----

// CHECK-LABEL: func.func @a_body_that_asks_for_its_position_stays
// CHECK:         linalg.generic
// CHECK:           linalg.index
// CHECK-NOT:     gawee.kernel
func.func @a_body_that_asks_for_its_position_stays() -> tensor<3xindex> {
  %e = tensor.empty() : tensor<3xindex>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<3xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    linalg.yield %i : index
  } -> tensor<3xindex>
  func.return %y : tensor<3xindex>
}

// -----

// acc * acc + x gives another result in another order.
// CHECK-LABEL: func.func @a_reduction_that_has_an_order_stays
// CHECK:         linalg.generic
// CHECK-NOT:     gawee.kernel
func.func @a_reduction_that_has_an_order_stays(%x: tensor<3x5xf32>, %i: tensor<3xf32>) -> tensor<3xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf32>) outs(%i : tensor<3xf32>) {
  ^bb0(%e: f32, %s: f32):
    %p = arith.mulf %s, %s : f32
    %q = arith.addf %p, %e : f32
    linalg.yield %q : f32
  } -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// -----

// Arithmetic has no constants without a sign: what pads is a cast of one.
// CHECK-LABEL: func.func @bytes_without_a_sign_are_padded_and_moved_by_a_kernel
// CHECK:         gawee.kernel parallel [3, 5] ins(%x : tensor<3x5xui8>)
// CHECK-SAME:      outside 7 : ui8
// CHECK:         } : tensor<5x4xui8>
func.func @bytes_without_a_sign_are_padded_and_moved_by_a_kernel(%x: tensor<3x5xui8>) -> tensor<5x4xui8> {
  %c = arith.constant 7 : i8
  %u = builtin.unrealized_conversion_cast %c : i8 to ui8
  %p = tensor.pad %x low[1, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %u : ui8
  } : tensor<3x5xui8> to tensor<4x5xui8>
  %e = tensor.empty() : tensor<5x4xui8>
  %t = linalg.transpose ins(%p : tensor<4x5xui8>) outs(%e : tensor<5x4xui8>) permutation = [1, 0]
  func.return %t : tensor<5x4xui8>
}

// -----

// The bits of a byte are the same with a sign and without.
// CHECK-LABEL: func.func @bytes_without_a_sign_are_computed_with
// CHECK:         gawee.kernel parallel [3, 5] ins(%x : tensor<3x5xui8>)
// CHECK:         %[[B:.*]] = builtin.unrealized_conversion_cast %{{.*}} : ui8 to i8
// CHECK-NEXT:    arith.extui %[[B]] : i8 to i32
// CHECK-NOT:     linalg
func.func @bytes_without_a_sign_are_computed_with(%x: tensor<3x5xui8>) -> tensor<3x5xi32> {
  %e = tensor.empty() : tensor<3x5xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x5xui8>) outs(%e : tensor<3x5xi32>) {
  ^bb0(%u: ui8, %o: i32):
    %b = builtin.unrealized_conversion_cast %u : ui8 to i8
    %w = arith.extui %b : i8 to i32
    linalg.yield %w : i32
  } -> tensor<3x5xi32>
  func.return %y : tensor<3x5xi32>
}

// -----

// CHECK-LABEL: func.func @what_a_branch_computes_is_a_kernel
// CHECK:         scf.if
// CHECK-NEXT:      gawee.kernel parallel [5] ins(%x
// CHECK:         } else {
// CHECK-NEXT:      scf.yield %x
func.func @what_a_branch_computes_is_a_kernel(%x: tensor<5xf32>, %c: i1) -> tensor<5xf32> {
  %y = scf.if %c -> (tensor<5xf32>) {
    %e = tensor.empty() : tensor<5xf32>
    %a = linalg.exp ins(%x : tensor<5xf32>) outs(%e : tensor<5xf32>) -> tensor<5xf32>
    scf.yield %a : tensor<5xf32>
  } else {
    scf.yield %x : tensor<5xf32>
  }
  func.return %y : tensor<5xf32>
}
