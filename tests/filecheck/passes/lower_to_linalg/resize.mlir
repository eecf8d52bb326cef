// RUN: gawee-opt --lower-to-linalg --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @nearest_computes_positions_in_integers
// CHECK:       linalg.generic
// CHECK:         %[[ROW:.*]] = linalg.index 2 : index
// CHECK:         %[[SIZE:.*]] = arith.constant 3 : index
// CHECK:         %[[SCALED:.*]] = arith.muli %[[ROW]], %[[SIZE]] : index
// CHECK:         %[[RESULT:.*]] = arith.constant 7 : index
// CHECK:         %[[FROM:.*]] = arith.divui %[[SCALED]], %[[RESULT]] : index
// CHECK:         tensor.extract %x[%{{.*}}, %{{.*}}, %[[FROM]], %{{.*}}] : tensor<2x4x3x5xf32>
func.func @nearest_computes_positions_in_integers(%x: tensor<2x4x3x5xf32>) -> tensor<2x4x7x10xf32> {
  %y = gawee.interpolate %x size [7, 10] mode "nearest" : (tensor<2x4x3x5xf32>) -> tensor<2x4x7x10xf32>
  return %y : tensor<2x4x7x10xf32>
}

// -----

// CHECK-LABEL: func.func @nearest_divides_by_a_given_scale
// CHECK:         %[[SCALE:.*]] = arith.constant 2.500000e+00 : f64
// CHECK:         %[[REAL:.*]] = arith.divf %{{.*}}, %[[SCALE]] : f64
// CHECK:         arith.fptosi %[[REAL]] : f64 to i64
// CHECK:         arith.minsi
func.func @nearest_divides_by_a_given_scale(%x: tensor<2x4x3x5xui8>) -> tensor<2x4x7x10xui8> {
  %y = gawee.interpolate %x size [7, 10] mode "nearest" scales [2.5, 2.0] : (tensor<2x4x3x5xui8>) -> tensor<2x4x7x10xui8>
  return %y : tensor<2x4x7x10xui8>
}

// -----

// CHECK-LABEL: func.func @bilinear_weighs_two_neighbours_along_the_last_axis_and_then_along_the_other
// CHECK:         %[[ROWS:.*]] = linalg.generic
// CHECK:         linalg.index 3
// CHECK:         arith.constant 5.000000e-01 : f32
// CHECK-COUNT-2: tensor.extract %x[
// CHECK-NOT:     tensor.extract
// CHECK:         -> tensor<2x4x3x10xf32>
// CHECK:         linalg.generic
// CHECK:         linalg.index 2
// CHECK-COUNT-2: tensor.extract %[[ROWS]][
// CHECK-NOT:     tensor.extract
// CHECK:         -> tensor<2x4x7x10xf32>
func.func @bilinear_weighs_two_neighbours_along_the_last_axis_and_then_along_the_other(%x: tensor<2x4x3x5xf32>) -> tensor<2x4x7x10xf32> {
  %y = gawee.interpolate %x size [7, 10] mode "bilinear" : (tensor<2x4x3x5xf32>) -> tensor<2x4x7x10xf32>
  return %y : tensor<2x4x7x10xf32>
}

// -----

// CHECK-LABEL: func.func @rows_without_uses_are_not_blended
// CHECK:         linalg.generic
// CHECK-COUNT-4: tensor.extract %x[
// CHECK-NOT:     linalg.generic
func.func @rows_without_uses_are_not_blended(%x: tensor<2x4x7x5xf32>) -> tensor<2x4x3x10xf32> {
  %y = gawee.interpolate %x size [3, 10] mode "bilinear" : (tensor<2x4x7x5xf32>) -> tensor<2x4x3x10xf32>
  return %y : tensor<2x4x3x10xf32>
}

// -----

// CHECK-LABEL: func.func @bilinear_with_align_corners_maps_ends_to_ends
// CHECK:         %[[STEP:.*]] = arith.constant 2.500000e-01 : f64
// CHECK:         arith.mulf %{{.*}}, %[[STEP]] : f64
func.func @bilinear_with_align_corners_maps_ends_to_ends(%x: tensor<2x4x3x5xf64>) -> tensor<2x4x9x10xf64> {
  %y = gawee.interpolate %x size [9, 10] mode "bilinear" align_corners : (tensor<2x4x3x5xf64>) -> tensor<2x4x9x10xf64>
  return %y : tensor<2x4x9x10xf64>
}

// -----

// CHECK-LABEL: func.func @bilinear_of_f16_is_computed_in_f32
// CHECK:         arith.extf %{{.*}} : f16 to f32
// CHECK:         %[[Y:.*]] = arith.truncf %{{.*}} : f32 to f16
// CHECK:         linalg.yield %[[Y]]
func.func @bilinear_of_f16_is_computed_in_f32(%x: tensor<2x4x3x5xf16>) -> tensor<2x4x7x10xf16> {
  %y = gawee.interpolate %x size [7, 10] mode "bilinear" : (tensor<2x4x3x5xf16>) -> tensor<2x4x7x10xf16>
  return %y : tensor<2x4x7x10xf16>
}

// -----

// CHECK-LABEL: func.func @values_that_only_gave_the_size_go_away
// CHECK-NOT:   gawee
func.func @values_that_only_gave_the_size_go_away(%x: tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32> {
  %s = gawee.getattr %x "shape" : tensor<2x4x3x5xf32>
  %h = gawee.getitem %s "2"
  %w = gawee.constant dense<5> : tensor<i64>
  %y = gawee.interpolate %x size_from %h, %w size [3, 5] mode "nearest" : (tensor<2x4x3x5xf32>, !gawee.python_value, tensor<i64>) -> tensor<2x4x3x5xf32>
  return %y : tensor<2x4x3x5xf32>
}

// -----

// CHECK-LABEL: func.func @float_positions_are_computed_in_f32
// CHECK:       arith.constant 0.428571{{.*}} : f32
// CHECK:       arith.mulf {{.*}} : f32
// CHECK:       arith.fptosi
// CHECK:       tensor.extract %x
func.func @float_positions_are_computed_in_f32(%x: tensor<2x4x3x6xf64>) -> tensor<2x4x7x14xf64> {
  %y = gawee.interpolate %x size [7, 14] mode "nearest" float_positions : (tensor<2x4x3x6xf64>) -> tensor<2x4x7x14xf64>
  return %y : tensor<2x4x7x14xf64>
}

// -----

// CHECK-LABEL: func.func @cubic_resampling_rounds_down_and_clamps
// CHECK:       math.floor
// CHECK:       arith.fptosi
// CHECK:       arith.minsi
// CHECK:       tensor.extract %x
func.func @cubic_resampling_rounds_down_and_clamps(%x: tensor<2x4x3x6xf32>) -> tensor<2x4x7x14xf32> {
  %y = gawee.interpolate %x size [7, 14] mode "bicubic" : (tensor<2x4x3x6xf32>) -> tensor<2x4x7x14xf32>
  return %y : tensor<2x4x7x14xf32>
}

// -----

// CHECK-LABEL: func.func @an_axis_that_keeps_its_size_is_not_blended
// CHECK:         linalg.generic
// CHECK:         linalg.index 3
// CHECK:         -> tensor<2x4x3x10xf16>
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @an_axis_that_keeps_its_size_is_not_blended(%x: tensor<2x4x3x5xf16>) -> tensor<2x4x3x10xf16> {
  %y = gawee.interpolate %x size [3, 10] mode "bilinear" : (tensor<2x4x3x5xf16>) -> tensor<2x4x3x10xf16>
  return %y : tensor<2x4x3x10xf16>
}

// -----

// CHECK-LABEL: func.func @an_axis_of_another_scale_than_its_sizes_is_blended
// CHECK-COUNT-2: linalg.generic
func.func @an_axis_of_another_scale_than_its_sizes_is_blended(%x: tensor<2x4x3x5xf32>) -> tensor<2x4x3x10xf32> {
  %y = gawee.interpolate %x size [3, 10] mode "bilinear" scales [1.3, 2.0] : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x10xf32>
  return %y : tensor<2x4x3x10xf32>
}

// -----

// CHECK-LABEL: func.func @a_size_that_stays_is_the_input
// CHECK-NEXT:    return %x
func.func @a_size_that_stays_is_the_input(%x: tensor<2x4x3xf32>) -> tensor<2x4x3xf32> {
  %y = gawee.interpolate %x size [3] mode "linear" align_corners : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  return %y : tensor<2x4x3xf32>
}
