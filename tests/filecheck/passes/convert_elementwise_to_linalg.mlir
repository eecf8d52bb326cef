// RUN: gawee-opt --convert-elementwise-to-linalg --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @operands_are_read_element_by_element
// CHECK-NEXT:    %[[E:.*]] = tensor.empty() : tensor<3x5xf32>
// CHECK-NEXT:    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<3x5xf32>, tensor<3x5xf32>) outs(%[[E]] : tensor<3x5xf32>) {
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[A]], %[[B]] fastmath<contract> : f32
// CHECK-NEXT:      linalg.yield %[[S]] : f32
func.func @operands_are_read_element_by_element(%x: tensor<3x5xf32>, %y: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = arith.addf %x, %y fastmath<contract> : tensor<3x5xf32>
  func.return %0 : tensor<3x5xf32>
}

// -----

// CHECK-LABEL: func.func @operands_that_are_no_tensors_are_the_same_for_all_elements
// CHECK:         ins(%x, %y : tensor<7xf32>, tensor<7xf32>)
// CHECK:           arith.select %c, %{{.*}}, %{{.*}} : f32
func.func @operands_that_are_no_tensors_are_the_same_for_all_elements(%c: i1, %x: tensor<7xf32>, %y: tensor<7xf32>) -> tensor<7xf32> {
  %0 = arith.select %c, %x, %y : tensor<7xf32>
  func.return %0 : tensor<7xf32>
}

// -----

// CHECK-LABEL: func.func @open_sizes_are_those_of_the_operands
// CHECK:         %[[D:.*]] = tensor.dim %x, %{{.*}} : tensor<?x5xf32>
// CHECK:         tensor.empty(%[[D]]) : tensor<?x5xf32>
// CHECK:           math.exp %{{.*}} : f32
func.func @open_sizes_are_those_of_the_operands(%x: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %0 = math.exp %x : tensor<?x5xf32>
  func.return %0 : tensor<?x5xf32>
}

// -----

// CHECK-LABEL: func.func @constants_and_scalars_stay
// CHECK-NEXT:    %{{.*}} = arith.constant dense<2.000000e+00> : tensor<7xf32>
// CHECK-NEXT:    %{{.*}} = arith.addf %a, %a : f32
// CHECK-NEXT:    func.return
func.func @constants_and_scalars_stay(%a: f32) -> (tensor<7xf32>, f32) {
  %0 = arith.constant dense<2.0> : tensor<7xf32>
  %1 = arith.addf %a, %a : f32
  func.return %0, %1 : tensor<7xf32>, f32
}

// -----

// CHECK-LABEL: func.func @results_may_have_another_element_type
// CHECK:         outs(%{{.*}} : tensor<7xf64>)
// CHECK:           arith.extf %{{.*}} : f32 to f64
func.func @results_may_have_another_element_type(%x: tensor<7xf32>) -> tensor<7xf64> {
  %0 = arith.extf %x : tensor<7xf32> to tensor<7xf64>
  func.return %0 : tensor<7xf64>
}
