// RUN: gawee-opt --form-kernels --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @expanded_axes_are_read_as_one
// CHECK-NEXT:    gawee.kernel parallel [2, 3, 5] ins(%x : tensor<6x5xf32>)
// CHECK-SAME:      (d0, d1, d2) -> (((d0 * 3) + d1), d2)>
func.func @expanded_axes_are_read_as_one(%x: tensor<6x5xf32>) -> tensor<2x3x5xf32> {
  %v = tensor.expand_shape %x [[0 : i64, 1 : i64], [2 : i64]] output_shape [2, 3, 5] : tensor<6x5xf32> into tensor<2x3x5xf32>
  %e = tensor.empty() : tensor<2x3x5xf32>
  %y = linalg.exp ins(%v : tensor<2x3x5xf32>) outs(%e : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  func.return %y : tensor<2x3x5xf32>
}

// -----

// CHECK-LABEL: func.func @collapsed_axes_are_written_as_one
// CHECK-NEXT:    gawee.kernel parallel [2, 3, 5] ins(%x : tensor<2x3x5xf32>)
// CHECK-SAME:      (d0, d1, d2) -> (((d0 * 3) + d1), d2)>]
// CHECK:         } : tensor<6x5xf32>
// CHECK-NEXT:    func.return
func.func @collapsed_axes_are_written_as_one(%x: tensor<2x3x5xf32>) -> tensor<6x5xf32> {
  %e = tensor.empty() : tensor<2x3x5xf32>
  %y = linalg.exp ins(%x : tensor<2x3x5xf32>) outs(%e : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %v = tensor.collapse_shape %y [[0 : i64, 1 : i64], [2 : i64]] : tensor<2x3x5xf32> into tensor<6x5xf32>
  func.return %v : tensor<6x5xf32>
}

// -----

// A view costs nothing, a quotient for each element does.
// CHECK-LABEL: func.func @a_reshape_that_takes_quotients_stays
// CHECK-NEXT:    %[[V:.*]] = tensor.collapse_shape %x
// CHECK-NEXT:    gawee.kernel parallel [30] ins(%[[V]] : tensor<30xf32>)
func.func @a_reshape_that_takes_quotients_stays(%x: tensor<6x5xf32>) -> tensor<30xf32> {
  %v = tensor.collapse_shape %x [[0 : i64, 1 : i64]] : tensor<6x5xf32> into tensor<30xf32>
  %e = tensor.empty() : tensor<30xf32>
  %y = linalg.exp ins(%v : tensor<30xf32>) outs(%e : tensor<30xf32>) -> tensor<30xf32>
  func.return %y : tensor<30xf32>
}

// -----

// CHECK-LABEL: func.func @axes_of_one_element_are_read_as_position_0
// CHECK-NEXT:    gawee.kernel parallel [6] ins(%x : tensor<6x1x1xf32>)
// CHECK-SAME:      (d0) -> (d0, 0, 0)>
func.func @axes_of_one_element_are_read_as_position_0(%x: tensor<6x1x1xf32>) -> tensor<6xf32> {
  %v = tensor.collapse_shape %x [[0 : i64, 1 : i64, 2 : i64]] : tensor<6x1x1xf32> into tensor<6xf32>
  %e = tensor.empty() : tensor<6xf32>
  %y = linalg.exp ins(%v : tensor<6xf32>) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  func.return %y : tensor<6xf32>
}

// -----

// CHECK-LABEL: func.func @a_slice_is_read_at_an_offset
// CHECK-NEXT:    gawee.kernel parallel [2, 3] ins(%x : tensor<6x5xf32>)
// CHECK-SAME:      (d0, d1) -> (((d0 * 3) + 1), (d1 + 2))>
func.func @a_slice_is_read_at_an_offset(%x: tensor<6x5xf32>) -> tensor<2x3xf32> {
  %v = tensor.extract_slice %x[1, 2] [2, 3] [3, 1] : tensor<6x5xf32> to tensor<2x3xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %y = linalg.exp ins(%v : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @a_constant_tensor_of_one_number_becomes_the_number
// CHECK-NEXT:    gawee.kernel parallel [3] ins(%x : tensor<3xf32>)
// CHECK:           arith.constant 2.000000e+00 : f32
// CHECK-NEXT:      arith.mulf
func.func @a_constant_tensor_of_one_number_becomes_the_number(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c = arith.constant dense<2.0> : tensor<3xf32>
  %e = tensor.empty() : tensor<3xf32>
  %y = linalg.mul ins(%x, %c : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// -----

// A slice at a place that only the run knows is read as it is.

// CHECK-LABEL: func.func @slice_at_an_unknown_place
// CHECK:         [[SLICE:%.*]] = tensor.extract_slice %x[%i, 0] [3, 7] [1, 1]
// CHECK:         gawee.kernel parallel [3, 7] ins([[SLICE]] : tensor<3x7xf32>)
func.func @slice_at_an_unknown_place(%x: tensor<13x7xf32>, %i: index) -> tensor<3x7xf32> {
  %s = tensor.extract_slice %x[%i, 0] [3, 7] [1, 1] : tensor<13x7xf32> to tensor<3x7xf32>
  %e = tensor.empty() : tensor<3x7xf32>
  %y = linalg.exp ins(%s : tensor<3x7xf32>) outs(%e : tensor<3x7xf32>) -> tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}

// -----

// What is in a loop stays as its author tiled it.

// CHECK-LABEL: func.func @tiles
// CHECK:         scf.for
// CHECK:           linalg.exp
// CHECK-NOT:       gawee.kernel
func.func @tiles(%x: tensor<12x7xf32>) -> tensor<12x7xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c12 = arith.constant 12 : index
  %e = tensor.empty() : tensor<12x7xf32>
  %y = scf.for %i = %c0 to %c12 step %c3 iter_args(%t = %e) -> (tensor<12x7xf32>) {
    %s = tensor.extract_slice %x[%i, 0] [3, 7] [1, 1] : tensor<12x7xf32> to tensor<3x7xf32>
    %d = tensor.extract_slice %t[%i, 0] [3, 7] [1, 1] : tensor<12x7xf32> to tensor<3x7xf32>
    %r = linalg.exp ins(%s : tensor<3x7xf32>) outs(%d : tensor<3x7xf32>) -> tensor<3x7xf32>
    %n = tensor.insert_slice %r into %t[%i, 0] [3, 7] [1, 1] : tensor<3x7xf32> into tensor<12x7xf32>
    scf.yield %n : tensor<12x7xf32>
  }
  return %y : tensor<12x7xf32>
}

// -----

// CHECK-LABEL: func.func @a_scalar_is_at_the_start_of_every_axis
// CHECK-NEXT:    gawee.kernel parallel [] ins(%x : tensor<1x1xf32>) maps [affine_map<() -> (0, 0)>, affine_map<() -> ()>]
func.func @a_scalar_is_at_the_start_of_every_axis(%x: tensor<1x1xf32>) -> tensor<f32> {
  %v = tensor.collapse_shape %x [] : tensor<1x1xf32> into tensor<f32>
  %e = tensor.empty() : tensor<f32>
  %y = linalg.exp ins(%v : tensor<f32>) outs(%e : tensor<f32>) -> tensor<f32>
  func.return %y : tensor<f32>
}
