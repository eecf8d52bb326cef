// RUN: gawee-opt --split-input-file --verify-diagnostics %s | filecheck %s

// MaxOp C1: as many operands as the map takes
// CHECK: error: 'affine.max' op expected 2 operands, got 1
func.func @too_few_operands(%i: index) -> index {
  %0 = affine.max affine_map<(d0, d1) -> (d0, d1)>(%i)
  return %0 : index
}

// -----

// CHECK: expected an affine map
func.func @no_map(%i: index) -> index {
  %0 = affine.max 3 : i64(%i)
  return %0 : index
}
