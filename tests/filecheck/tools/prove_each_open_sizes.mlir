// RUN: gawee-opt %s --gawee-to-kernels --gawee-kernels-to-loops --prove-each 2>&1 >/dev/null | filecheck %s

// Passes on open sizes are proved for numbers of them, down to the plan of memory; loops are checked by data.
// CHECK: lower-to-linalg {{.*}} proved
// CHECK: form-kernels {{.*}} proved
// CHECK: assign-schedules {{.*}} proved
// CHECK: bufferize {{.*}} proved
// CHECK: plan-memory {{.*}} proved
// CHECK: lower-kernels-to-loops {{.*}} checked by data
// CHECK-SAME: loops of open sizes
// CHECK-NOT: error
func.func @main(%x: tensor<?x?x6xf32> {gawee.input = "x", gawee.sizes = ["batch", "length", "-"]}, %w: tensor<5x6xf32> {gawee.parameter = "w"}) -> (tensor<?x?x5xf32> {gawee.output = "y"}) attributes {gawee.ranges = {batch = "1 to 8", length = "1 to 64"}} {
  %0 = gawee.matmul %x, %w : (tensor<?x?x6xf32>, tensor<5x6xf32>) -> tensor<?x?x5xf32>
  %1 = gawee.softmax %0 axis 1 : (tensor<?x?x5xf32>) -> tensor<?x?x5xf32>
  func.return %1 : tensor<?x?x5xf32>
}
