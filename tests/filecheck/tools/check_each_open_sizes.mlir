// RUN: gawee-opt %s --gawee-to-llvm --check-each 2>&1 >/dev/null | filecheck %s

// Every pass is checked for numbers of the sizes that are open, native code included.
// CHECK: lower-to-linalg
// CHECK: bufferize {{.*}} interpreter
// CHECK: plan-memory {{.*}} interpreter
// CHECK: lower-linalg-to-loops {{.*}} native
// CHECK: convert-to-llvm {{.*}} native
// CHECK-NOT: error
func.func @main(%x: tensor<?x?x6xf32> {gawee.input = "x", gawee.sizes = ["batch", "length", "-"]}, %w: tensor<5x6xf32> {gawee.parameter = "w"}) -> (tensor<?x?x5xf32> {gawee.output = "y"}) attributes {gawee.ranges = {batch = "1 to 8", length = "1 to 64"}} {
  %0 = gawee.matmul %x, %w : (tensor<?x?x6xf32>, tensor<5x6xf32>) -> tensor<?x?x5xf32>
  %1 = gawee.softmax %0 axis 1 : (tensor<?x?x5xf32>) -> tensor<?x?x5xf32>
  func.return %1 : tensor<?x?x5xf32>
}
