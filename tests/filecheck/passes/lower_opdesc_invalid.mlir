// REQUIRES: pycparser
// RUN: gawee-opt %s --load-ops %S/../opdesc/inputs/ops.json --lower-opdesc --split-input-file --verify-diagnostics | filecheck %s

// CHECK: error: 'lightnet.tensorrt' op cannot be removed by lower-opdesc: expected an operator with a meaning in gawee ops
func.func @engine_that_is_unknown() {
  lightnet.tensorrt batch_size 1 : () -> ()
  func.return
}

// -----

// CHECK: error: 'mine.window1d' op cannot be removed by lower-opdesc: expected an operator with a meaning in gawee ops
func.func @op_of_a_user(%x: tensor<9xf32>) -> tensor<5xf32> {
  %y = mine.window1d %x size 3 stride 2 pad 1 : (tensor<9xf32>) -> tensor<5xf32>
  func.return %y : tensor<5xf32>
}

// -----

// CHECK: error: 'lightnet.create' op cannot be removed by lower-opdesc: expected its data in the IR, got a file; a graph has it as an argument of @main
func.func @data_in_a_file() -> tensor<2xf32> {
  %y = lightnet.create dtype "TL_FLOAT" dims [2] ran [0, 0] data [0] from_file true : () -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// -----

// CHECK: error: 'lightnet.create' op cannot be removed by lower-opdesc: expected data of 2 elements, got 3
func.func @data_of_another_size() -> tensor<2xf32> {
  %y = lightnet.create dtype "TL_FLOAT" dims [2] ran [0, 0] data [1, 2, 3] from_file false : () -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// -----

// CHECK: error: 'lightnet.resize' op cannot be removed by lower-opdesc: expected a tensor of rank 3 to 5 whose first two sizes stay, got [2, 3, 4] to [2, 4, 4]
func.func @channels_are_resized(%x: tensor<2x3x4xf32>) -> tensor<2x4x4xf32> {
  %y = lightnet.resize %x mode "TL_LINEAR" dims [2, 4, 4] : (tensor<2x3x4xf32>) -> tensor<2x4x4xf32>
  func.return %y : tensor<2x4x4xf32>
}

// -----

// CHECK: error: 'lightnet.zeros' op cannot be removed by lower-opdesc: expected a supported element type, got 'ui32'
func.func @element_type_of_no_gawee_op() -> tensor<2xui32> {
  %y = lightnet.zeros dtype "TL_UINT32" dims [2] : () -> tensor<2xui32>
  func.return %y : tensor<2xui32>
}

// -----

// CHECK: error: 'lightnet.conv1x1_dpu' op cannot be removed by lower-opdesc: expected windows of height 1, got 3x3
func.func @rows_of_higher_windows(%x: tensor<9x6xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>) -> tensor<4x4xf32> {
  %y = lightnet.conv1x1_dpu %x, %w, %b stride 2 padding [0, 0] group 2 : (tensor<9x6xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}

// -----

// CHECK: error: 'lightnet.zeros' op cannot be removed by lower-opdesc: expected a constant of at most 16000000 elements, got 1600000000
func.func @constant_beyond_reason() -> tensor<40000x40000xf32> {
  %y = lightnet.zeros dtype "TL_FLOAT" dims [40000, 40000] : () -> tensor<40000x40000xf32>
  func.return %y : tensor<40000x40000xf32>
}

// -----

// CHECK: error: 'lightnet.arange' op cannot be removed by lower-opdesc: expected at most 1000000 elements, got 2000000000
func.func @numbers_beyond_reason() -> tensor<2000000000xf32> {
  %y = lightnet.arange dtype "TL_FLOAT" start 0 stop 2000000000 step 1 : () -> tensor<2000000000xf32>
  func.return %y : tensor<2000000000xf32>
}
