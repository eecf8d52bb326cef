// RUN: gawee-opt --verify-diagnostics --split-input-file %s | filecheck %s

// MaskOp C1: one op, whose results are yielded
// CHECK: error: 'vector.mask' op expected one op that is masked
func.func @two_ops_are_masked(%m: vector<8xi1>, %v: vector<8xf32>) -> vector<8xf32> {
  %0 = vector.mask %m {
    %1 = arith.addf %v, %v : vector<8xf32>
    %2 = arith.addf %1, %v : vector<8xf32>
    vector.yield %2 : vector<8xf32>
  } : vector<8xi1> -> vector<8xf32>
  return %0 : vector<8xf32>
}

// -----

// MultiReductionOp C1: the axes that are not reduced
// CHECK: error: 'vector.multi_reduction' op expected a result of [2, 8], got [2, 4]
func.func @another_axis_is_left(%v: vector<2x4x8xf32>, %s: vector<2x4xf32>) -> vector<2x4xf32> {
  %0 = vector.multi_reduction <add>, %v, %s [1] : vector<2x4x8xf32> to vector<2x4xf32>
  return %0 : vector<2x4xf32>
}
