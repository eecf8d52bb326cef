// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @greatest_of_the_results_of_a_map
// CHECK:       affine.max affine_map<(d0) -> (0, (d0 + -3))>(%i)
// CHECK:       affine.max affine_map<(d0)[s0] -> ((d0 + s0), 5)>(%i)[%n]
func.func @greatest_of_the_results_of_a_map(%i: index, %n: index) -> (index, index) {
  %0 = affine.max affine_map<(d0) -> (0, d0 - 3)>(%i)
  %1 = affine.max affine_map<(d0)[s0] -> (d0 + s0, 5)>(%i)[%n]
  return %0, %1 : index, index
}
