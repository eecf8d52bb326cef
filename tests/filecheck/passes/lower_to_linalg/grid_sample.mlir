// RUN: gawee-opt --lower-to-linalg --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @grid_is_read_once_for_each_coordinate
// CHECK:       linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, 0)>, affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, 1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], {{.*}} ins(%g, %g :
// CHECK:       arith.maxnumf
// CHECK:       arith.minnumf
// CHECK:       math.floor
// CHECK:       tensor.extract %x
// CHECK:       arith.select
func.func @grid_is_read_once_for_each_coordinate(%x: tensor<2x3x5x7xf32>, %g: tensor<2x4x6x2xf32>) -> tensor<2x3x4x6xf32> {
  %y = gawee.grid_sample %x, %g mode "bilinear" padding_mode "zeros" : (tensor<2x3x5x7xf32>, tensor<2x4x6x2xf32>) -> tensor<2x3x4x6xf32>
  return %y : tensor<2x3x4x6xf32>
}

// -----

// CHECK-LABEL: func.func @nearest_positions_round_halves_to_even
// CHECK:       math.roundeven
// CHECK-NOT:   math.floor
func.func @nearest_positions_round_halves_to_even(%x: tensor<2x3x5x7xf16>, %g: tensor<2x4x6x2xf16>) -> tensor<2x3x4x6xf16> {
  %y = gawee.grid_sample %x, %g mode "nearest" padding_mode "border" align_corners : (tensor<2x3x5x7xf16>, tensor<2x4x6x2xf16>) -> tensor<2x3x4x6xf16>
  return %y : tensor<2x3x4x6xf16>
}
