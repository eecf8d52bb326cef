// RUN: gawee-opt --lower-to-linalg --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @gather_reads_at_indices_that_count_from_either_end
// CHECK:       linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1)>
// CHECK-SAME:    ins(%i : tensor<4xi64>)
// CHECK:       %[[P:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK:       %[[NEGATIVE:.*]] = arith.cmpi slt, %[[P]]
// CHECK:       %[[BACK:.*]] = arith.addi %[[P]]
// CHECK:       %[[Q:.*]] = arith.select %[[NEGATIVE]], %[[BACK]], %[[P]]
// CHECK:       tensor.extract %x[%{{.*}}, %[[Q]], %{{.*}}] : tensor<2x5x3xf32>
func.func @gather_reads_at_indices_that_count_from_either_end(%x: tensor<2x5x3xf32>, %i: tensor<4xi64>) -> tensor<2x4x3xf32> {
  %y = gawee.gather %x, %i axis 1 : (tensor<2x5x3xf32>, tensor<4xi64>) -> tensor<2x4x3xf32>
  return %y : tensor<2x4x3xf32>
}

// -----

// CHECK-LABEL: func.func @gather_elements_has_an_index_at_every_position
// CHECK:       linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>
// CHECK-SAME:    ins(%i : tensor<2x4xi32>)
// CHECK:         arith.select
// CHECK:       linalg.generic
// CHECK:         %[[Q:.*]] = arith.index_cast
// CHECK:         tensor.extract %x[%{{.*}}, %[[Q]]] : tensor<2x5xf32>
func.func @gather_elements_has_an_index_at_every_position(%x: tensor<2x5xf32>, %i: tensor<2x4xi32>) -> tensor<2x4xf32> {
  %y = gawee.gather_elements %x, %i axis -1 : (tensor<2x5xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: func.func @gather_nd_reads_every_index_of_its_row
// CHECK:       %[[ROW:.*]] = linalg.index 0 : index
// CHECK:       tensor.extract %i[%[[ROW]], %{{.*}}] : tensor<4x2xi64>
// CHECK:       tensor.extract %i[%[[ROW]], %{{.*}}] : tensor<4x2xi64>
// CHECK:       %[[INNER:.*]] = linalg.index 1 : index
// CHECK:       tensor.extract %x[%{{.*}}, %{{.*}}, %[[INNER]]] : tensor<5x3x7xf32>
func.func @gather_nd_reads_every_index_of_its_row(%x: tensor<5x3x7xf32>, %i: tensor<4x2xi64>) -> tensor<4x7xf32> {
  %y = gawee.gather_nd %x, %i batch_dims 0 : (tensor<5x3x7xf32>, tensor<4x2xi64>) -> tensor<4x7xf32>
  return %y : tensor<4x7xf32>
}

// -----

// CHECK-LABEL: func.func @indices_that_each_line_reads_become_positions_once
// CHECK:       %[[P:.*]] = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, {{.*}} ins(%i : tensor<4xi64>)
// CHECK:         arith.select
// CHECK:         arith.trunci {{.*}} : i64 to i32
// CHECK:       linalg.generic {{.*}} ins(%[[P]] : tensor<4xi32>)
// CHECK:         %[[Q:.*]] = arith.index_cast
// CHECK-NOT:     arith.select
// CHECK:         tensor.extract %x[%{{.*}}, %[[Q]]] : tensor<2x5xf32>
func.func @indices_that_each_line_reads_become_positions_once(%x: tensor<2x5xf32>, %i: tensor<4xi64>) -> tensor<2x4xf32> {
  %y = gawee.gather %x, %i axis 1 : (tensor<2x5xf32>, tensor<4xi64>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
