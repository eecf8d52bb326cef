// RUN: gawee-opt --cost --split-input-file %s -o %t --verify-diagnostics 2>&1 | filecheck %s
// RUN: gawee-opt --cost --canonicalize --split-input-file %s -o %t --verify-diagnostics 2>&1 | filecheck %s --check-prefix=FEWER
// RUN: gawee-opt --cost --verify-diagnostics --split-input-file --lower-to-linalg %s | filecheck %s --check-prefix=LINALG

// 2 * 5 * 3 multiply-adds are 2 * 2 * 5 * 3 FLOPs; the weight is not read as a value of the graph.
// CHECK:      matmul {{.*}} 60 {{.*}} 24 {{.*}} 40
// CHECK:      identity {{.*}} 0 {{.*}} 40 {{.*}} 40
// CHECK:      relu {{.*}} 10 {{.*}} 40 {{.*}} 40
// CHECK:      total {{.*}} 70 {{.*}} 104 {{.*}} 120
// CHECK:      conv, matmul, + - * / {{.*}} 60
// FEWER:      total {{.*}} 70 {{.*}} 64 {{.*}} 80
// LINALG:     cost.mlir:{{[0-9]+:[0-9]+}}: error: cannot count the cost of {{.*}}; cost is counted on gawee ops
func.func @main(%x: tensor<2x3xf32>, %w: tensor<5x3xf32> {gawee.parameter = "w"}) -> tensor<2x5xf32> {
  %y = gawee.matmul %x, %w : (tensor<2x3xf32>, tensor<5x3xf32>) -> tensor<2x5xf32>
  %z = gawee.identity %y : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %r = gawee.relu %z : (tensor<2x5xf32>) -> tensor<2x5xf32>
  return %r : tensor<2x5xf32>
}

// -----

// LINALG: error: expected a function @main, got none
