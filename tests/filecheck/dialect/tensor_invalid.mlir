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
