// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// TransposeOp C1: an axis is missing.
// CHECK: error: 'gawee.transpose' op expected permutation of the axes 0 to 1, got [0, 0]
func.func @transpose_c1_axis_is_missing(%x: tensor<3x5xf32>) {
  %y = gawee.transpose %x permutation [0, 0] : (tensor<3x5xf32>) -> tensor<3x3xf32>
  func.return
}

// -----

// TransposeOp C1: an axis is negative.
// CHECK: error: 'gawee.transpose' op expected permutation of the axes 0 to 1, got [-1, 0]
func.func @transpose_c1_axis_is_negative(%x: tensor<3x5xf32>) {
  %y = gawee.transpose %x permutation [-1, 0] : (tensor<3x5xf32>) -> tensor<5x3xf32>
  func.return
}

// -----

// The result type follows from the permutation.
// CHECK: error: 'gawee.transpose' op expected result type 'tensor<5x3xf32>', got 'tensor<3x5xf32>'
func.func @transpose_result_type_differs(%x: tensor<3x5xf32>) {
  %y = gawee.transpose %x permutation [1, 0] : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// BroadcastToOp C1: a size is negative.
// CHECK: error: 'gawee.broadcast_to' op expected shape of at least 0, got [-1, 3, 5]
func.func @broadcast_to_c1_size_is_negative(%x: tensor<3x5xf32>) {
  %y = gawee.broadcast_to %x shape [-1, 3, 5] : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// BroadcastToOp C2: a size differs and is not 1.
// CHECK: error: 'gawee.broadcast_to' op expected input (3x5) to broadcast to shape 3x6
func.func @broadcast_to_c2_size_differs(%x: tensor<3x5xf32>) {
  %y = gawee.broadcast_to %x shape [3, 6] : (tensor<3x5xf32>) -> tensor<3x6xf32>
  func.return
}

// -----

// BroadcastToOp C2: the shape has fewer axes.
// CHECK: error: 'gawee.broadcast_to' op expected input (3x5) to broadcast to shape 5
func.func @broadcast_to_c2_shape_has_fewer_axes(%x: tensor<3x5xf32>) {
  %y = gawee.broadcast_to %x shape [5] : (tensor<3x5xf32>) -> tensor<5xf32>
  func.return
}

// -----

// TileOp C1: a repeat is missing.
// CHECK: error: 'gawee.tile' op expected repeats of 2 entries, got 1 ([2])
func.func @tile_c1_repeat_is_missing(%x: tensor<3x5xf32>) {
  %y = gawee.tile %x repeats [2] : (tensor<3x5xf32>) -> tensor<6x5xf32>
  func.return
}

// -----

// TileOp C1: a repeat is negative.
// CHECK: error: 'gawee.tile' op expected repeats of at least 0, got [2, -1]
func.func @tile_c1_repeat_is_negative(%x: tensor<3x5xf32>) {
  %y = gawee.tile %x repeats [2, -1] : (tensor<3x5xf32>) -> tensor<6x5xf32>
  func.return
}

// -----

// ReverseOp C1: there is no such axis.
// CHECK: error: 'gawee.reverse' op expected axes from -2 to 1, got 2
func.func @reverse_c1_axis_is_none(%x: tensor<3x5xf32>) {
  %y = gawee.reverse %x axes [2] : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// ReverseOp C1: an axis is named twice.
// CHECK: error: 'gawee.reverse' op expected axes named once each, got [1, -1]
func.func @reverse_c1_axis_is_named_twice(%x: tensor<3x5xf32>) {
  %y = gawee.reverse %x axes [1, -1] : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return
}
