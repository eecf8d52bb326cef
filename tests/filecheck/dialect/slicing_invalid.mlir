// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// SliceOp C1: an offset is missing.
// CHECK: error: 'gawee.slice' op expected offsets of 2 entries, got 1 ([0])
func.func @slice_c1_offset_is_missing(%x: tensor<3x5xf32>) {
  %y = gawee.slice %x offsets [0] sizes [1, 1] strides [1, 1] : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// SliceOp C1: a stride is too many.
// CHECK: error: 'gawee.slice' op expected strides of 2 entries, got 3 ([1, 1, 1])
func.func @slice_c1_stride_is_too_many(%x: tensor<3x5xf32>) {
  %y = gawee.slice %x offsets [0, 0] sizes [1, 1] strides [1, 1, 1] : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// SliceOp C2: a size is negative.
// CHECK: error: 'gawee.slice' op expected sizes of at least 0, got [1, -1]
func.func @slice_c2_size_is_negative(%x: tensor<3x5xf32>) {
  %y = gawee.slice %x offsets [0, 0] sizes [1, -1] strides [1, 1] : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// SliceOp C2: a stride is zero.
// CHECK: error: 'gawee.slice' op expected strides other than 0, got [1, 0]
func.func @slice_c2_stride_is_zero(%x: tensor<3x5xf32>) {
  %y = gawee.slice %x offsets [0, 0] sizes [1, 1] strides [1, 0] : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// SliceOp C3: the end is outside.
// CHECK: error: 'gawee.slice' op expected offset 1, size 3 and stride 2 to stay in axis 1 of size 5
func.func @slice_c3_end_is_outside(%x: tensor<3x5xf32>) {
  %y = gawee.slice %x offsets [0, 1] sizes [3, 3] strides [1, 2] : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// SliceOp C3: a negative stride walks out of the front.
// CHECK: error: 'gawee.slice' op expected offset 1, size 3 and stride -1 to stay in axis 1 of size 5
func.func @slice_c3_walks_out_of_the_front(%x: tensor<3x5xf32>) {
  %y = gawee.slice %x offsets [0, 1] sizes [3, 3] strides [1, -1] : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// InsertSliceOp C1: element types differ.
// CHECK: error: 'gawee.insert_slice' op expected update element type 'f16' to match input element type 'f32'
func.func @insert_slice_c1_element_types_differ(%x: tensor<3x5xf32>, %u: tensor<1x1xf16>) {
  %y = gawee.insert_slice %x, %u offsets [0, 0] strides [1, 1] : (tensor<3x5xf32>, tensor<1x1xf16>) -> tensor<3x5xf32>
  func.return
}

// -----

// InsertSliceOp C1: ranks differ.
// CHECK: error: 'gawee.insert_slice' op expected update of the input's rank (2), got rank 1
func.func @insert_slice_c1_ranks_differ(%x: tensor<3x5xf32>, %u: tensor<5xf32>) {
  %y = gawee.insert_slice %x, %u offsets [0, 0] strides [1, 1] : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// InsertSliceOp C2: an offset is missing.
// CHECK: error: 'gawee.insert_slice' op expected offsets of 2 entries, got 1 ([0])
func.func @insert_slice_c2_offset_is_missing(%x: tensor<3x5xf32>, %u: tensor<1x1xf32>) {
  %y = gawee.insert_slice %x, %u offsets [0] strides [1, 1] : (tensor<3x5xf32>, tensor<1x1xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// InsertSliceOp C2: a stride is negative.
// CHECK: error: 'gawee.insert_slice' op expected strides of at least 1, got [1, -1]
func.func @insert_slice_c2_stride_is_negative(%x: tensor<3x5xf32>, %u: tensor<1x2xf32>) {
  %y = gawee.insert_slice %x, %u offsets [0, 1] strides [1, -1] : (tensor<3x5xf32>, tensor<1x2xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// InsertSliceOp C3: the box is outside.
// CHECK: error: 'gawee.insert_slice' op expected offset 1, size 5 and stride 1 to stay in axis 1 of size 5
func.func @insert_slice_c3_box_is_outside(%x: tensor<3x5xf32>, %u: tensor<1x5xf32>) {
  %y = gawee.insert_slice %x, %u offsets [0, 1] strides [1, 1] : (tensor<3x5xf32>, tensor<1x5xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// PadOp C1: a number is missing.
// CHECK: error: 'gawee.pad' op expected low of 2 entries, got 1 ([0])
func.func @pad_c1_number_is_missing(%x: tensor<3x5xf32>) {
  %y = gawee.pad %x low [0] high [0, 0] mode "constant" value 0.0 : f64 : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// PadOp C2: the mode is unknown.
// CHECK: error: 'gawee.pad' op unsupported mode 'edge'; supported: constant, reflect, replicate, circular
func.func @pad_c2_mode_is_unknown(%x: tensor<3x5xf32>) {
  %y = gawee.pad %x low [0, 0] high [0, 0] mode "edge" value 0.0 : f64 : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// PadOp C3: the value is missing.
// CHECK: error: 'gawee.pad' op expected value of type f64 for elements of 'f32', got None
func.func @pad_c3_value_is_missing(%x: tensor<3x5xf32>) {
  %y = gawee.pad %x low [0, 0] high [0, 0] mode "constant" : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// PadOp C3: there is a value that nothing reads.
// CHECK: error: 'gawee.pad' op expected no value in mode 'reflect', got 0.000000e+00 : f64
func.func @pad_c3_value_is_not_read(%x: tensor<3x5xf32>) {
  %y = gawee.pad %x low [0, 0] high [0, 0] mode "reflect" value 0.0 : f64 : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// PadOp C4: floats take no integer.
// CHECK: error: 'gawee.pad' op expected value of type f64 for elements of 'f32', got 0 : i64
func.func @pad_c4_floats_take_no_integer(%x: tensor<3x5xf32>) {
  %y = gawee.pad %x low [0, 0] high [0, 0] mode "constant" value 0 : i64 : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// PadOp C4: the element type does not hold the value.
// CHECK: error: 'gawee.pad' op expected value that 'ui8' holds, got 256
func.func @pad_c4_value_is_too_large(%x: tensor<3x5xui8>) {
  %y = gawee.pad %x low [0, 0] high [0, 0] mode "constant" value 256 : i64 : (tensor<3x5xui8>) -> tensor<3x5xui8>
  func.return
}

// -----

// PadOp C4: the element type rounds the value to infinity.
// CHECK: error: 'gawee.pad' op expected value that 'f32' holds, got 1e+39
func.func @pad_c4_value_overflows(%x: tensor<3x5xf32>) {
  %y = gawee.pad %x low [0, 0] high [0, 0] mode "constant" value 1.0e+39 : f64 : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// PadOp C5: only constant padding takes elements away.
// CHECK: error: 'gawee.pad' op expected high of at least 0, got [0, -1]
func.func @pad_c5_reflect_takes_away(%x: tensor<3x5xf32>) {
  %y = gawee.pad %x low [0, 0] high [0, -1] mode "reflect" : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// PadOp C5: more is taken away than there is.
// CHECK: error: 'gawee.pad' op expected padded sizes of at least 0, got [3, -1]
func.func @pad_c5_more_than_there_is(%x: tensor<3x5xf32>) {
  %y = gawee.pad %x low [0, -3] high [0, -3] mode "constant" value 0.0 : f64 : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// PadOp C5: more is taken away at one end than there is.
// CHECK: error: 'gawee.pad' op expected at most the 5 elements of axis 1 to be taken away at an end, got low -6 and high 6
func.func @pad_c5_more_at_one_end_than_there_is(%x: tensor<3x5xf32>) {
  %y = gawee.pad %x low [0, -6] high [0, 6] mode "constant" value 0.0 : f64 : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// PadOp C6: the mirror reaches beyond the other end.
// CHECK: error: 'gawee.pad' op expected mode 'reflect' to add at most 4 elements to an end of axis 1 of size 5, got 5
func.func @pad_c6_reflect_reaches_too_far(%x: tensor<3x5xf32>) {
  %y = gawee.pad %x low [0, 5] high [0, 0] mode "reflect" : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// PadOp C6: going around once is the most.
// CHECK: error: 'gawee.pad' op expected mode 'circular' to add at most 3 elements to an end of axis 0 of size 3, got 4
func.func @pad_c6_circular_reaches_too_far(%x: tensor<3x5xf32>) {
  %y = gawee.pad %x low [0, 0] high [4, 0] mode "circular" : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// PadOp C6: there is no element to repeat.
// CHECK: error: 'gawee.pad' op expected mode 'replicate' to add at most 0 elements to an end of axis 0 of size 0, got 1
func.func @pad_c6_nothing_to_replicate(%x: tensor<0x5xf32>) {
  %y = gawee.pad %x low [1, 0] high [0, 0] mode "replicate" : (tensor<0x5xf32>) -> tensor<3x5xf32>
  func.return
}
