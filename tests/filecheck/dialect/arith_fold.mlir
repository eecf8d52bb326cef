// RUN: gawee-opt %s --canonicalize --split-input-file | filecheck %s

// CHECK-LABEL: func.func @a_constant_condition_chooses
// CHECK-NEXT:    return %y
func.func @a_constant_condition_chooses(%x: f32, %y: f32) -> f32 {
  %false = arith.constant false
  %a = arith.select %false, %x, %y : f32
  return %a : f32
}

// -----

// CHECK-LABEL: func.func @equal_values_need_no_condition
// CHECK-NEXT:    return %x
func.func @equal_values_need_no_condition(%mask: vector<4xi1>, %x: vector<4xf32>) -> vector<4xf32> {
  %a = arith.select %mask, %x, %x : vector<4xi1>, vector<4xf32>
  return %a : vector<4xf32>
}
