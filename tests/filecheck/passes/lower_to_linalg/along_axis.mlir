// RUN: gawee-opt --lower-to-linalg --split-input-file %s | filecheck %s

// Five elements: what is 1, 2 and 4 places before is added.
// CHECK-LABEL: func.func @running_sums_take_the_logarithm_of_the_length_in_steps
// CHECK-COUNT-3: tensor.extract
// CHECK-NOT:     tensor.extract
func.func @running_sums_take_the_logarithm_of_the_length_in_steps(%x: tensor<2x5xi64>) -> tensor<2x5xi64> {
  %y = gawee.cumsum %x axis 1 : (tensor<2x5xi64>) -> tensor<2x5xi64>
  return %y : tensor<2x5xi64>
}

// -----

// CHECK-LABEL: func.func @softmax_subtracts_the_greatest_element
// CHECK:       %[[MOST:.*]] = linalg.generic
// CHECK:         arith.maximumf
// CHECK:       linalg.generic {{.*}} ins(%x, %[[MOST]] : tensor<2x3xf32>, tensor<2xf32>)
// CHECK:         %[[SHIFTED:.*]] = arith.subf
// CHECK:         math.exp %[[SHIFTED]] : f32
// CHECK:         arith.addf
// CHECK:         arith.divf
func.func @softmax_subtracts_the_greatest_element(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.softmax %x axis -1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @the_logarithm_of_softmax_takes_one_logarithm_a_line
// CHECK:         arith.maximumf
// CHECK:         math.exp
// CHECK:         math.log
// CHECK:         linalg.yield {{.*}} : f32
// CHECK:       } -> tensor<2xf32>
// CHECK:         arith.subf
// CHECK:         arith.subf
func.func @the_logarithm_of_softmax_takes_one_logarithm_a_line(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.log_softmax %x axis 1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
