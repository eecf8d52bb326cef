// RUN: gawee-opt --verify-diagnostics --split-input-file %s | filecheck %s

// CHECK: 'tensor.generate' op expected a body of 2 indices
func.func @the_body_has_an_index_for_each_axis() -> tensor<3x5xindex> {
  %t = tensor.generate {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<3x5xindex>
  return %t : tensor<3x5xindex>
}

// -----

// CHECK: 'tensor.generate' op expected 1 sizes, got 0
func.func @open_sizes_are_given() -> tensor<?xindex> {
  %t = tensor.generate {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<?xindex>
  return %t : tensor<?xindex>
}

// -----

// PadOp C1: padding for each axis
// CHECK: error: 'tensor.pad' op expected padding, an index and a size for 2 axes
func.func @padding_of_one_axis_of_two(%x: tensor<2x5xf32>, %v: f32) -> tensor<3x5xf32> {
  %p = tensor.pad %x low[0, 0] high[1, 0] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } : tensor<2x5xf32> to tensor<3x5xf32>
  return %p : tensor<3x5xf32>
}

// -----

// PadOp C2: the size of the result
// CHECK: error: 'tensor.pad' op expected axis 0 of the result to have 3 elements, got 4
func.func @padding_that_is_too_little(%x: tensor<2x5xf32>, %v: f32) -> tensor<4x5xf32> {
  %p = tensor.pad %x low[0, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<2x5xf32> to tensor<4x5xf32>
  return %p : tensor<4x5xf32>
}

// -----

// PadOp C1: one block says what is padded with
// CHECK: error: 'tensor.pad' op expected a body of one block, got 2
func.func @padding_by_two_blocks(%x: tensor<2x5xf32>, %v: f32) -> tensor<3x5xf32> {
  %p = tensor.pad %x low[0, 0] high[1, 0] {
    tensor.yield %v : f32
  ^bb0(%i: index, %j: index):
  } : tensor<2x5xf32> to tensor<3x5xf32>
  return %p : tensor<3x5xf32>
}

// -----

// PadOp C3: 2^63 is what a size that the run brings is written as
// CHECK: error: 'tensor.pad' op the number of dynamic positions passed as values (0) does not match the number of dynamic position markers (1)
func.func @padding_by_more_than_there_is(%x: tensor<2x5xf32>, %v: f32) -> tensor<3x5xf32> {
  %p = tensor.pad %x low[0, 0] high[9223372036854775808, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<2x5xf32> to tensor<3x5xf32>
  return %p : tensor<3x5xf32>
}

// -----

// CHECK: tensor_invalid.mlir:{{[0-9]+}}:1: error: 'func.func' op operation func.func contains empty block
func.func @nothing_in_a_body(%x: tensor<3xf32>) {
}

// -----

// CHECK: 'tensor.pad' op expected property 'static_low'
func.func @padding_without_a_side(%x: tensor<2x5xf32>, %v: f32) -> tensor<3x5xf32> {
  %p = "tensor.pad"(%x) <{statis_low = array<i64: 0, 0>, static_high = array<i64: 1, 0>, operandSegmentSizes = array<i32: 1, 0, 0>}> ({
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  }) : (tensor<2x5xf32>) -> tensor<3x5xf32>
  return %p : tensor<3x5xf32>
}

// -----

// ReshapeOp C1: a size for each axis
// CHECK: error: 'tensor.reshape' op expected a shape of 2 sizes, got 'tensor<3xindex>'
func.func @a_reshape_to_another_rank(%x: tensor<4x3xf32>, %s: tensor<3xindex>) -> tensor<2x6xf32> {
  %r = tensor.reshape %x(%s) : (tensor<4x3xf32>, tensor<3xindex>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

// -----

// ReshapeOp C2: its elements
// CHECK: error: 'tensor.reshape' op expected the elements of 'tensor<4x3xf32>', got 'tensor<2x5xf32>'
func.func @a_reshape_to_fewer_elements(%x: tensor<4x3xf32>, %s: tensor<2xindex>) -> tensor<2x5xf32> {
  %r = tensor.reshape %x(%s) : (tensor<4x3xf32>, tensor<2xindex>) -> tensor<2x5xf32>
  return %r : tensor<2x5xf32>
}
