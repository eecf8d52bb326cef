// RUN: gawee-opt --lower-to-linalg --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @scatter_elements_inserts_one_update_after_the_other
// CHECK:       %[[P:.*]] = linalg.generic {{.*}} ins(%i : tensor<2x4xi64>)
// CHECK:         arith.trunci {{.*}} : i64 to i32
// CHECK:       %[[R:.*]] = scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[T:.*]] = %x) -> (tensor<2x5xf32>) {
// CHECK:         %[[S:.*]] = scf.for %[[J:.*]] = %{{.*}} iter_args(%[[U:.*]] = %[[T]])
// CHECK:           tensor.extract %[[P]][%[[I]], %[[J]]] : tensor<2x4xi32>
// CHECK:           %[[V:.*]] = tensor.extract %u[%[[I]], %[[J]]] : tensor<2x4xf32>
// CHECK:           %[[N:.*]] = tensor.insert %[[V]] into %[[U]][%[[I]], %{{.*}}] : tensor<2x5xf32>
// CHECK:           scf.yield %[[N]]
// CHECK:         scf.yield %[[S]]
func.func @scatter_elements_inserts_one_update_after_the_other(%x: tensor<2x5xf32>, %i: tensor<2x4xi64>, %u: tensor<2x4xf32>) -> tensor<2x5xf32> {
  %y = gawee.scatter_elements %x, %i, %u axis 1 reduction "none" : (tensor<2x5xf32>, tensor<2x4xi64>, tensor<2x4xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// -----

// CHECK-LABEL: func.func @scatter_nd_adds_slices
// CHECK:       scf.for %[[ROW:.*]] = %{{.*}} iter_args(%{{.*}} = %x)
// CHECK:         scf.for %[[J:.*]] = %{{.*}} iter_args(%[[T:.*]] = %{{.*}})
// CHECK:           tensor.extract %i[%[[ROW]], %{{.*}}] : tensor<4x1xi32>
// CHECK:           %[[V:.*]] = tensor.extract %u[%[[ROW]], %[[J]]] : tensor<4x7xi32>
// CHECK:           %[[OLD:.*]] = tensor.extract %[[T]][%{{.*}}, %[[J]]] : tensor<5x7xi32>
// CHECK:           %[[N:.*]] = arith.addi %[[OLD]], %[[V]] : i32
// CHECK:           tensor.insert %[[N]] into %[[T]][%{{.*}}, %[[J]]] : tensor<5x7xi32>
func.func @scatter_nd_adds_slices(%x: tensor<5x7xi32>, %i: tensor<4x1xi32>, %u: tensor<4x7xi32>) -> tensor<5x7xi32> {
  %y = gawee.scatter_nd %x, %i, %u reduction "add" : (tensor<5x7xi32>, tensor<4x1xi32>, tensor<4x7xi32>) -> tensor<5x7xi32>
  return %y : tensor<5x7xi32>
}

// -----

// CHECK-LABEL: func.func @scatter_elements_multiplies
// CHECK:       %[[OLD:.*]] = tensor.extract %{{.*}}[%{{.*}}] : tensor<5xf32>
// CHECK:       %[[N:.*]] = arith.mulf %[[OLD]], %{{.*}} : f32
// CHECK:       tensor.insert %[[N]]
func.func @scatter_elements_multiplies(%x: tensor<5xf32>, %i: tensor<3xi64>, %u: tensor<3xf32>) -> tensor<5xf32> {
  %y = gawee.scatter_elements %x, %i, %u axis 0 reduction "mul" : (tensor<5xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

// CHECK-LABEL: func.func @scatter_elements_keeps_the_greater
// CHECK:       %[[OLD:.*]] = tensor.extract %{{.*}}[%{{.*}}] : tensor<5xf32>
// CHECK:       %[[N:.*]] = arith.maximumf %[[OLD]], %{{.*}} : f32
// CHECK:       tensor.insert %[[N]]
func.func @scatter_elements_keeps_the_greater(%x: tensor<5xf32>, %i: tensor<3xi64>, %u: tensor<3xf32>) -> tensor<5xf32> {
  %y = gawee.scatter_elements %x, %i, %u axis 0 reduction "max" : (tensor<5xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

// CHECK-LABEL: func.func @scatter_nd_keeps_the_lesser
// CHECK:       %[[OLD:.*]] = tensor.extract %{{.*}}[%{{.*}}] : tensor<5xi32>
// CHECK:       %[[N:.*]] = arith.minsi %[[OLD]], %{{.*}} : i32
// CHECK:       tensor.insert %[[N]]
func.func @scatter_nd_keeps_the_lesser(%x: tensor<5xi32>, %i: tensor<3x1xi64>, %u: tensor<3xi32>) -> tensor<5xi32> {
  %y = gawee.scatter_nd %x, %i, %u reduction "min" : (tensor<5xi32>, tensor<3x1xi64>, tensor<3xi32>) -> tensor<5xi32>
  return %y : tensor<5xi32>
}
