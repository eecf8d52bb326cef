// RUN: gawee-opt --lower-to-linalg --split-input-file %s | filecheck %s

// Lines of the last axis four at a time, the fifth by itself; the sums are what a loop carries.
// CHECK-LABEL: func.func @running_sums_add_several_lines_at_a_time
// CHECK:       %[[LINES:.*]] = arith.constant 4 : index
// CHECK:       %[[FOUR:.*]] = scf.for %{{.*}} = %{{.*}} to %[[LINES]] step
// CHECK:         scf.for {{.*}} -> (tensor<5x7x1xf32>, f64, f64, f64, f64)
// CHECK-COUNT-4:   arith.addf {{.*}} : f64
// CHECK-NOT:       arith.addf
// CHECK:       scf.for {{.*}} iter_args(%{{.*}} = %[[FOUR]])
// CHECK:           %[[X:.*]] = tensor.extract
// CHECK:           %[[WIDE:.*]] = arith.extf %[[X]] : f32 to f64
// CHECK:           %[[SUM:.*]] = arith.addf %{{.*}}, %[[WIDE]] : f64
// CHECK:           arith.truncf %[[SUM]] : f64 to f32
func.func @running_sums_add_several_lines_at_a_time(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %y = gawee.cumsum %x axis 1 : (tensor<5x7xf32>) -> tensor<5x7xf32>
  return %y : tensor<5x7xf32>
}

// -----

// CHECK-LABEL: func.func @running_sums_along_another_axis_keep_those_of_all_columns
// CHECK:       %[[SUMS:.*]] = linalg.fill {{.*}} -> tensor<3xi64>
// CHECK:       scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[SUMS]])
// CHECK:         scf.for
// CHECK:           %[[FIRST:.*]] = arith.cmpi eq
// CHECK:           scf.for
// CHECK:             arith.select %[[FIRST]]
// CHECK:             arith.addi
func.func @running_sums_along_another_axis_keep_those_of_all_columns(%x: tensor<2x5x3xi64>) -> tensor<2x5x3xi64> {
  %y = gawee.cumsum %x axis 1 : (tensor<2x5x3xi64>) -> tensor<2x5x3xi64>
  return %y : tensor<2x5x3xi64>
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
