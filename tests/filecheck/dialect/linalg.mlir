// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @plain_matmul_prints_no_maps
// CHECK:       linalg.matmul ins(%a, %b : tensor<5x8xf32>, tensor<8x7xf32>) outs(%c : tensor<5x7xf32>) -> tensor<5x7xf32>
func.func @plain_matmul_prints_no_maps(%a: tensor<5x8xf32>, %b: tensor<8x7xf32>, %c: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<5x8xf32>, tensor<8x7xf32>) outs(%c : tensor<5x7xf32>) -> tensor<5x7xf32>
  return %d : tensor<5x7xf32>
}

// -----

// CHECK-LABEL: func.func @transposed_maps_survive
// CHECK:       linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%a, %b :
// CHECK:       linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%t, %u :
func.func @transposed_maps_survive(%a: tensor<5x8xf32>, %b: tensor<7x8xf32>, %t: tensor<8x5xf32>, %u: tensor<8x7xf32>, %c: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %d = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : tensor<5x8xf32>, tensor<7x8xf32>) outs(%c : tensor<5x7xf32>) -> tensor<5x7xf32>
  %e = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t, %u : tensor<8x5xf32>, tensor<8x7xf32>) outs(%d : tensor<5x7xf32>) -> tensor<5x7xf32>
  return %e : tensor<5x7xf32>
}

// -----

// CHECK-LABEL: func.func @matmul_keeps_attributes_beside_its_maps
// CHECK:       linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d2)>, {{.*}}] {test.note = 1 : i32} ins(%a, %b : tensor<8xf32>, tensor<7x8xf32>)
func.func @matmul_keeps_attributes_beside_its_maps(%a: tensor<8xf32>, %b: tensor<7x8xf32>, %c: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %d = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] {test.note = 1 : i32} ins(%a, %b : tensor<8xf32>, tensor<7x8xf32>) outs(%c : tensor<5x7xf32>) -> tensor<5x7xf32>
  return %d : tensor<5x7xf32>
}

// -----

// CHECK-LABEL: func.func @matmul_on_buffers_has_no_result
// CHECK:       linalg.matmul indexing_maps = {{.*}} outs(%c : memref<5x7xf32>){{$}}
func.func @matmul_on_buffers_has_no_result(%a: memref<5x8xf32>, %b: memref<7x8xf32>, %c: memref<5x7xf32>) {
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : memref<5x8xf32>, memref<7x8xf32>) outs(%c : memref<5x7xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @poolings_round_trip
// CHECK:       linalg.pooling_nchw_sum {dilations = dense<[1, 2]> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>} ins(%x, %window : tensor<2x3x9x8xf32>, tensor<3x2xf32>) outs(%init : tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
// CHECK:       linalg.pooling_nchw_max {dilations = dense<[1, 2]> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>} ins(%x, %window : tensor<2x3x9x8xf32>, tensor<3x2xf32>)
func.func @poolings_round_trip(%x: tensor<2x3x9x8xf32>, %window: tensor<3x2xf32>, %init: tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32> {
  %y = linalg.pooling_nchw_sum {dilations = dense<[1, 2]> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>} ins(%x, %window : tensor<2x3x9x8xf32>, tensor<3x2xf32>) outs(%init : tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %z = linalg.pooling_nchw_max {dilations = dense<[1, 2]> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>} ins(%x, %window : tensor<2x3x9x8xf32>, tensor<3x2xf32>) outs(%y : tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  return %z : tensor<2x3x4x6xf32>
}

// -----

// CHECK-LABEL: func.func @depthwise_conv_round_trips
// CHECK:       linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>} ins(%x, %w : tensor<2x4x9x7xf32>, tensor<4x3x2xf32>) outs(%init : tensor<2x4x4x6xf32>) -> tensor<2x4x4x6xf32>
func.func @depthwise_conv_round_trips(%x: tensor<2x4x9x7xf32>, %w: tensor<4x3x2xf32>, %init: tensor<2x4x4x6xf32>) -> tensor<2x4x4x6xf32> {
  %y = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>} ins(%x, %w : tensor<2x4x9x7xf32>, tensor<4x3x2xf32>) outs(%init : tensor<2x4x4x6xf32>) -> tensor<2x4x4x6xf32>
  return %y : tensor<2x4x4x6xf32>
}

// -----

// CHECK-LABEL: func.func @generic_may_have_several_results
// CHECK:       } -> (tensor<5xf32>, tensor<5xi32>)
// CHECK:       linalg.generic {{.*}} library_call = "twice"} ins({{.*}} attrs = {test.note = 1 : i32} {
#trait = {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
#one = {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"], library_call = "twice"}
func.func @generic_may_have_several_results(%x: tensor<5xf32>, %a: tensor<5xf32>, %b: tensor<5xi32>) -> (tensor<5xf32>, tensor<5xi32>) {
  %s, %t = linalg.generic #trait ins(%x : tensor<5xf32>) outs(%a, %b : tensor<5xf32>, tensor<5xi32>) {
  ^bb0(%e: f32, %0: f32, %1: i32):
    %2 = arith.fptosi %e : f32 to i32
    linalg.yield %e, %2 : f32, i32
  } -> (tensor<5xf32>, tensor<5xi32>)
  %u = linalg.generic #one ins(%s : tensor<5xf32>) outs(%a : tensor<5xf32>) attrs = {test.note = 1 : i32} {
  ^bb0(%e: f32, %0: f32):
    %2 = arith.addf %e, %e : f32
    linalg.yield %2 : f32
  } -> tensor<5xf32>
  return %u, %t : tensor<5xf32>, tensor<5xi32>
}

// -----

// CHECK-LABEL: func.func @named_ops_need_no_strides
// CHECK:       linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(
// CHECK:       linalg.reduce ins(%y : tensor<2x7x6x5xf32>) outs(%r : tensor<2x5xf32>) dimensions = [1, 2] (
// CHECK:       linalg.map ins(
// CHECK:       linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(
func.func @named_ops_need_no_strides(%x: tensor<2x9x7x4xf32>, %w: tensor<3x2x4x5xf32>, %init: tensor<2x7x6x5xf32>, %r: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<2x9x7x4xf32>, tensor<3x2x4x5xf32>) outs(%init : tensor<2x7x6x5xf32>) -> tensor<2x7x6x5xf32>
  %z = linalg.reduce { arith.addf {fastmath = #arith.fastmath<contract>} } ins(%y : tensor<2x7x6x5xf32>) outs(%r : tensor<2x5xf32>) dimensions = [1, 2]
  %m = linalg.map { math.absf } ins(%z : tensor<2x5xf32>) outs(%r : tensor<2x5xf32>)
  %e = linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(%m : tensor<2x5xf32>) outs(%r : tensor<2x5xf32>) -> tensor<2x5xf32>
  return %e : tensor<2x5xf32>
}

// -----

// CHECK-LABEL: func.func @ops_of_several_loop_nests_round_trip
// CHECK:       linalg.softmax dimension(1) ins(%x : tensor<5x7xf32>) outs(%x : tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK:       linalg.pack %s padding_value(%c : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [3, 2] into %p : tensor<5x7xf32> -> tensor<4x2x3x2xf32>
// CHECK:       linalg.unpack %{{.*}} outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [3, 2] into %x : tensor<4x2x3x2xf32> -> tensor<5x7xf32>
// CHECK:       linalg.pack %x inner_dims_pos = [0] inner_tiles = [5] into %q : tensor<5x7xf32> -> tensor<1x7x5xf32>
func.func @ops_of_several_loop_nests_round_trip(%x: tensor<5x7xf32>, %p: tensor<4x2x3x2xf32>, %q: tensor<1x7x5xf32>, %c: f32) -> tensor<1x7x5xf32> {
  %s = linalg.softmax dimension(1) ins(%x : tensor<5x7xf32>) outs(%x : tensor<5x7xf32>) -> tensor<5x7xf32>
  %0 = linalg.pack %s padding_value(%c : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [3, 2] into %p : tensor<5x7xf32> -> tensor<4x2x3x2xf32>
  %1 = linalg.unpack %0 outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [3, 2] into %x : tensor<4x2x3x2xf32> -> tensor<5x7xf32>
  %2 = linalg.pack %x inner_dims_pos = [0] inner_tiles = [5] into %q : tensor<5x7xf32> -> tensor<1x7x5xf32>
  return %2 : tensor<1x7x5xf32>
}

// -----

// Generic text leaves out the maps that go without saying, as upstream's does.
// CHECK-LABEL: func.func @generic_text_may_have_no_maps
// CHECK:       linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
func.func @generic_text_may_have_no_maps(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = "linalg.matmul"(%a, %b, %c) <{operandSegmentSizes = array<i32: 2, 1>}> ({
  ^bb0(%x: f32, %y: f32, %z: f32):
    %1 = arith.mulf %x, %y : f32
    %2 = arith.addf %z, %1 : f32
    linalg.yield %2 : f32
  }) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: func.func @steps_that_generic_text_omits_are_one
// CHECK:       linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %w
func.func @steps_that_generic_text_omits_are_one(%x: tensor<1x2x7x5xf32>, %w: tensor<4x2x3x2xf32>, %y: tensor<1x4x5x4xf32>) -> tensor<1x4x5x4xf32> {
  %z = "linalg.conv_2d_nchw_fchw"(%x, %w, %y) <{operandSegmentSizes = array<i32: 2, 1>}> ({
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.mulf %a, %b : f32
    %e = arith.addf %c, %d : f32
    linalg.yield %e : f32
  }) : (tensor<1x2x7x5xf32>, tensor<4x2x3x2xf32>, tensor<1x4x5x4xf32>) -> tensor<1x4x5x4xf32>
  return %z : tensor<1x4x5x4xf32>
}
