// RUN: gawee-opt %s --split-input-file --canonicalize | filecheck %s

// CHECK-LABEL: func.func @identities_vanish
// CHECK-NEXT:  gawee.relu %x
// CHECK-NEXT:  func.return
func.func @identities_vanish(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = gawee.identity %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = gawee.identity %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = gawee.relu %b : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %d = gawee.identity %c : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %d : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @unread_nodes_vanish
// CHECK-NEXT:  func.return %x
func.func @unread_nodes_vanish(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = gawee.sqrt %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %s = gawee.getattr %b "shape" : tensor<2x3xf32>
  %i = gawee.getitem %s "0"
  func.return %x : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @items_of_a_shape_become_constants
// CHECK-NEXT:  %[[H:.*]] = gawee.constant dense<6> : tensor<i64>
// CHECK-NEXT:  %[[W:.*]] = gawee.constant dense<10> : tensor<i64>
// CHECK-NEXT:  gawee.interpolate %x size_from %[[H]], %[[W]] size [6, 10]
// CHECK-NOT:   gawee.get
func.func @items_of_a_shape_become_constants(%x: tensor<2x4x3x5xf32>, %y: tensor<2x7x6x10xf32>) -> tensor<2x4x6x10xf32> {
  %s = gawee.getattr %y "shape" : tensor<2x7x6x10xf32>
  %h = gawee.getitem %s "2"
  %w = gawee.getitem %s "-1"
  %z = gawee.interpolate %x size_from %h, %w size [6, 10] mode "nearest" : (tensor<2x4x3x5xf32>, !gawee.python_value, !gawee.python_value) -> tensor<2x4x6x10xf32>
  func.return %z : tensor<2x4x6x10xf32>
}

// -----

// CHECK-LABEL: func.func @slice_of_a_shape_becomes_two_constants
// CHECK-NEXT:  %[[H:.*]] = gawee.constant dense<6> : tensor<i64>
// CHECK-NEXT:  %[[W:.*]] = gawee.constant dense<10> : tensor<i64>
// CHECK-NEXT:  gawee.interpolate %x size_from %[[H]], %[[W]] size [6, 10] mode "bilinear" scales [2.000000e+00, 2.000000e+00] align_corners
func.func @slice_of_a_shape_becomes_two_constants(%x: tensor<2x4x3x5xf32>, %y: tensor<2x7x6x10xf32>) -> tensor<2x4x6x10xf32> {
  %s = gawee.getattr %y "shape" : tensor<2x7x6x10xf32>
  %hw = gawee.getitem %s "slice(-2, None, None)"
  %z = gawee.interpolate %x size_from %hw size [6, 10] mode "bilinear" scales [2.0, 2.0] align_corners : (tensor<2x4x3x5xf32>, !gawee.python_value) -> tensor<2x4x6x10xf32>
  func.return %z : tensor<2x4x6x10xf32>
}

// -----

// CHECK-LABEL: func.func @item_of_a_slice_becomes_a_constant
// CHECK:       gawee.interpolate %x size_from %{{.*}}, %{{.*}} size [6, 10]
// CHECK-NOT:   gawee.get
func.func @item_of_a_slice_becomes_a_constant(%x: tensor<2x4x3x5xf32>, %y: tensor<2x7x6x10xf32>) -> tensor<2x4x6x10xf32> {
  %s = gawee.getattr %y "shape" : tensor<2x7x6x10xf32>
  %hw = gawee.getitem %s "slice(2, None, None)"
  %h = gawee.getitem %hw "0"
  %w = gawee.getitem %hw "1"
  %z = gawee.interpolate %x size_from %h, %w size [6, 10] mode "nearest" : (tensor<2x4x3x5xf32>, !gawee.python_value, !gawee.python_value) -> tensor<2x4x6x10xf32>
  func.return %z : tensor<2x4x6x10xf32>
}

// -----

// The size is static, so what the index was does not matter.
// CHECK-LABEL: func.func @unknown_index_becomes_the_static_size
// CHECK-NEXT:  gawee.constant dense<6> : tensor<i64>
// CHECK-NEXT:  gawee.constant dense<10> : tensor<i64>
// CHECK-NEXT:  gawee.interpolate
func.func @unknown_index_becomes_the_static_size(%x: tensor<2x4x3x5xf32>, %y: tensor<2x7x6x10xf32>) -> tensor<2x4x6x10xf32> {
  %s = gawee.getattr %y "shape" : tensor<2x7x6x10xf32>
  %h = gawee.getitem %s "?"
  %w = gawee.getitem %s "?"
  %z = gawee.interpolate %x size_from %h, %w size [6, 10] mode "nearest" : (tensor<2x4x3x5xf32>, !gawee.python_value, !gawee.python_value) -> tensor<2x4x6x10xf32>
  func.return %z : tensor<2x4x6x10xf32>
}

// -----

// CHECK-LABEL: func.func @size_that_contradicts_its_source_is_left
// CHECK:       gawee.getitem
// CHECK:       gawee.interpolate %x size_from %h, %w
func.func @size_that_contradicts_its_source_is_left(%x: tensor<2x4x3x5xf32>, %y: tensor<2x7x6x10xf32>) -> tensor<2x4x8x10xf32> {
  %s = gawee.getattr %y "shape" : tensor<2x7x6x10xf32>
  %h = gawee.getitem %s "2"
  %w = gawee.getitem %s "3"
  %z = gawee.interpolate %x size_from %h, %w size [8, 10] mode "nearest" : (tensor<2x4x3x5xf32>, !gawee.python_value, !gawee.python_value) -> tensor<2x4x8x10xf32>
  func.return %z : tensor<2x4x8x10xf32>
}

// -----

// CHECK-LABEL: func.func @flattens_that_share_an_axis_merge
// CHECK-NEXT:  gawee.flatten %x start_dim 0 end_dim 3 : (tensor<2x3x5x7xf32>) -> tensor<210xf32>
// CHECK-NEXT:  func.return
func.func @flattens_that_share_an_axis_merge(%x: tensor<2x3x5x7xf32>) -> tensor<210xf32> {
  %a = gawee.flatten %x start_dim 1 end_dim 2 : (tensor<2x3x5x7xf32>) -> tensor<2x15x7xf32>
  %b = gawee.flatten %a start_dim 0 end_dim -1 : (tensor<2x15x7xf32>) -> tensor<210xf32>
  func.return %b : tensor<210xf32>
}

// -----

// CHECK-LABEL: func.func @flattens_of_different_axes_stay
// CHECK-COUNT-2: gawee.flatten
func.func @flattens_of_different_axes_stay(%x: tensor<2x3x5x7xf32>) -> tensor<6x35xf32> {
  %a = gawee.flatten %x start_dim 0 end_dim 1 : (tensor<2x3x5x7xf32>) -> tensor<6x5x7xf32>
  %b = gawee.flatten %a start_dim 1 end_dim 2 : (tensor<6x5x7xf32>) -> tensor<6x35xf32>
  func.return %b : tensor<6x35xf32>
}

// -----

// CHECK-LABEL: func.func @views_of_views_become_one_reshape
// CHECK-NEXT:  gawee.reshape %x shape [7, 30]
// CHECK-NEXT:  gawee.reshape %x shape [210]
// CHECK-NEXT:  func.return
func.func @views_of_views_become_one_reshape(%x: tensor<2x3x5x7xf32>) -> (tensor<7x30xf32>, tensor<210xf32>) {
  %a = gawee.flatten %x start_dim 1 end_dim 3 : (tensor<2x3x5x7xf32>) -> tensor<2x105xf32>
  %b = gawee.reshape %a shape [14, 15] : (tensor<2x105xf32>) -> tensor<14x15xf32>
  %c = gawee.reshape %b shape [7, 30] : (tensor<14x15xf32>) -> tensor<7x30xf32>
  %d = gawee.flatten %b start_dim 0 end_dim 1 : (tensor<14x15xf32>) -> tensor<210xf32>
  func.return %c, %d : tensor<7x30xf32>, tensor<210xf32>
}

// -----

// CHECK-LABEL: func.func @known_positions_in_a_row_are_a_slice
// CHECK-NEXT:  %[[S:.*]] = gawee.slice %x offsets [0, 1] sizes [3, 2] strides [1, 1]
// CHECK-NEXT:  func.return %[[S]]
func.func @known_positions_in_a_row_are_a_slice(%x: tensor<3x4xf32>) -> tensor<3x2xf32> {
  %i = gawee.constant dense<[-3, 2]> : tensor<2xi64>
  %y = gawee.gather %x, %i axis 1 : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// -----

// CHECK-LABEL: func.func @one_known_position_is_a_slice_without_its_axis
// CHECK-NEXT:  %[[S:.*]] = gawee.slice %x offsets [0, 3] sizes [3, 1] strides [1, 1]
// CHECK-NEXT:  %[[R:.*]] = gawee.reshape %[[S]] shape [3]
// CHECK-NEXT:  func.return %[[R]]
func.func @one_known_position_is_a_slice_without_its_axis(%x: tensor<3x4xf32>) -> tensor<3xf32> {
  %i = gawee.constant dense<-1> : tensor<i64>
  %y = gawee.gather %x, %i axis 1 : (tensor<3x4xf32>, tensor<i64>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// -----

// Core ATen says a roll by positions: (i + 3) % 5.
// CHECK-LABEL: func.func @positions_that_go_around_are_two_slices
// CHECK-NEXT:  %[[A:.*]] = gawee.slice %x offsets [0, 3, 0] sizes [3, 2, 2] strides [1, 1, 1]
// CHECK-NEXT:  %[[B:.*]] = gawee.slice %x offsets [0, 0, 0] sizes [3, 3, 2] strides [1, 1, 1]
// CHECK-NEXT:  %[[Y:.*]] = gawee.cat %[[A]], %[[B]] dim 1
// CHECK-NEXT:  func.return %[[Y]]
func.func @positions_that_go_around_are_two_slices(%x: tensor<3x5x2xf32>) -> tensor<3x5x2xf32> {
  %i = gawee.iota axis 0 : tensor<5xi64>
  %three = gawee.constant dense<3> : tensor<i64>
  %five = gawee.constant dense<5> : tensor<i64>
  %j = gawee.add %i, %three : (tensor<5xi64>, tensor<i64>) -> tensor<5xi64>
  %k = gawee.fmod %j, %five : (tensor<5xi64>, tensor<i64>) -> tensor<5xi64>
  %y = gawee.gather %x, %k axis 1 : (tensor<3x5x2xf32>, tensor<5xi64>) -> tensor<3x5x2xf32>
  func.return %y : tensor<3x5x2xf32>
}

// -----

// CHECK-LABEL: func.func @scattered_positions_stay
// CHECK:       gawee.gather
// CHECK:       gawee.gather
// CHECK:       gawee.gather
func.func @scattered_positions_stay(%x: tensor<5x2xf32>, %run: tensor<2xi64>) -> (tensor<3x2xf32>, tensor<1x3x2xf32>, tensor<2x2xf32>) {
  %i = gawee.constant dense<[4, 2, 0]> : tensor<3xi64>
  %y = gawee.gather %x, %i axis 0 : (tensor<5x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  %j = gawee.constant dense<[[3, 1, 4]]> : tensor<1x3xi64>
  %z = gawee.gather %x, %j axis 0 : (tensor<5x2xf32>, tensor<1x3xi64>) -> tensor<1x3x2xf32>
  %r = gawee.gather %x, %run axis 0 : (tensor<5x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  func.return %y, %z, %r : tensor<3x2xf32>, tensor<1x3x2xf32>, tensor<2x2xf32>
}

// -----

// CHECK-LABEL: func.func @matrices_of_a_batch_of_one_are_one_matrix
// CHECK-NEXT:  %[[B:.*]] = gawee.reshape %b shape [4, 5]
// CHECK-NEXT:  %[[Y:.*]] = gawee.batch_matmul %a, %[[B]] transpose_a
// CHECK-NEXT:  func.return %[[Y]]
func.func @matrices_of_a_batch_of_one_are_one_matrix(%a: tensor<2x7x4x3xf32>, %b: tensor<1x1x4x5xf32>) -> tensor<2x7x3x5xf32> {
  %y = gawee.batch_matmul %a, %b transpose_a : (tensor<2x7x4x3xf32>, tensor<1x1x4x5xf32>) -> tensor<2x7x3x5xf32>
  func.return %y : tensor<2x7x3x5xf32>
}

// -----

// CHECK-LABEL: func.func @batches_of_one_that_make_the_result_stay
// CHECK-NEXT:  gawee.batch_matmul %a, %b
// CHECK-NEXT:  gawee.batch_matmul %{{.*}}, %c
func.func @batches_of_one_that_make_the_result_stay(%a: tensor<3x4xf32>, %b: tensor<1x4x5xf32>, %c: tensor<2x5x6xf32>) -> tensor<2x3x6xf32> {
  %y = gawee.batch_matmul %a, %b : (tensor<3x4xf32>, tensor<1x4x5xf32>) -> tensor<1x3x5xf32>
  %z = gawee.batch_matmul %y, %c : (tensor<1x3x5xf32>, tensor<2x5x6xf32>) -> tensor<2x3x6xf32>
  func.return %z : tensor<2x3x6xf32>
}

// -----

// CHECK-LABEL: func.func @positions_of_several_axes_in_a_row_are_a_slice
// CHECK-NEXT:  %[[S:.*]] = gawee.slice %x offsets [0, 1] sizes [3, 4] strides [1, 1]
// CHECK-NEXT:  %[[R:.*]] = gawee.reshape %[[S]] shape [3, 2, 2]
// CHECK-NEXT:  func.return %[[R]]
func.func @positions_of_several_axes_in_a_row_are_a_slice(%x: tensor<3x6xf32>) -> tensor<3x2x2xf32> {
  %i = gawee.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  %y = gawee.gather %x, %i axis 1 : (tensor<3x6xf32>, tensor<2x2xi64>) -> tensor<3x2x2xf32>
  func.return %y : tensor<3x2x2xf32>
}

// -----

// CHECK-LABEL: func.func @a_constant_of_no_elements_is_cast
// CHECK-NEXT:  gawee.constant dense<> : tensor<4x0xbf16>
// CHECK-NEXT:  func.return
func.func @a_constant_of_no_elements_is_cast() -> tensor<4x0xbf16> {
  %c = gawee.constant dense<> : tensor<4x0xf32>
  %y = gawee.cast %c : (tensor<4x0xf32>) -> tensor<4x0xbf16>
  func.return %y : tensor<4x0xbf16>
}
