// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// SortOp C1: booleans have no order.
// CHECK: error: 'gawee.sort' op unsupported element type 'i1' of input; supported: f16, f32, f64, signless integers of more than one bit
func.func @sort_c1_booleans_have_no_order(%x: tensor<5xi1>) {
  %v, %i = gawee.sort %x axis 0 descending false : (tensor<5xi1>) -> (tensor<5xi1>, tensor<5xi64>)
  func.return
}

// -----

// SortOp C2: there is no such axis.
// CHECK: error: 'gawee.sort' op expected axis from -1 to 0, got 1
func.func @sort_c2_axis_is_none(%x: tensor<5xf32>) {
  %v, %i = gawee.sort %x axis 1 descending false : (tensor<5xf32>) -> (tensor<5xf32>, tensor<5xi64>)
  func.return
}

// -----

// The type of every result is checked.
// CHECK: error: 'gawee.sort' op expected result type 'tensor<5xi64>', got 'tensor<5xi32>'
func.func @sort_indices_have_another_type(%x: tensor<5xf32>) {
  %v, %i = gawee.sort %x axis 0 descending false : (tensor<5xf32>) -> (tensor<5xf32>, tensor<5xi32>)
  func.return
}

// -----

// TopKOp C1: unsigned integers have no order.
// CHECK: error: 'gawee.top_k' op unsupported element type 'ui8' of input; supported: f16, f32, f64, signless integers of more than one bit
func.func @top_k_c1_unsigned_integers_have_no_order(%x: tensor<5xui8>) {
  %v, %i = gawee.top_k %x k 2 axis 0 largest true : (tensor<5xui8>) -> (tensor<2xui8>, tensor<2xi64>)
  func.return
}

// -----

// TopKOp C2: there is no such axis.
// CHECK: error: 'gawee.top_k' op expected axis from -1 to 0, got -2
func.func @top_k_c2_axis_is_none(%x: tensor<5xf32>) {
  %v, %i = gawee.top_k %x k 2 axis -2 largest true : (tensor<5xf32>) -> (tensor<2xf32>, tensor<2xi64>)
  func.return
}

// -----

// TopKOp C3: k is larger than the axis.
// CHECK: error: 'gawee.top_k' op expected k from 0 to the axis's size 5, got 6
func.func @top_k_c3_k_is_larger_than_the_axis(%x: tensor<5xf32>) {
  %v, %i = gawee.top_k %x k 6 axis 0 largest true : (tensor<5xf32>) -> (tensor<6xf32>, tensor<6xi64>)
  func.return
}
