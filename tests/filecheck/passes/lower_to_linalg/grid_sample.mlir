// RUN: gawee-opt --lower-to-linalg --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @few_positions_are_worked_out_where_they_are_read
// CHECK:       linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, 0)>, affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, 1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], {{.*}} ins(%g, %g :
// CHECK:       arith.maxnumf
// CHECK:       arith.minnumf
// CHECK:       math.floor
// CHECK:       tensor.extract %x
// CHECK:       arith.select
func.func @few_positions_are_worked_out_where_they_are_read(%x: tensor<2x3x5x7xf32>, %g: tensor<2x4x6x2xf32>) -> tensor<2x3x4x6xf32> {
  %y = gawee.grid_sample %x, %g mode "bilinear" padding_mode "zeros" : (tensor<2x3x5x7xf32>, tensor<2x4x6x2xf32>) -> tensor<2x3x4x6xf32>
  return %y : tensor<2x3x4x6xf32>
}

// -----

// CHECK-LABEL: func.func @few_nearest_positions_round_halves_to_even
// CHECK:       math.roundeven
// CHECK-NOT:   math.floor
func.func @few_nearest_positions_round_halves_to_even(%x: tensor<2x3x5x7xf16>, %g: tensor<2x4x6x2xf16>) -> tensor<2x3x4x6xf16> {
  %y = gawee.grid_sample %x, %g mode "nearest" padding_mode "border" align_corners : (tensor<2x3x5x7xf16>, tensor<2x4x6x2xf16>) -> tensor<2x3x4x6xf16>
  return %y : tensor<2x3x4x6xf16>
}

// -----

// CHECK-LABEL: func.func @channels_share_the_places_of_many_positions_in_an_image_with_zeros_around
// CHECK:       tensor.pad %x low[0, 0, 1, 1] high[0, 0, 2, 2]
// CHECK:       %[[PLANES:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0 : i64], [1 : i64], [2 : i64, 3 : i64]] : tensor<2x3x8x10xf32> into tensor<2x3x80xf32>
// CHECK:       %[[PLACE:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2, 1)>, {{.*}} ins(%g, %g :
// CHECK:       arith.fptosi %{{.*}} : f32 to i32
// CHECK:       %[[ROW:.*]] = linalg.generic
// CHECK:       arith.subf
// CHECK:       %[[COLUMN:.*]] = linalg.generic
// CHECK:       linalg.generic {{.*}} ins(%[[PLACE]], %[[ROW]], %[[COLUMN]] : tensor<2x11x9xi32>, tensor<2x11x9xf32>, tensor<2x11x9xf32>)
// CHECK-COUNT-4: tensor.extract %[[PLANES]]
// CHECK-NOT:   arith.select
func.func @channels_share_the_places_of_many_positions_in_an_image_with_zeros_around(%x: tensor<2x3x5x7xf32>, %g: tensor<2x11x9x2xf32>) -> tensor<2x3x11x9xf32> {
  %y = gawee.grid_sample %x, %g mode "bilinear" padding_mode "zeros" : (tensor<2x3x5x7xf32>, tensor<2x11x9x2xf32>) -> tensor<2x3x11x9xf32>
  return %y : tensor<2x3x11x9xf32>
}

// -----

// CHECK-LABEL: func.func @nearest_places_in_the_border_need_no_zeros
// CHECK-NOT:   tensor.pad
// CHECK:       math.roundeven
// CHECK:       linalg.generic
// CHECK:       tensor.extract
// CHECK-NOT:   tensor.extract
func.func @nearest_places_in_the_border_need_no_zeros(%x: tensor<2x3x5x7xf16>, %g: tensor<2x11x9x2xf16>) -> tensor<2x3x11x9xf16> {
  %y = gawee.grid_sample %x, %g mode "nearest" padding_mode "border" align_corners : (tensor<2x3x5x7xf16>, tensor<2x11x9x2xf16>) -> tensor<2x3x11x9xf16>
  return %y : tensor<2x3x11x9xf16>
}
