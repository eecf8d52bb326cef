// RUN: gawee-opt --lower-to-linalg --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @sort_counts_what_comes_before_each_element
// CHECK:       %[[PLACES:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-SAME:    iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %x
// CHECK:         arith.cmpi slt
// CHECK:         arith.addi
// CHECK:       %[[I:.*]] = linalg.generic {{.*}} ins(%[[PLACES]]
// CHECK:         arith.cmpi eq
// CHECK:       linalg.generic {{.*}} ins(%[[I]]
// CHECK:         tensor.extract %x
func.func @sort_counts_what_comes_before_each_element(%x: tensor<2x5xi32>) -> (tensor<2x5xi32>, tensor<2x5xi64>) {
  %y, %i = gawee.sort %x axis 1 descending false : (tensor<2x5xi32>) -> (tensor<2x5xi32>, tensor<2x5xi64>)
  return %y, %i : tensor<2x5xi32>, tensor<2x5xi64>
}

// -----

// CHECK-LABEL: func.func @nan_is_greater_than_every_other_element
// CHECK:       arith.cmpf ult, %[[A:.*]], %[[B:.*]] : f32
// CHECK:       arith.cmpf ord, %[[A]], %[[A]] : f32
func.func @nan_is_greater_than_every_other_element(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xi64>) {
  %y, %i = gawee.sort %x axis 0 descending false : (tensor<5xf32>) -> (tensor<5xf32>, tensor<5xi64>)
  return %y, %i : tensor<5xf32>, tensor<5xi64>
}

// -----

// CHECK-LABEL: func.func @top_k_looks_for_the_first_places_alone
// CHECK:       linalg.generic {{.*}} outs(%{{.*}} : tensor<5xi64>)
// CHECK:       linalg.generic {{.*}} outs(%{{.*}} : tensor<3xi64>)
// CHECK:       linalg.generic {{.*}} outs(%{{.*}} : tensor<3xf32>)
func.func @top_k_looks_for_the_first_places_alone(%x: tensor<5xf32>) -> (tensor<3xf32>, tensor<3xi64>) {
  %y, %i = gawee.top_k %x k 3 axis 0 largest true : (tensor<5xf32>) -> (tensor<3xf32>, tensor<3xi64>)
  return %y, %i : tensor<3xf32>, tensor<3xi64>
}
