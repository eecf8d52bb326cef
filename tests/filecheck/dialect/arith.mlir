// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @a_select_chooses_lane_by_lane
// CHECK:         %a = arith.select %mask, %x, %y : vector<8xi1>, vector<8xf32>
// CHECK-NEXT:    %b = arith.select %one, %x, %y : vector<8xf32>
// CHECK-NEXT:    %c = arith.select %one, %s, %t : f32
func.func @a_select_chooses_lane_by_lane(%mask: vector<8xi1>, %one: i1, %x: vector<8xf32>,
                                         %y: vector<8xf32>, %s: f32, %t: f32) {
  %a = arith.select %mask, %x, %y : vector<8xi1>, vector<8xf32>
  %b = arith.select %one, %x, %y : vector<8xf32>
  %c = arith.select %one, %s, %t : f32
  return
}
