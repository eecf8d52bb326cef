// RUN: gawee-opt --cost --split-input-file %s -o %t --verify-diagnostics 2>&1 | filecheck %s
// RUN: gawee-opt --cost --canonicalize --split-input-file %s -o %t --verify-diagnostics 2>&1 | filecheck %s --check-prefix=FEWER
// RUN: gawee-opt --cost --verify-diagnostics --split-input-file --lower-to-linalg %s | filecheck %s --check-prefix=LINALG

// 2 * 5 * 3 multiply-adds are 2 * 2 * 5 * 3 FLOPs; the weight is not read as a value of the graph.
// CHECK:      matmul {{.*}} 60 {{.*}} 24 {{.*}} 40
// CHECK:      identity {{.*}} ? {{.*}} 40 {{.*}} 40
// CHECK:      total {{.*}} 60 {{.*}} 64 {{.*}} 80
// CHECK:      1/2 known {{.*}} 2/2 known {{.*}} 2/2 known
// FEWER:      total {{.*}} 60 {{.*}} 24 {{.*}} 40
// LINALG:     error: cannot count the cost of {{.*}}; cost is counted on gawee ops
func.func @main(%x: tensor<2x3xf32>, %w: tensor<5x3xf32> {gawee.parameter = "w"}) -> tensor<2x5xf32> {
  %y = gawee.matmul %x, %w : (tensor<2x3xf32>, tensor<5x3xf32>) -> tensor<2x5xf32>
  %z = gawee.identity %y : (tensor<2x5xf32>) -> tensor<2x5xf32>
  return %z : tensor<2x5xf32>
}

// -----

// LINALG: error: expected a function @main, got none
