// RUN: gawee-opt --verify-diagnostics --split-input-file %s | filecheck %s

// CHECK: 'linalg.matmul' op unsupported indexing map (d0, d1, d2) -> (d0, d1) of lhs; supported: (d0, d1, d2) -> (d0, d2), (d0, d1, d2) -> (d2, d0), (d0, d1, d2) -> (d2)
func.func @matmul_lhs_is_not_read_along_n(%a: tensor<5x7xf32>, %b: tensor<7x8xf32>, %c: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %d = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, n)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : tensor<5x7xf32>, tensor<7x8xf32>) outs(%c : tensor<5x7xf32>) -> tensor<5x7xf32>
  return %d : tensor<5x7xf32>
}

// -----

// CHECK: 'linalg.matmul' op unsupported indexing map (d0, d1, d2) -> (d1) of rhs
func.func @matmul_rhs_is_not_broadcast_along_k(%a: tensor<5x8xf32>, %b: tensor<7xf32>, %c: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %d = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : tensor<5x8xf32>, tensor<7xf32>) outs(%c : tensor<5x7xf32>) -> tensor<5x7xf32>
  return %d : tensor<5x7xf32>
}

// -----

// CHECK: 'linalg.matmul' op unsupported indexing map (d0, d1, d2) -> (d1, d0) of result; supported: (d0, d1, d2) -> (d0, d1)
func.func @matmul_result_is_not_written_transposed(%a: tensor<5x8xf32>, %b: tensor<8x7xf32>, %c: tensor<7x5xf32>) -> tensor<7x5xf32> {
  %d = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (n, m)>] ins(%a, %b : tensor<5x8xf32>, tensor<8x7xf32>) outs(%c : tensor<7x5xf32>) -> tensor<7x5xf32>
  return %d : tensor<7x5xf32>
}

// -----

// CHECK: 'linalg.matmul' op inferred input/output operand #1 has shape's dimension #1 to be 8, but found 7
func.func @matmul_shapes_agree_with_the_maps(%a: tensor<5x8xf32>, %b: tensor<3x7xf32>, %c: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %d = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : tensor<5x8xf32>, tensor<3x7xf32>) outs(%c : tensor<5x3xf32>) -> tensor<5x3xf32>
  return %d : tensor<5x3xf32>
}

// -----

// CHECK: 'linalg.matmul' op expected 3 indexing_maps, got 2
func.func @matmul_has_three_maps(%a: tensor<5x8xf32>, %b: tensor<8x7xf32>, %c: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %d = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>] ins(%a, %b : tensor<5x8xf32>, tensor<8x7xf32>) outs(%c : tensor<5x7xf32>) -> tensor<5x7xf32>
  return %d : tensor<5x7xf32>
}

// -----

// CHECK: error: expected a list of affine maps
func.func @matmul_maps_are_maps(%a: tensor<5x8xf32>, %b: tensor<8x7xf32>, %c: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %d = linalg.matmul indexing_maps = [1, 2, 3] ins(%a, %b : tensor<5x8xf32>, tensor<8x7xf32>) outs(%c : tensor<5x7xf32>) -> tensor<5x7xf32>
  return %d : tensor<5x7xf32>
}

// -----

// CHECK: 'linalg.pooling_nchw_sum' op inferred input/output operand #0 has shape's dimension #2 to be greater than or equal to
func.func @pooling_does_not_read_outside(%x: tensor<2x3x8x8xf32>, %window: tensor<3x2xf32>, %init: tensor<2x3x4x7xf32>) -> tensor<2x3x4x7xf32> {
  %y = linalg.pooling_nchw_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>} ins(%x, %window : tensor<2x3x8x8xf32>, tensor<3x2xf32>) outs(%init : tensor<2x3x4x7xf32>) -> tensor<2x3x4x7xf32>
  return %y : tensor<2x3x4x7xf32>
}
