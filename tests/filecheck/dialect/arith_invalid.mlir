// RUN: gawee-opt %s --verify-diagnostics --split-input-file | filecheck %s

// CHECK: error: 'arith.select' op expected values of as many lanes as the condition 'vector<4xi1>', got 'vector<8xf32>'
func.func @conditions_are_of_as_many_lanes(%mask: vector<4xi1>, %x: vector<8xf32>) {
  %a = arith.select %mask, %x, %x : vector<4xi1>, vector<8xf32>
  return
}
