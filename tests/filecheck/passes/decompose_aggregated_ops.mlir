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

// -----

// CHECK-LABEL: func.func @padding_that_is_computed_is_around_the_tensor
// CHECK:       %[[INDEX:.*]] = linalg.index 1
// CHECK:       arith.index_cast %[[INDEX]]
// CHECK:       tensor.insert_slice %x into %{{.*}}[1, 0] [3, 5] [1, 1] : tensor<3x5xi32> into tensor<4x7xi32>
// CHECK-NOT:   tensor.pad
func.func @padding_that_is_computed_is_around_the_tensor(%x: tensor<3x5xi32>) -> tensor<4x7xi32> {
  %p = tensor.pad %x low[1, 0] high[0, 2] {
  ^bb0(%i: index, %j: index):
    %0 = arith.index_cast %j : index to i32
    tensor.yield %0 : i32
  } : tensor<3x5xi32> to tensor<4x7xi32>
  return %p : tensor<4x7xi32>
}

// -----

// CHECK-LABEL: func.func @padding_of_one_value_stays
// CHECK:       tensor.pad
func.func @padding_of_one_value_stays(%x: tensor<3xi32>) -> tensor<4xi32> {
  %p = tensor.pad %x low[1] high[0] {
  ^bb0(%i: index):
    %0 = arith.constant 7 : i32
    tensor.yield %0 : i32
  } : tensor<3xi32> to tensor<4xi32>
  return %p : tensor<4xi32>
}

// -----

// CHECK-LABEL: func.func @a_reshape_goes_by_one_axis
// CHECK:       %[[FLAT:.*]] = tensor.collapse_shape %x {{.*}} : tensor<4x3xf32> into tensor<12xf32>
// CHECK:       tensor.expand_shape %[[FLAT]] {{.*}} output_shape [2, 1, 6] : tensor<12xf32> into tensor<2x1x6xf32>
func.func @a_reshape_goes_by_one_axis(%x: tensor<4x3xf32>, %s: tensor<3xi64>) -> tensor<2x1x6xf32> {
  %r = tensor.reshape %x(%s) : (tensor<4x3xf32>, tensor<3xi64>) -> tensor<2x1x6xf32>
  return %r : tensor<2x1x6xf32>
}

// -----

// CHECK-LABEL: func.func @a_switch_is_an_if_for_each_case
// CHECK:       %[[FIRST:.*]] = arith.constant 5 : index
// CHECK:       %[[IS_FIRST:.*]] = arith.cmpi eq, %k, %[[FIRST]] : index
// CHECK:       scf.if %[[IS_FIRST]] -> (f32) {
// CHECK-NEXT:    scf.yield %a : f32
// CHECK-NEXT:  } else {
// CHECK:         arith.constant -2 : index
// CHECK:         scf.if %{{.*}} -> (f32) {
// CHECK-NEXT:      scf.yield %b : f32
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %c : f32
// CHECK-NOT:   scf.index_switch
func.func @a_switch_is_an_if_for_each_case(%k: index, %a: f32, %b: f32, %c: f32) -> f32 {
  %r = scf.index_switch %k -> f32
  case 5 {
    scf.yield %a : f32
  }
  case -2 {
    scf.yield %b : f32
  }
  default {
    scf.yield %c : f32
  }
  return %r : f32
}
