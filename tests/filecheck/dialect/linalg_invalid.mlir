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

// -----

// CHECK: 'linalg.conv_1d_nwc_wcf' op expected 1 strides, got [1, 2]
func.func @a_window_steps_once_along_each_axis(%x: tensor<2x9x4xf32>, %w: tensor<3x4x5xf32>, %init: tensor<2x7x5xf32>) -> tensor<2x7x5xf32> {
  %y = linalg.conv_1d_nwc_wcf {strides = dense<[1, 2]> : tensor<2xi64>} ins(%x, %w : tensor<2x9x4xf32>, tensor<3x4x5xf32>) outs(%init : tensor<2x7x5xf32>) -> tensor<2x7x5xf32>
  return %y : tensor<2x7x5xf32>
}

// -----

// CHECK: 'linalg.dot' op expected 2 inputs and 1 output, got 1 and 1
func.func @a_product_has_two_factors(%x: tensor<5xf32>, %init: tensor<f32>) -> tensor<f32> {
  %y = linalg.dot ins(%x : tensor<5xf32>) outs(%init : tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// CHECK: 'linalg.exp' op expected a float element type, got 'i32'
func.func @exp_is_for_floats(%x: tensor<5xi32>) -> tensor<5xi32> {
  %y = linalg.exp ins(%x : tensor<5xi32>) outs(%x : tensor<5xi32>) -> tensor<5xi32>
  return %y : tensor<5xi32>
}

// -----

// CHECK: 'linalg.reciprocal' op expected a float element type, got 'i32'
func.func @reciprocal_is_for_floats(%x: tensor<5xi32>) -> tensor<5xi32> {
  %y = linalg.reciprocal ins(%x : tensor<5xi32>) outs(%x : tensor<5xi32>) -> tensor<5xi32>
  return %y : tensor<5xi32>
}

// -----

// CHECK: 'linalg.powf' op unsupported element type 'i32' of 'powf'
func.func @powf_is_for_floats(%x: tensor<5xi32>) -> tensor<5xi32> {
  %y = linalg.powf ins(%x, %x : tensor<5xi32>, tensor<5xi32>) outs(%x : tensor<5xi32>) -> tensor<5xi32>
  return %y : tensor<5xi32>
}

// -----

// CHECK: 'linalg.copy' op expected numbers to cast, got 'index' to 'f32'
func.func @copy_casts_numbers(%x: tensor<5xindex>, %y: tensor<5xf32>) -> tensor<5xf32> {
  %z = linalg.copy ins(%x : tensor<5xindex>) outs(%y : tensor<5xf32>) -> tensor<5xf32>
  return %z : tensor<5xf32>
}

// -----

// CHECK: 'linalg.elementwise' op expected a kind, such as #linalg.elementwise_kind<add>
func.func @elementwise_says_its_function(%x: tensor<5xf32>) -> tensor<5xf32> {
  %y = linalg.elementwise ins(%x : tensor<5xf32>) outs(%x : tensor<5xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

// CHECK: 'linalg.elementwise' op expected 2 inputs of 'add', got 1
func.func @elementwise_has_the_inputs_of_its_function(%x: tensor<5xf32>) -> tensor<5xf32> {
  %y = linalg.elementwise kind=#linalg.elementwise_kind<add> ins(%x : tensor<5xf32>) outs(%x : tensor<5xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

// CHECK: 'linalg.reduce' op expected a body that yields an element of each output
func.func @a_reduction_yields_what_it_writes(%x: tensor<5x7xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
  %z = linalg.reduce ins(%x : tensor<5x7xf32>) outs(%y : tensor<5xf32>) dimensions = [1] (%e: f32, %t: f32) {
    linalg.yield
  }
  return %z : tensor<5xf32>
}

// -----

// CHECK: error: expected the name of an op, got 'arith.plus'
func.func @a_short_body_names_an_op(%x: tensor<5x7xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
  %z = linalg.reduce { arith.plus } ins(%x : tensor<5x7xf32>) outs(%y : tensor<5xf32>) dimensions = [1]
  return %z : tensor<5xf32>
}

// -----

// CHECK: error: expected one output
func.func @a_map_writes_one_tensor(%x: tensor<5xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
  %z = linalg.map { math.absf } ins(%x : tensor<5xf32>) outs(%y, %y : tensor<5xf32>, tensor<5xf32>)
  return %z : tensor<5xf32>
}

// -----

// CHECK: error: expected a dictionary of attributes, got '"parallel"'
func.func @a_trait_is_a_dictionary(%x: tensor<5xf32>) -> tensor<5xf32> {
  %y = linalg.generic "parallel" ins(%x : tensor<5xf32>) outs(%x : tensor<5xf32>) {
  ^bb0(%e: f32, %0: f32):
    linalg.yield %e : f32
  } -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

// CHECK: error: expected indexing_maps, a list of affine maps
func.func @a_generic_op_has_maps(%x: tensor<5xf32>) -> tensor<5xf32> {
  %y = linalg.generic {iterator_types = ["parallel"]} ins(%x : tensor<5xf32>) outs(%x : tensor<5xf32>) {
  ^bb0(%e: f32, %0: f32):
    linalg.yield %e : f32
  } -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

// CHECK: error: expected iterator_types, a list of strings
func.func @a_generic_op_has_loops(%x: tensor<5xf32>) -> tensor<5xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>]} ins(%x : tensor<5xf32>) outs(%x : tensor<5xf32>) {
  ^bb0(%e: f32, %0: f32):
    linalg.yield %e : f32
  } -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

// CHECK: error: expected "parallel", "reduction" or "window", got '"sideways"'
func.func @loops_are_parallel_or_reduced(%x: tensor<5xf32>) -> tensor<5xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["sideways"]} ins(%x : tensor<5xf32>) outs(%x : tensor<5xf32>) {
  ^bb0(%e: f32, %0: f32):
    linalg.yield %e : f32
  } -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

// CHECK: 'linalg.softmax' op expected a dimension below 2, got 2
func.func @softmax_is_along_a_dimension(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %y = linalg.softmax dimension(2) ins(%x : tensor<5x7xf32>) outs(%x : tensor<5x7xf32>) -> tensor<5x7xf32>
  return %y : tensor<5x7xf32>
}

// -----

// CHECK: 'linalg.softmax' op expected an output of the input's shape, got 'tensor<7x5xf32>'
func.func @softmax_keeps_the_shape(%x: tensor<5x7xf32>, %z: tensor<7x5xf32>) -> tensor<7x5xf32> {
  %y = linalg.softmax dimension(1) ins(%x : tensor<5x7xf32>) outs(%z : tensor<7x5xf32>) -> tensor<7x5xf32>
  return %y : tensor<7x5xf32>
}

// -----

// CHECK: 'linalg.pack' op expected a padding value: the last tile is not full
func.func @the_last_tile_is_filled(%x: tensor<5xf32>, %p: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = linalg.pack %x inner_dims_pos = [0] inner_tiles = [3] into %p : tensor<5xf32> -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// CHECK: 'linalg.pack' op expected a packed shape of [2, 3], got 'tensor<3x2xf32>'
func.func @tiles_are_innermost(%x: tensor<6xf32>, %p: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %y = linalg.pack %x inner_dims_pos = [0] inner_tiles = [3] into %p : tensor<6xf32> -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// -----

// CHECK: 'linalg.pack' op expected a tile for each of the axes [0, 0], got [3, 2]
func.func @an_axis_is_tiled_once(%x: tensor<6xf32>, %p: tensor<1x3x2xf32>) -> tensor<1x3x2xf32> {
  %y = linalg.pack %x inner_dims_pos = [0, 0] inner_tiles = [3, 2] into %p : tensor<6xf32> -> tensor<1x3x2xf32>
  return %y : tensor<1x3x2xf32>
}

// -----

// CHECK: 'linalg.pack' op expected a permutation, got [1]
func.func @tiles_are_permuted(%x: tensor<6xf32>, %p: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = linalg.pack %x outer_dims_perm = [1] inner_dims_pos = [0] inner_tiles = [3] into %p : tensor<6xf32> -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// CHECK: 'linalg.pack' op expected tiles of at least 1, got [0]
func.func @tiles_have_elements(%x: tensor<6xf32>, %p: tensor<6x1xf32>) -> tensor<6x1xf32> {
  %y = linalg.pack %x inner_dims_pos = [0] inner_tiles = [0] into %p : tensor<6xf32> -> tensor<6x1xf32>
  return %y : tensor<6x1xf32>
}

// -----

// CHECK: 'linalg.elementwise' op expected 1 output, got 0
func.func @elementwise_has_an_output(%x: tensor<5xf32>) {
  linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(%x : tensor<5xf32>)
  return
}

// -----

// CHECK: 'linalg.transpose' op expected permutation to name each axis from 0 to 1 once, got [1, 8]
func.func @axes_of_a_transposition_exist(%x: tensor<4x5xf32>, %y: tensor<5x4xf32>) -> tensor<5x4xf32> {
  %t = linalg.transpose ins(%x : tensor<4x5xf32>) outs(%y : tensor<5x4xf32>) permutation = [1, 8]
  return %t : tensor<5x4xf32>
}

// -----

// CHECK: 'linalg.transpose' op expected permutation to name each axis from 0 to 1 once, got [-1, 0]
func.func @axes_of_a_transposition_count_from_0(%x: tensor<4x5xf32>, %y: tensor<5x4xf32>) -> tensor<5x4xf32> {
  %t = linalg.transpose ins(%x : tensor<4x5xf32>) outs(%y : tensor<5x4xf32>) permutation = [-1, 0]
  return %t : tensor<5x4xf32>
}

// -----

// CHECK: 'linalg.broadcast' op expected dimensions to be different, got [0, 2, 0]
func.func @dimensions_of_a_broadcast_are_different(%x: tensor<4xf32>, %y: tensor<2x4x3x5xf32>) {
  %z = linalg.broadcast ins(%x : tensor<4xf32>) outs(%y : tensor<2x4x3x5xf32>) dimensions = [0, 2, 0]
  func.return
}

// -----

// CHECK: 'linalg.transpose' op property 'permutation' expected
func.func @a_transposition_says_how(%y: tensor<2xf32>) {
  %z = "linalg.transpose"(%y, %y) ({
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// CHECK: 'linalg.conv_2d_nchw_fchw' op 3 : i64 should be of base attribute dense
func.func @strides_are_numbers_of_a_tensor(%x: tensor<1x2x7x5xf32>, %w: tensor<4x2x3x2xf32>, %y: tensor<1x4x5x4xf32>) {
  %z = "linalg.conv_2d_nchw_fchw"(%x, %w, %y) <{strides = 3 : i64, operandSegmentSizes = array<i32: 2, 1>}> ({
  ^bb0(%a: f32, %b: f32, %c: f32):
    linalg.yield %a : f32
  }) : (tensor<1x2x7x5xf32>, tensor<4x2x3x2xf32>, tensor<1x4x5x4xf32>) -> tensor<1x4x5x4xf32>
  func.return
}
