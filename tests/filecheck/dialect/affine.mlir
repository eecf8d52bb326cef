// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @greatest_of_the_results_of_a_map
// CHECK:       affine.max affine_map<(d0) -> (0, (d0 + -3))>(%i)
// CHECK:       affine.max affine_map<(d0)[s0] -> ((d0 + s0), 5)>(%i)[%n]
func.func @greatest_of_the_results_of_a_map(%i: index, %n: index) -> (index, index) {
  %0 = affine.max affine_map<(d0) -> (0, d0 - 3)>(%i)
  %1 = affine.max affine_map<(d0)[s0] -> (d0 + s0, 5)>(%i)[%n]
  return %0, %1 : index, index
}

// CHECK-LABEL: func.func @forms_of_upstream_are_read
// CHECK:       "affine.if"(%i, %n) <{condition = affine_set
// CHECK:         affine.yield
// CHECK:         affine.yield
// CHECK:       "affine.if"(%i)
func.func @forms_of_upstream_are_read(%i: index, %n: index) -> index {
  %r = affine.if affine_set<(d0)[s0] : (d0 - s0 >= 0, d0 == 3)>(%i)[%n] -> index {
    affine.yield %i : index
  } else {
    affine.yield %n : index
  }
  affine.if affine_set<(d0) : (d0 >= 0)>(%i) {
  }
  return %r : index
}
