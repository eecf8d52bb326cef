// REQUIRES: pycparser
// RUN: gawee-opt --load-ops %S/inputs/ops.json %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: error: 'mine.window1d' op expected input 'src' of 1 dimensions, got 2 ([2, 9])
func.func @input_of_another_rank(%x: tensor<2x9xf32>) -> tensor<5xf32> {
  %y = mine.window1d %x size 3 stride 2 pad 1 : (tensor<2x9xf32>) -> tensor<5xf32>
  func.return %y : tensor<5xf32>
}

// -----

// CHECK: error: 'mine.window1d' op expected 3 params, got 2
func.func @param_is_missing(%x: tensor<9xf32>) -> tensor<5xf32> {
  %y = mine.window1d %x size 3 stride 2 : (tensor<9xf32>) -> tensor<5xf32>
  func.return %y : tensor<5xf32>
}

// -----

// CHECK: error: 'mine.window1d' op expected a param 'pad', got 'size', 'stride', 'padding'
func.func @param_has_another_name(%x: tensor<9xf32>) -> tensor<5xf32> {
  %y = mine.window1d %x size 3 stride 2 padding 1 : (tensor<9xf32>) -> tensor<5xf32>
  func.return %y : tensor<5xf32>
}

// -----

// CHECK: error: 'mine.window1d' op expected param 'size' to be LN_PARAM_NUMBER, got LN_PARAM_ARRAY_NUMBER
func.func @param_is_an_array(%x: tensor<9xf32>) -> tensor<5xf32> {
  %y = mine.window1d %x size [3] stride 2 pad 1 : (tensor<9xf32>) -> tensor<5xf32>
  func.return %y : tensor<5xf32>
}

// -----

// CHECK: error: 'mine.window1d' op expected param 'size' <= 9, got 10
func.func @bound_of_an_expression(%x: tensor<9xf32>) -> tensor<5xf32> {
  %y = mine.window1d %x size 10 stride 2 pad 1 : (tensor<9xf32>) -> tensor<5xf32>
  func.return %y : tensor<5xf32>
}

// -----

// CHECK: error: 'mine.window1d' op expected 'check' of param 'pad' to hold: 'pad' (2) is less than half of 'size' (3)
func.func @check_with_a_message(%x: tensor<9xf32>) -> tensor<5xf32> {
  %y = mine.window1d %x size 3 stride 2 pad 2 : (tensor<9xf32>) -> tensor<5xf32>
  func.return %y : tensor<5xf32>
}

// -----

// CHECK: error: 'mine.window1d' op expected output 'dst' of type 'tensor<5xf32>', got 'tensor<4xf32>'
func.func @result_type_does_not_follow(%x: tensor<9xf32>) -> tensor<4xf32> {
  %y = mine.window1d %x size 3 stride 2 pad 1 : (tensor<9xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// CHECK: error: 'mine.window1d' op expected 1 input tensors, got 2
func.func @operand_too_many(%x: tensor<9xf32>) -> tensor<5xf32> {
  %y = mine.window1d %x, %x size 3 stride 2 pad 1 : (tensor<9xf32>, tensor<9xf32>) -> tensor<5xf32>
  func.return %y : tensor<5xf32>
}

// -----

// CHECK: error: 'mine.window1d' op expected 1 output tensors, got 0
func.func @no_result(%x: tensor<9xf32>) {
  mine.window1d %x size 3 stride 2 pad 1 : (tensor<9xf32>) -> ()
  func.return
}

// -----

// CHECK: error: 'mine.window1d' op expected a param to be a number, string or boolean, got 'f32'
func.func @param_is_a_type(%x: tensor<9xf32>) -> tensor<5xf32> {
  %y = "mine.window1d"(%x) {size = f32, stride = 2, pad = 1} : (tensor<9xf32>) -> tensor<5xf32>
  func.return %y : tensor<5xf32>
}

// -----

// CHECK: error: 'mine.window1d' op expected operand #0 of static shape, got 'tensor<?xf32>'
func.func @input_of_unknown_shape(%x: tensor<?xf32>) -> tensor<5xf32> {
  %y = mine.window1d %x size 3 stride 2 pad 1 : (tensor<?xf32>) -> tensor<5xf32>
  func.return %y : tensor<5xf32>
}

// -----

// CHECK: error: 'mine.left_out' op is not registered
func.func @op_that_is_not_generated() {
  "mine.left_out"() : () -> ()
  func.return
}

// -----

// CHECK: error: 'lightnet.transpose' op 'custom' of param 'axes': 'axes' have axis 1 of 'src'
func.func @message_of_a_loop(%x: tensor<2x3x4xf32>) -> tensor<2x2x4xf32> {
  %y = lightnet.transpose %x axes [0, 0, 2] : (tensor<2x3x4xf32>) -> tensor<2x2x4xf32>
  func.return %y : tensor<2x2x4xf32>
}

// -----

// CHECK: error: 'lightnet.bn2scale_wts_cpu' op expected input 'src_mean' to be static, got tensor 'src_mean'
func.func @input_is_not_static(%x: tensor<2xf32> {gawee.input = "x"}) -> tensor<2xf32> {
  %a, %b, %c = lightnet.bn2scale_wts_cpu %x, %x, %x, %x epsilon 0.1 : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  func.return %a : tensor<2xf32>
}
