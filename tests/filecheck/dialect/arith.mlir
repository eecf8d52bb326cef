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

// CHECK-LABEL: func.func @casts_take_vectors
// CHECK:         %a = arith.extsi %n : vector<8xi32> to vector<8xi64>
// CHECK-NEXT:    %b = arith.index_cast %a : vector<8xi64> to vector<8xindex>
// CHECK-NEXT:    %c = arith.sitofp %n : vector<8xi32> to vector<8xf32>
// CHECK-NEXT:    %d = arith.fptoui %x : f32 to i8
func.func @casts_take_vectors(%n: vector<8xi32>, %x: f32) {
  %a = arith.extsi %n : vector<8xi32> to vector<8xi64>
  %b = arith.index_cast %a : vector<8xi64> to vector<8xindex>
  %c = arith.sitofp %n : vector<8xi32> to vector<8xf32>
  %d = arith.fptoui %x : f32 to i8
  return
}
