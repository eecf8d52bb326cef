// RUN: gawee-opt --decompose-aggregated-ops --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @a_concatenation_is_written_part_by_part
// CHECK:       %[[EMPTY:.*]] = tensor.empty() : tensor<3x9xf32>
// CHECK:       %[[FIRST:.*]] = tensor.insert_slice %a into %[[EMPTY]][0, 0] [3, 4] [1, 1]
// CHECK:       tensor.insert_slice %b into %[[FIRST]][0, 4] [3, 5] [1, 1]
// CHECK-NOT:   tensor.concat
func.func @a_concatenation_is_written_part_by_part(%a: tensor<3x4xf32>, %b: tensor<3x5xf32>) -> tensor<3x9xf32> {
  %c = tensor.cast %b : tensor<3x5xf32> to tensor<3x?xf32>
  %r = tensor.concat dim(1) %a, %c : (tensor<3x4xf32>, tensor<3x?xf32>) -> tensor<3x9xf32>
  return %r : tensor<3x9xf32>
}

// -----

// CHECK-LABEL: func.func @a_generated_tensor_is_a_loop_nest
// CHECK:       linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(
// CHECK:         linalg.index 0
// CHECK:         linalg.index 1
// CHECK:         arith.muli
// CHECK-NOT:   tensor.generate
func.func @a_generated_tensor_is_a_loop_nest() -> tensor<3x5xindex> {
  %t = tensor.generate {
  ^bb0(%i: index, %j: index):
    %0 = arith.muli %i, %j : index
    tensor.yield %0 : index
  } : tensor<3x5xindex>
  return %t : tensor<3x5xindex>
}

// -----

// CHECK-LABEL: func.func @softmax_is_four_loop_nests
// CHECK:       arith.maximumf
// CHECK:       math.exp
// CHECK:       arith.addf
// CHECK:       arith.divf
// CHECK-NOT:   linalg.softmax
func.func @softmax_is_four_loop_nests(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %y = linalg.softmax dimension(0) ins(%x : tensor<3x5xf32>) outs(%x : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

// CHECK-LABEL: func.func @tiles_are_split_axes_in_another_order
// CHECK:       tensor.pad %x low[0, 0] high[1, 1]
// CHECK:       tensor.expand_shape {{.*}} : tensor<6x8xf32> into tensor<2x3x4x2xf32>
// CHECK:       linalg.transpose {{.*}} permutation = [2, 0, 1, 3]
// CHECK:       linalg.transpose {{.*}} permutation = [1, 2, 0, 3]
// CHECK:       tensor.collapse_shape {{.*}} : tensor<2x3x4x2xf32> into tensor<6x8xf32>
// CHECK:       tensor.extract_slice {{.*}}[0, 0] [5, 7] [1, 1]
func.func @tiles_are_split_axes_in_another_order(%x: tensor<5x7xf32>, %p: tensor<4x2x3x2xf32>, %c: f32) -> tensor<5x7xf32> {
  %0 = linalg.pack %x padding_value(%c : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [3, 2] into %p : tensor<5x7xf32> -> tensor<4x2x3x2xf32>
  %1 = linalg.unpack %0 outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [3, 2] into %x : tensor<4x2x3x2xf32> -> tensor<5x7xf32>
  return %1 : tensor<5x7xf32>
}

// -----

// CHECK-LABEL: func.func @dynamic_shapes_are_left_alone
// CHECK:       tensor.concat
func.func @dynamic_shapes_are_left_alone(%a: tensor<3x?xf32>) -> tensor<3x?xf32> {
  %r = tensor.concat dim(1) %a, %a : (tensor<3x?xf32>, tensor<3x?xf32>) -> tensor<3x?xf32>
  return %r : tensor<3x?xf32>
}
