// RUN: gawee-opt --lower-to-linalg --split-input-file %s | filecheck %s

// Weights are stored (out, in), so the second map reads b[n, k].
// CHECK-LABEL: func.func @matmul_reads_weights_transposed
// CHECK-SAME:  (%[[X:.*]]: tensor<5x8xf32>, %[[W:.*]]: tensor<3x8xf32>, %[[B:.*]]: tensor<3xf32>)
// CHECK:       %[[INIT:.*]] = linalg.broadcast ins(%[[B]]:tensor<3xf32>) {{.*}} dimensions = [0]
// CHECK:       linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
// CHECK-SAME:    ins(%[[X]], %[[W]] : tensor<5x8xf32>, tensor<3x8xf32>)
// CHECK-SAME:    outs(%[[INIT]] : tensor<5x3xf32>) -> tensor<5x3xf32>
func.func @matmul_reads_weights_transposed(%x: tensor<5x8xf32>, %w: tensor<3x8xf32>, %b: tensor<3xf32>) -> tensor<5x3xf32> {
  %y = gawee.matmul %x, %w bias %b : (tensor<5x8xf32>, tensor<3x8xf32>, tensor<3xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// -----

// CHECK-LABEL: func.func @matmul_without_bias_adds_to_zeros
// CHECK:       %[[INIT:.*]] = linalg.fill ins(%{{.*}} : f16) {{.*}} -> tensor<5x3xf16>
// CHECK:       linalg.matmul {{.*}} outs(%[[INIT]] : tensor<5x3xf16>)
func.func @matmul_without_bias_adds_to_zeros(%x: tensor<5x8xf16>, %w: tensor<3x8xf16>) -> tensor<5x3xf16> {
  %y = gawee.matmul %x, %w : (tensor<5x8xf16>, tensor<3x8xf16>) -> tensor<5x3xf16>
  return %y : tensor<5x3xf16>
}

// -----

// CHECK-LABEL: func.func @leading_axes_join_to_rows
// CHECK:       %[[X:.*]] = tensor.collapse_shape %x {{.*}} : tensor<2x4x5x8xf32> into tensor<40x8xf32>
// CHECK:       %[[Y:.*]] = linalg.matmul {{.*}} ins(%[[X]], %w :
// CHECK:       tensor.expand_shape %[[Y]] {{.*}} : tensor<40x3xf32> into tensor<2x4x5x3xf32>
func.func @leading_axes_join_to_rows(%x: tensor<2x4x5x8xf32>, %w: tensor<3x8xf32>) -> tensor<2x4x5x3xf32> {
  %y = gawee.matmul %x, %w : (tensor<2x4x5x8xf32>, tensor<3x8xf32>) -> tensor<2x4x5x3xf32>
  return %y : tensor<2x4x5x3xf32>
}

// -----

// CHECK-LABEL: func.func @vector_is_a_matrix_of_one_row
// CHECK:       tensor.expand_shape %x {{.*}} : tensor<8xf32> into tensor<1x8xf32>
// CHECK:       %[[Y:.*]] = linalg.matmul
// CHECK:       tensor.collapse_shape %[[Y]] {{.*}} : tensor<1x3xf32> into tensor<3xf32>
func.func @vector_is_a_matrix_of_one_row(%x: tensor<8xf32>, %w: tensor<3x8xf32>) -> tensor<3xf32> {
  %y = gawee.matmul %x, %w : (tensor<8xf32>, tensor<3x8xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// CHECK-LABEL: func.func @batched_product_reads_broadcast_axes_at_their_only_position
// CHECK:       linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, 0, d4, d2)>, affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%a, %b :
// CHECK:       arith.mulf
// CHECK:       arith.addf
func.func @batched_product_reads_broadcast_axes_at_their_only_position(%a: tensor<2x1x8x5xf32>, %b: tensor<3x7x8xf32>) -> tensor<2x3x5x7xf32> {
  %y = gawee.batch_matmul %a, %b transpose_a transpose_b : (tensor<2x1x8x5xf32>, tensor<3x7x8xf32>) -> tensor<2x3x5x7xf32>
  return %y : tensor<2x3x5x7xf32>
}

// -----

// CHECK-LABEL: func.func @many_matrices_times_one_are_one_product
// CHECK:       %[[A:.*]] = tensor.collapse_shape %a {{.*}} : tensor<2x3x5x8xf32> into tensor<30x8xf32>
// CHECK:       %[[B:.*]] = tensor.collapse_shape %b {{.*}} : tensor<1x8x7xf32> into tensor<8x7xf32>
// CHECK:       linalg.matmul ins(%[[A]], %[[B]] :
// CHECK:       tensor.expand_shape {{.*}} output_shape [2, 3, 5, 7]
func.func @many_matrices_times_one_are_one_product(%a: tensor<2x3x5x8xf32>, %b: tensor<1x8x7xf32>) -> tensor<2x3x5x7xf32> {
  %y = gawee.batch_matmul %a, %b : (tensor<2x3x5x8xf32>, tensor<1x8x7xf32>) -> tensor<2x3x5x7xf32>
  return %y : tensor<2x3x5x7xf32>
}
