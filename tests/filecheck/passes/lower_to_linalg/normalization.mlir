// RUN: gawee-opt --lower-to-linalg --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @batch_norm_reads_the_statistics_of_the_channel
// CHECK:       linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1)>, {{.*}}ins(%x, %m, %v, %g, %b :
// CHECK:         %[[EPS:.*]] = arith.constant 2.500000e-01 : f32
// CHECK:         %[[VARIANCE:.*]] = arith.addf %{{.*}}, %[[EPS]] : f32
// CHECK:         %[[DEVIATION:.*]] = math.sqrt %[[VARIANCE]] : f32
// CHECK:         arith.divf %{{.*}}, %[[DEVIATION]] : f32
// CHECK:         %[[SCALED:.*]] = arith.mulf
// CHECK:         arith.addf %[[SCALED]],
func.func @batch_norm_reads_the_statistics_of_the_channel(%x: tensor<2x3x5xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>, %g: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<2x3x5xf32> {
  %y = gawee.batch_norm %x mean %m variance %v scale %g bias %b eps 0.25 : tensor<2x3x5xf32>, tensor<3xf32>
  return %y : tensor<2x3x5xf32>
}

// -----

// CHECK-LABEL: func.func @batch_norm_without_scale_and_bias_ends_with_the_division
// CHECK:       linalg.generic {{.*}} ins(%x, %m, %v :
// CHECK:         %[[Y:.*]] = arith.divf
// CHECK-NEXT:    linalg.yield %[[Y]]
func.func @batch_norm_without_scale_and_bias_ends_with_the_division(%x: tensor<2x3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) -> tensor<2x3xf32> {
  %y = gawee.batch_norm %x mean %m variance %v eps 0.25 : tensor<2x3xf32>, tensor<3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// The mean first, then the squares of what is left: nothing cancels.
// CHECK-LABEL: func.func @layer_norm_takes_two_passes
// CHECK:       %[[SUM:.*]] = linalg.generic
// CHECK:       %[[MEAN:.*]] = linalg.generic {{.*}} ins(%[[SUM]] : tensor<2xf32>)
// CHECK:       linalg.generic {{.*}} ins(%x, %[[MEAN]] : tensor<2x3x5xf32>, tensor<2xf32>)
// CHECK:         %[[LEFT:.*]] = arith.subf
// CHECK:         arith.mulf %[[LEFT]], %[[LEFT]] : f32
// CHECK:       math.sqrt
// CHECK:       linalg.generic {{.*}} ins(%x, %{{.*}}, %{{.*}}, %g, %b :
func.func @layer_norm_takes_two_passes(%x: tensor<2x3x5xf32>, %g: tensor<3x5xf32>, %b: tensor<3x5xf32>) -> tensor<2x3x5xf32> {
  %y = gawee.layer_norm %x scale %g : tensor<3x5xf32> bias %b : tensor<3x5xf32> normalized_rank 2 eps 1.0e-05 : tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}

// -----

// The factor of each channel is computed once, and named after the weight.
// CHECK-LABEL: func.func @folding_takes_an_op_for_factors_weights_and_biases
// CHECK:       %y_factor = linalg.generic {{.*}} ins(%g, %v :
// CHECK:         math.sqrt
// CHECK:       %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0)>, {{.*}} ins(%w, %y_factor :
// CHECK-NOT:     math.sqrt
// CHECK:       %z = linalg.generic {{.*}} ins(%t, %m, %y_factor :
// CHECK-NOT:   linalg.generic
// CHECK:       return %y, %z
func.func @folding_takes_an_op_for_factors_weights_and_biases(%w: tensor<3x2x5xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>, %g: tensor<3xf32>, %t: tensor<3xf32>) -> (tensor<3x2x5xf32>, tensor<3xf32>) {
  %y, %z = gawee.fold_batch_norm %w mean %m variance %v scale %g shift %t eps 1.0e-05 : tensor<3x2x5xf32>, tensor<3xf32>
  return %y, %z : tensor<3x2x5xf32>, tensor<3xf32>
}

// -----

// CHECK-LABEL: func.func @parameters_of_f16_are_folded_in_f32_and_rounded_once
// CHECK:       %y_factor = linalg.generic {{.*}} outs(%{{.*}} : tensor<3xf32>)
// CHECK:         arith.constant 1.000000e-12 : f32
// CHECK:       linalg.generic {{.*}} ins(%w, %y_factor : tensor<3x2xf16>, tensor<3xf32>)
// CHECK:         %[[WIDE:.*]] = arith.mulf %{{.*}} : f32
// CHECK-NEXT:    arith.truncf %[[WIDE]] : f32 to f16
// CHECK:       linalg.generic {{.*}} ins(%m, %y_factor : tensor<3xf16>, tensor<3xf32>)
// CHECK:         %[[SHIFT:.*]] = arith.subf %{{.*}} : f32
// CHECK-NEXT:    arith.truncf %[[SHIFT]] : f32 to f16
func.func @parameters_of_f16_are_folded_in_f32_and_rounded_once(%w: tensor<3x2xf16>, %m: tensor<3xf16>, %v: tensor<3xf16>) -> (tensor<3x2xf16>, tensor<3xf16>) {
  %y, %z = gawee.fold_batch_norm %w mean %m variance %v eps 1.0e-12 : tensor<3x2xf16>, tensor<3xf16>
  return %y, %z : tensor<3x2xf16>, tensor<3xf16>
}

// -----

// CHECK-LABEL: func.func @rms_norm_takes_no_mean_off
// CHECK-NOT:   arith.subf
// CHECK:       math.sqrt
// CHECK-NOT:   arith.subf
func.func @rms_norm_takes_no_mean_off(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.rms_norm %x normalized_rank 1 eps 1.0e-05 : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @group_norm_splits_the_channels
// CHECK:       tensor.expand_shape %x {{.*}} : tensor<2x6x5xf32> into tensor<2x3x2x5xf32>
// CHECK:       tensor.expand_shape %g {{.*}} : tensor<6xf32> into tensor<3x2xf32>
// CHECK:       math.sqrt
// CHECK:       tensor.collapse_shape {{.*}} : tensor<2x3x2x5xf32> into tensor<2x6x5xf32>
func.func @group_norm_splits_the_channels(%x: tensor<2x6x5xf32>, %g: tensor<6xf32>) -> tensor<2x6x5xf32> {
  %y = gawee.group_norm %x scale %g : tensor<6xf32> groups 3 eps 1.0e-05 : tensor<2x6x5xf32>
  return %y : tensor<2x6x5xf32>
}
