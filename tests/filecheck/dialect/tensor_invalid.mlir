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
