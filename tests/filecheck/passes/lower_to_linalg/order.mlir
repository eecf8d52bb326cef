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
// CHECK:       linalg.generic {{.*}} outs(%{{.*}} : tensor<12xi32>)
// CHECK:       linalg.generic {{.*}} outs(%{{.*}} : tensor<9xi32>)
// CHECK:       linalg.generic {{.*}} outs(%{{.*}} : tensor<9xf32>)
func.func @top_k_looks_for_the_first_places_alone(%x: tensor<12xf32>) -> (tensor<9xf32>, tensor<9xi64>) {
  %y, %i = gawee.top_k %x k 9 axis 0 largest true : (tensor<12xf32>) -> (tensor<9xf32>, tensor<9xi64>)
  return %y, %i : tensor<9xf32>, tensor<9xi64>
}

// -----

// CHECK-LABEL: func.func @the_top_few_are_selected_one_behind_the_other
// CHECK:       %[[MOST:.*]] = linalg.generic
// CHECK:         arith.maximumf
// CHECK:       %[[I:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[MOST]],
// CHECK:         arith.minsi
// CHECK:       %[[V:.*]] = linalg.generic {{.*}} ins(%[[I]]
// CHECK:         tensor.extract
// CHECK:       tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 0] [3, 1, 1]
// CHECK:       linalg.generic {{.*}} ins(%{{.*}}, %[[V]], %[[I]],
// CHECK:         arith.maximumf
// CHECK:       tensor.insert_slice %{{.*}} into %{{.*}}[0, 1, 0] [3, 1, 1]
func.func @the_top_few_are_selected_one_behind_the_other(%x: tensor<3x5xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>) {
  %y, %i = gawee.top_k %x k 2 axis 1 largest true : (tensor<3x5xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
  return %y, %i : tensor<3x2xf32>, tensor<3x2xi64>
}

// -----

// CHECK-LABEL: func.func @the_last_of_those_wanted_of_a_long_row_is_found_bit_by_bit
// CHECK:       arith.bitcast %{{.*}} : f32 to i32
// CHECK:       tensor.insert %{{.*}} : tensor<70xi32>
// CHECK:       scf.for {{.*}} -> (i32, i32)
// CHECK:         arith.cmpi sge
// CHECK:         arith.shrui
// CHECK:       arith.cmpi sgt
// CHECK:       arith.cmpi eq
// CHECK:       tensor.insert %{{.*}} : tensor<3x9x1xf32>
func.func @the_last_of_those_wanted_of_a_long_row_is_found_bit_by_bit(%x: tensor<3x70xf32>) -> (tensor<3x9xf32>, tensor<3x9xi64>) {
  %y, %i = gawee.top_k %x k 9 axis 1 largest true : (tensor<3x70xf32>) -> (tensor<3x9xf32>, tensor<3x9xi64>)
  return %y, %i : tensor<3x9xf32>, tensor<3x9xi64>
}
