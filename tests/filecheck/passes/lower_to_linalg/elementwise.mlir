// RUN: gawee-opt --lower-to-linalg --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @missing_and_single_axes_are_broadcast_by_the_maps
// CHECK:       %[[E:.*]] = tensor.empty() : tensor<2x3x5xf32>
// CHECK:       linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
// CHECK-SAME:    ins(%x, %y : tensor<2x3x5xf32>, tensor<3x1xf32>) outs(%[[E]] :
// CHECK:         %[[SUM:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK:         linalg.yield %[[SUM]]
func.func @missing_and_single_axes_are_broadcast_by_the_maps(%x: tensor<2x3x5xf32>, %y: tensor<3x1xf32>) -> tensor<2x3x5xf32> {
  %z = gawee.add %x, %y : (tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
  return %z : tensor<2x3x5xf32>
}

// -----

// CHECK-LABEL: func.func @scalars_are_read_at_every_position
// CHECK:       linalg.generic {indexing_maps = [affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>,
// CHECK:         arith.subf
func.func @scalars_are_read_at_every_position(%x: tensor<f32>, %y: tensor<3x1xf32>) -> tensor<3x1xf32> {
  %z = gawee.sub %x, %y : (tensor<f32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  return %z : tensor<3x1xf32>
}

// -----

// CHECK-LABEL: func.func @integers_have_their_own_scalar_ops
// CHECK:       arith.muli
// CHECK:       arith.addi
// CHECK:       arith.subi
// CHECK:       %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK:       arith.maxsi %{{.*}}, %[[ZERO]] : i32
func.func @integers_have_their_own_scalar_ops(%x: tensor<2x3xi32>, %y: tensor<3xi32>) -> tensor<2x3xi32> {
  %a = gawee.mul %x, %y : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %b = gawee.add %a, %y : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %c = gawee.sub %b, %y : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %d = gawee.relu %c : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return %d : tensor<2x3xi32>
}

// -----

// maximumf keeps NaN, as PyTorch does.
// CHECK-LABEL: func.func @relu_is_the_maximum_with_zero
// CHECK:       linalg.generic
// CHECK:         %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         arith.maximumf %{{.*}}, %[[ZERO]] : f32
func.func @relu_is_the_maximum_with_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @each_float_op_has_its_scalar_op
// CHECK:       arith.divf
// CHECK:       arith.mulf
// CHECK:       math.sqrt
func.func @each_float_op_has_its_scalar_op(%x: tensor<2x3xf64>, %y: tensor<3xf64>) -> tensor<2x3xf64> {
  %a = gawee.div %x, %y : (tensor<2x3xf64>, tensor<3xf64>) -> tensor<2x3xf64>
  %b = gawee.mul %a, %a : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  %c = gawee.sqrt %b : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %c : tensor<2x3xf64>
}

// -----

// CHECK-LABEL: func.func @numbers_that_the_type_does_not_hold_are_infinities
// CHECK-DAG:     arith.constant 0xff800000 : f32
// CHECK-DAG:     arith.constant 0x7f800000 : f32
func.func @numbers_that_the_type_does_not_hold_are_infinities(%x: tensor<3x5xf16>) -> tensor<3x5xf16> {
  %y = gawee.clip %x min -6.4e212 max 6.4e39 : (tensor<3x5xf16>) -> tensor<3x5xf16>
  return %y : tensor<3x5xf16>
}
