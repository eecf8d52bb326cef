// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// ReduceSumOp C1: element type is boolean.
// CHECK: error: 'gawee.reduce_sum' op unsupported element type 'i1' of input; supported: f16, f32, f64, integers of more than one bit
func.func @reduce_sum_c1_element_type_is_boolean(%x: tensor<2x3xi1>) {
  %y = gawee.reduce_sum %x axes [1] : (tensor<2x3xi1>) -> tensor<2xi1>
  func.return
}

// -----

// ReduceSumOp C2: there is no such axis.
// CHECK: error: 'gawee.reduce_sum' op expected axes from -2 to 1, got 2
func.func @reduce_sum_c2_there_is_no_such_axis(%x: tensor<2x3xf32>) {
  %y = gawee.reduce_sum %x axes [0, 2] : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}

// -----

// ReduceSumOp C2: an axis is named twice.
// CHECK: error: 'gawee.reduce_sum' op expected axes named once each, got [1, -1]
func.func @reduce_sum_c2_an_axis_is_named_twice(%x: tensor<2x3xf32>) {
  %y = gawee.reduce_sum %x axes [1, -1] : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}

// -----

// ReduceMeanOp C1: element type is integer.
// CHECK: error: 'gawee.reduce_mean' op unsupported element type 'i32' of input; supported: f16, f32, f64
func.func @reduce_mean_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.reduce_mean %x axes [1] : (tensor<2x3xi32>) -> tensor<2xi32>
  func.return
}

// -----

// ReduceMeanOp C2: there is no such axis.
// CHECK: error: 'gawee.reduce_mean' op expected axes from -2 to 1, got 2
func.func @reduce_mean_c2_there_is_no_such_axis(%x: tensor<2x3xf32>) {
  %y = gawee.reduce_mean %x axes [0, 2] : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}

// -----

// ReduceMeanOp C2: an axis is named twice.
// CHECK: error: 'gawee.reduce_mean' op expected axes named once each, got [1, -1]
func.func @reduce_mean_c2_an_axis_is_named_twice(%x: tensor<2x3xf32>) {
  %y = gawee.reduce_mean %x axes [1, -1] : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}

// -----

// ReduceMaxOp C1: element type is boolean.
// CHECK: error: 'gawee.reduce_max' op unsupported element type 'i1' of input; supported: f16, f32, f64, integers of more than one bit
func.func @reduce_max_c1_element_type_is_boolean(%x: tensor<2x3xi1>) {
  %y = gawee.reduce_max %x axes [1] : (tensor<2x3xi1>) -> tensor<2xi1>
  func.return
}

// -----

// ReduceMaxOp C2: there is no such axis.
// CHECK: error: 'gawee.reduce_max' op expected axes from -2 to 1, got 2
func.func @reduce_max_c2_there_is_no_such_axis(%x: tensor<2x3xf32>) {
  %y = gawee.reduce_max %x axes [0, 2] : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}

// -----

// ReduceMaxOp C2: an axis is named twice.
// CHECK: error: 'gawee.reduce_max' op expected axes named once each, got [1, -1]
func.func @reduce_max_c2_an_axis_is_named_twice(%x: tensor<2x3xf32>) {
  %y = gawee.reduce_max %x axes [1, -1] : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}

// -----

// ReduceMaxOp C3: there is nothing to choose from.
// CHECK: error: 'gawee.reduce_max' op expected reduced axes of at least one element, got 2x0
func.func @reduce_max_c3_there_is_nothing_to_choose_from(%x: tensor<2x0xf32>) {
  %y = gawee.reduce_max %x axes [1] : (tensor<2x0xf32>) -> tensor<2xf32>
  func.return
}

// -----

// ReduceMinOp C1: element type is boolean.
// CHECK: error: 'gawee.reduce_min' op unsupported element type 'i1' of input; supported: f16, f32, f64, integers of more than one bit
func.func @reduce_min_c1_element_type_is_boolean(%x: tensor<2x3xi1>) {
  %y = gawee.reduce_min %x axes [1] : (tensor<2x3xi1>) -> tensor<2xi1>
  func.return
}

// -----

// ReduceMinOp C2: there is no such axis.
// CHECK: error: 'gawee.reduce_min' op expected axes from -2 to 1, got 2
func.func @reduce_min_c2_there_is_no_such_axis(%x: tensor<2x3xf32>) {
  %y = gawee.reduce_min %x axes [0, 2] : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}

// -----

// ReduceMinOp C2: an axis is named twice.
// CHECK: error: 'gawee.reduce_min' op expected axes named once each, got [1, -1]
func.func @reduce_min_c2_an_axis_is_named_twice(%x: tensor<2x3xf32>) {
  %y = gawee.reduce_min %x axes [1, -1] : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}

// -----

// ReduceMinOp C3: there is nothing to choose from.
// CHECK: error: 'gawee.reduce_min' op expected reduced axes of at least one element, got 2x0
func.func @reduce_min_c3_there_is_nothing_to_choose_from(%x: tensor<2x0xf32>) {
  %y = gawee.reduce_min %x axes [1] : (tensor<2x0xf32>) -> tensor<2xf32>
  func.return
}

// -----

// ReduceProdOp C1: element type is boolean.
// CHECK: error: 'gawee.reduce_prod' op unsupported element type 'i1' of input; supported: f16, f32, f64, integers of more than one bit
func.func @reduce_prod_c1_element_type_is_boolean(%x: tensor<2x3xi1>) {
  %y = gawee.reduce_prod %x axes [1] : (tensor<2x3xi1>) -> tensor<2xi1>
  func.return
}

// -----

// ReduceProdOp C2: there is no such axis.
// CHECK: error: 'gawee.reduce_prod' op expected axes from -2 to 1, got 2
func.func @reduce_prod_c2_there_is_no_such_axis(%x: tensor<2x3xf32>) {
  %y = gawee.reduce_prod %x axes [0, 2] : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}

// -----

// ReduceProdOp C2: an axis is named twice.
// CHECK: error: 'gawee.reduce_prod' op expected axes named once each, got [1, -1]
func.func @reduce_prod_c2_an_axis_is_named_twice(%x: tensor<2x3xf32>) {
  %y = gawee.reduce_prod %x axes [1, -1] : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}

// -----

// ReduceAnyOp C1: element type is integer.
// CHECK: error: 'gawee.reduce_any' op unsupported element type 'i32' of input; supported: i1
func.func @reduce_any_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.reduce_any %x axes [1] : (tensor<2x3xi32>) -> tensor<2xi32>
  func.return
}

// -----

// ReduceAnyOp C2: there is no such axis.
// CHECK: error: 'gawee.reduce_any' op expected axes from -2 to 1, got 2
func.func @reduce_any_c2_there_is_no_such_axis(%x: tensor<2x3xi1>) {
  %y = gawee.reduce_any %x axes [0, 2] : (tensor<2x3xi1>) -> tensor<2xi1>
  func.return
}

// -----

// ReduceAnyOp C2: an axis is named twice.
// CHECK: error: 'gawee.reduce_any' op expected axes named once each, got [1, -1]
func.func @reduce_any_c2_an_axis_is_named_twice(%x: tensor<2x3xi1>) {
  %y = gawee.reduce_any %x axes [1, -1] : (tensor<2x3xi1>) -> tensor<2xi1>
  func.return
}

// -----

// ReduceAllOp C1: element type is integer.
// CHECK: error: 'gawee.reduce_all' op unsupported element type 'i32' of input; supported: i1
func.func @reduce_all_c1_element_type_is_integer(%x: tensor<2x3xi32>) {
  %y = gawee.reduce_all %x axes [1] : (tensor<2x3xi32>) -> tensor<2xi32>
  func.return
}

// -----

// ReduceAllOp C2: there is no such axis.
// CHECK: error: 'gawee.reduce_all' op expected axes from -2 to 1, got 2
func.func @reduce_all_c2_there_is_no_such_axis(%x: tensor<2x3xi1>) {
  %y = gawee.reduce_all %x axes [0, 2] : (tensor<2x3xi1>) -> tensor<2xi1>
  func.return
}

// -----

// ReduceAllOp C2: an axis is named twice.
// CHECK: error: 'gawee.reduce_all' op expected axes named once each, got [1, -1]
func.func @reduce_all_c2_an_axis_is_named_twice(%x: tensor<2x3xi1>) {
  %y = gawee.reduce_all %x axes [1, -1] : (tensor<2x3xi1>) -> tensor<2xi1>
  func.return
}

// -----

// ArgMaxOp C1: element type is boolean.
// CHECK: error: 'gawee.arg_max' op unsupported element type 'i1' of input; supported: f16, f32, f64, integers of more than one bit
func.func @arg_max_c1_element_type_is_boolean(%x: tensor<2x3xi1>) {
  %y = gawee.arg_max %x axis 1 : (tensor<2x3xi1>) -> tensor<2xi64>
  func.return
}

// -----

// ArgMaxOp C2: there is no such axis.
// CHECK: error: 'gawee.arg_max' op expected axis from -2 to 1, got -3
func.func @arg_max_c2_there_is_no_such_axis(%x: tensor<2x3xf32>) {
  %y = gawee.arg_max %x axis -3 : (tensor<2x3xf32>) -> tensor<2xi64>
  func.return
}

// -----

// ArgMaxOp C2: the input is a scalar.
// CHECK: error: 'gawee.arg_max' op expected input of rank 1 or more for axis 0, got a scalar
func.func @arg_max_c2_the_input_is_a_scalar(%x: tensor<f32>) {
  %y = gawee.arg_max %x axis 0 : (tensor<f32>) -> tensor<i64>
  func.return
}

// -----

// ArgMaxOp C3: there is nothing to choose from.
// CHECK: error: 'gawee.arg_max' op expected reduced axes of at least one element, got 2x0
func.func @arg_max_c3_there_is_nothing_to_choose_from(%x: tensor<2x0xf32>) {
  %y = gawee.arg_max %x axis 1 : (tensor<2x0xf32>) -> tensor<2xi64>
  func.return
}

// -----

// ArgMinOp C1: element type is boolean.
// CHECK: error: 'gawee.arg_min' op unsupported element type 'i1' of input; supported: f16, f32, f64, integers of more than one bit
func.func @arg_min_c1_element_type_is_boolean(%x: tensor<2x3xi1>) {
  %y = gawee.arg_min %x axis 1 : (tensor<2x3xi1>) -> tensor<2xi64>
  func.return
}

// -----

// ArgMinOp C2: there is no such axis.
// CHECK: error: 'gawee.arg_min' op expected axis from -2 to 1, got -3
func.func @arg_min_c2_there_is_no_such_axis(%x: tensor<2x3xf32>) {
  %y = gawee.arg_min %x axis -3 : (tensor<2x3xf32>) -> tensor<2xi64>
  func.return
}

// -----

// ArgMinOp C2: the input is a scalar.
// CHECK: error: 'gawee.arg_min' op expected input of rank 1 or more for axis 0, got a scalar
func.func @arg_min_c2_the_input_is_a_scalar(%x: tensor<f32>) {
  %y = gawee.arg_min %x axis 0 : (tensor<f32>) -> tensor<i64>
  func.return
}

// -----

// ArgMinOp C3: there is nothing to choose from.
// CHECK: error: 'gawee.arg_min' op expected reduced axes of at least one element, got 2x0
func.func @arg_min_c3_there_is_nothing_to_choose_from(%x: tensor<2x0xf32>) {
  %y = gawee.arg_min %x axis 1 : (tensor<2x0xf32>) -> tensor<2xi64>
  func.return
}
