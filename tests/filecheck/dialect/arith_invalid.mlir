// RUN: gawee-opt %s --verify-diagnostics --split-input-file | filecheck %s

// CHECK: error: 'arith.select' op expected values of as many lanes as the condition 'vector<4xi1>', got 'vector<8xf32>'
func.func @conditions_are_of_as_many_lanes(%mask: vector<4xi1>, %x: vector<8xf32>) {
  %a = arith.select %mask, %x, %x : vector<4xi1>, vector<8xf32>
  return
}

// -----

// CHECK: error: 'arith.sitofp' op expected a cast that keeps the number of lanes, got 'vector<4xi32>' to 'vector<8xf32>'
func.func @casts_keep_the_lanes(%x: vector<4xi32>) {
  %a = arith.sitofp %x : vector<4xi32> to vector<8xf32>
  return
}

// -----

// CHECK: error: 'arith.extui' op expected a wider result of ext, a narrower one of trunc, got 'vector<4xi32>' to 'vector<4xi16>'
func.func @extensions_widen(%x: vector<4xi32>) {
  %a = arith.extui %x : vector<4xi32> to vector<4xi16>
  return
}
