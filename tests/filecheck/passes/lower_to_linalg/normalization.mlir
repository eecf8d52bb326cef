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
