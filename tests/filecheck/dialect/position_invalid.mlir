// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// IotaOp C1: booleans do not count.
// CHECK: error: 'gawee.iota' op unsupported element type 'i1' of result; supported: f16, f32, f64, signless integers of more than one bit
func.func @iota_c1_booleans_do_not_count() {
  %y = gawee.iota axis 0 : tensor<5xi1>
  func.return
}

// -----

// IotaOp C2: there is no such axis.
// CHECK: error: 'gawee.iota' op expected axis from -1 to 0, got 1
func.func @iota_c2_axis_is_none() {
  %y = gawee.iota axis 1 : tensor<5xi64>
  func.return
}

// -----

// IotaOp C3: the shape is another one than the result's.
// CHECK: error: 'gawee.iota' op expected result type 'tensor<3xi64>', got 'tensor<2xi64>'
func.func @iota_c3_shape_is_another_one() {
  %y = gawee.iota axis 0 {shape = array<i64: 3>} : tensor<2xi64>
  func.return
}

// -----

// TriOp C1: there is no matrix.
// CHECK: error: 'gawee.tri' op expected input of rank 2 or more, got rank 1
func.func @tri_c1_there_is_no_matrix(%x: tensor<5xf32>) {
  %y = gawee.tri %x upper false diagonal 0 : (tensor<5xf32>) -> tensor<5xf32>
  func.return
}
