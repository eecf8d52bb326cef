// RUN: gawee-opt --lower-to-linalg --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @combined_axes_are_the_last_loops
// CHECK:       %[[INIT:.*]] = linalg.fill
// CHECK:       linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0, d2)>, affine_map<(d0, d1, d2) -> (d0)>], iterator_types = ["parallel", "reduction", "reduction"]}
// CHECK-SAME:    outs(%[[INIT]] : tensor<3xf32>)
// CHECK:         arith.addf
func.func @combined_axes_are_the_last_loops(%x: tensor<2x3x5xf32>) -> tensor<3xf32> {
  %y = gawee.reduce_sum %x axes [0, -1] : (tensor<2x3x5xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// CHECK-LABEL: func.func @f16_is_summed_in_f32_and_rounded_after_the_division
// CHECK:         arith.extf %{{.*}} : f16 to f32
// CHECK:         arith.addf %{{.*}} : f32
// CHECK:         %[[COUNT:.*]] = arith.constant 3.000000e+00 : f32
// CHECK:         %[[MEAN:.*]] = arith.divf %{{.*}}, %[[COUNT]] : f32
// CHECK:         arith.truncf %[[MEAN]] : f32 to f16
// CHECK:       tensor.expand_shape {{.*}} : tensor<2xf16> into tensor<2x1xf16>
func.func @f16_is_summed_in_f32_and_rounded_after_the_division(%x: tensor<2x3xf16>) -> tensor<2x1xf16> {
  %y = gawee.reduce_mean %x axes [1] keep_dims : (tensor<2x3xf16>) -> tensor<2x1xf16>
  return %y : tensor<2x1xf16>
}

// -----

// CHECK-LABEL: func.func @each_reduction_has_its_neutral_element
// CHECK:       arith.constant 0x{{[fF][fF]}}800000 : f32
// CHECK:       arith.maximumf
// CHECK:       arith.constant 2147483647 : i32
// CHECK:       arith.minsi
// CHECK:       arith.constant true
// CHECK:       arith.andi
// CHECK:       arith.ori
func.func @each_reduction_has_its_neutral_element(%x: tensor<2xf32>, %i: tensor<2xi32>, %p: tensor<2xi1>) -> (tensor<f32>, tensor<i32>, tensor<i1>, tensor<i1>) {
  %a = gawee.reduce_max %x axes [0] : (tensor<2xf32>) -> tensor<f32>
  %b = gawee.reduce_min %i axes [0] : (tensor<2xi32>) -> tensor<i32>
  %c = gawee.reduce_all %p axes [0] : (tensor<2xi1>) -> tensor<i1>
  %d = gawee.reduce_any %p axes [0] : (tensor<2xi1>) -> tensor<i1>
  return %a, %b, %c, %d : tensor<f32>, tensor<i32>, tensor<i1>, tensor<i1>
}

// -----

// Positions are a constant: a kernel reads them as it reads all else.
// CHECK-LABEL: func.func @the_first_position_of_the_extreme_or_of_nan_is_found
// CHECK:       %[[MOST:.*]] = linalg.generic
// CHECK:         arith.maximumf
// CHECK:       %[[I:.*]] = arith.constant dense<[0, 1, 2]> : tensor<3xi32>
// CHECK:       linalg.generic {{.*}} ins(%x, %[[MOST]], %[[I]] : tensor<2x3xf32>, tensor<2xf32>, tensor<3xi32>)
// CHECK:         %[[EQUAL:.*]] = arith.cmpf oeq
// CHECK:         %[[NAN:.*]] = arith.cmpf uno
// CHECK:         arith.ori %[[EQUAL]], %[[NAN]]
// CHECK:         arith.minsi
func.func @the_first_position_of_the_extreme_or_of_nan_is_found(%x: tensor<2x3xf32>) -> tensor<2xi64> {
  %y = gawee.arg_max %x axis 1 : (tensor<2x3xf32>) -> tensor<2xi64>
  return %y : tensor<2xi64>
}
