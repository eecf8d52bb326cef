// RUN: gawee-opt --lower-to-linalg --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @iota_converts_the_position
// CHECK:       %[[P:.*]] = linalg.index 1 : index
// CHECK:       arith.index_cast %[[P]] : index to i32
func.func @iota_converts_the_position() -> tensor<2x5xi32> {
  %y = gawee.iota axis -1 : tensor<2x5xi32>
  return %y : tensor<2x5xi32>
}

// -----

// CHECK-LABEL: func.func @iota_of_floats_goes_through_an_integer
// CHECK:       %[[I:.*]] = arith.index_cast %{{.*}} : index to i64
// CHECK:       arith.sitofp %[[I]] : i64 to f16
func.func @iota_of_floats_goes_through_an_integer() -> tensor<5xf16> {
  %y = gawee.iota axis 0 : tensor<5xf16>
  return %y : tensor<5xf16>
}

// -----

// CHECK-LABEL: func.func @tri_selects_by_row_and_column
// CHECK-DAG:   %[[ROW:.*]] = linalg.index 1 : index
// CHECK-DAG:   %[[COLUMN:.*]] = linalg.index 2 : index
// CHECK:       %[[LIMIT:.*]] = arith.addi %[[ROW]]
// CHECK:       %[[KEEP:.*]] = arith.cmpi sle, %[[COLUMN]], %[[LIMIT]] : index
// CHECK:       arith.select %[[KEEP]]
func.func @tri_selects_by_row_and_column(%x: tensor<2x5x7xf32>) -> tensor<2x5x7xf32> {
  %y = gawee.tri %x upper false diagonal -1 : (tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  return %y : tensor<2x5x7xf32>
}

// -----

// CHECK-LABEL: func.func @zero_of_an_unsigned_type_is_made_of_a_signless_one
// CHECK:       %[[ZERO:.*]] = arith.constant 0 : i8
// CHECK:       builtin.unrealized_conversion_cast %[[ZERO]] : i8 to ui8
// CHECK:       arith.cmpi sge
func.func @zero_of_an_unsigned_type_is_made_of_a_signless_one(%x: tensor<5x7xui8>) -> tensor<5x7xui8> {
  %y = gawee.tri %x upper true diagonal 0 : (tensor<5x7xui8>) -> tensor<5x7xui8>
  return %y : tensor<5x7xui8>
}
