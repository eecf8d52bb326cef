// RUN: gawee-opt --lower-to-linalg --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @functions_of_f16_are_computed_in_f32_and_rounded_once
// CHECK:       linalg.generic
// CHECK:         %[[WIDE:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK:         %[[MINUS:.*]] = arith.negf %[[WIDE]] : f32
// CHECK:         math.exp %[[MINUS]] : f32
// CHECK:         %[[QUOTIENT:.*]] = arith.divf {{.*}} : f32
// CHECK:         %[[ROUNDED:.*]] = arith.truncf %[[QUOTIENT]] : f32 to f16
// CHECK:         linalg.yield %[[ROUNDED]] : f16
func.func @functions_of_f16_are_computed_in_f32_and_rounded_once(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %y = gawee.sigmoid %x : (tensor<2x3xf16>) -> tensor<2x3xf16>
  return %y : tensor<2x3xf16>
}

// -----

// The arith dialect has no unsigned integers.
// CHECK-LABEL: func.func @unsigned_bytes_are_computed_in_i32
// CHECK:       linalg.generic
// CHECK:         %[[BITS:.*]] = builtin.unrealized_conversion_cast %{{.*}} : ui8 to i8
// CHECK:         %[[WIDE:.*]] = arith.extui %[[BITS]] : i8 to i32
// CHECK:         %[[MOST:.*]] = arith.maxsi %[[WIDE]], %{{.*}} : i32
// CHECK:         %[[LOW:.*]] = arith.trunci %[[MOST]] : i32 to i8
// CHECK:         builtin.unrealized_conversion_cast %[[LOW]] : i8 to ui8
func.func @unsigned_bytes_are_computed_in_i32(%x: tensor<2xui8>, %y: tensor<2xui8>) -> tensor<2xui8> {
  %z = gawee.maximum %x, %y : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xui8>
  return %z : tensor<2xui8>
}

// -----

// CHECK-LABEL: func.func @truth_values_are_compared_as_0_and_1
// CHECK:         arith.extui %{{.*}} : i1 to i32
// CHECK:         arith.extui %{{.*}} : i1 to i32
// CHECK:         arith.cmpi slt, %{{.*}}, %{{.*}} : i32
func.func @truth_values_are_compared_as_0_and_1(%x: tensor<2xi1>, %y: tensor<2xi1>) -> tensor<2xi1> {
  %z = gawee.compare %x, %y predicate "lt" : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return %z : tensor<2xi1>
}

// -----

// A NaN is unequal to everything, and a cast to i1 is true of it.
// CHECK-LABEL: func.func @casts_choose_their_conversion_by_both_types
// CHECK:         arith.cmpf une
// CHECK:         arith.fptosi %{{.*}} : f32 to i64
// CHECK:         %[[WORD:.*]] = arith.fptosi %{{.*}} : f32 to i32
// CHECK:         arith.trunci %[[WORD]] : i32 to i8
// CHECK:         arith.uitofp %{{.*}} : i1 to f32
func.func @casts_choose_their_conversion_by_both_types(%x: tensor<2xf32>) -> (tensor<2xi64>, tensor<2xi8>, tensor<2xf32>) {
  %p = gawee.cast %x : (tensor<2xf32>) -> tensor<2xi1>
  %a = gawee.cast %x : (tensor<2xf32>) -> tensor<2xi64>
  %b = gawee.cast %x : (tensor<2xf32>) -> tensor<2xi8>
  %c = gawee.cast %p : (tensor<2xi1>) -> tensor<2xf32>
  return %a, %b, %c : tensor<2xi64>, tensor<2xi8>, tensor<2xf32>
}

// -----

// Division by 0 and of the lowest integer by -1 trap: the divisor is 1 there.
// CHECK-LABEL: func.func @integers_are_divided_by_what_never_traps
// CHECK:         %[[SPECIAL:.*]] = arith.ori
// CHECK:         %[[SAFE:.*]] = arith.select %[[SPECIAL]], %{{.*}}, %{{.*}} : i32
// CHECK:         arith.divsi %{{.*}}, %[[SAFE]] : i32
// CHECK:         arith.remsi %{{.*}}, %[[SAFE]] : i32
func.func @integers_are_divided_by_what_never_traps(%x: tensor<2xi32>, %y: tensor<2xi32>) -> tensor<2xi32> {
  %z = gawee.floor_div %x, %y : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return %z : tensor<2xi32>
}

// -----

// CHECK-LABEL: func.func @where_broadcasts_all_three_operands
// CHECK:       linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>]
// CHECK:         arith.select %{{.*}}, %{{.*}}, %{{.*}} : ui8
func.func @where_broadcasts_all_three_operands(%c: tensor<2x1xi1>, %x: tensor<3xui8>, %y: tensor<ui8>) -> tensor<2x3xui8> {
  %z = gawee.where %c, %x, %y : (tensor<2x1xi1>, tensor<3xui8>, tensor<ui8>) -> tensor<2x3xui8>
  return %z : tensor<2x3xui8>
}

// -----

// CHECK-LABEL: func.func @remainders_of_floats_are_exact
// CHECK:         arith.remf %{{.*}}, %{{.*}} : f32
func.func @remainders_of_floats_are_exact(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %z = gawee.remainder %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
