// RUN: gawee-opt %s -p 'gawee-to-kernels,gawee-kernels-to-loops' --check-each 2>&1 >/dev/null | filecheck %s

// A batch of an open number of images, one after the other: their buffers are of numbers, and what
// holds all of them is not.
// CHECK: tile-batch {{.*}} interpreter
// CHECK: plan-memory {{.*}} native
// CHECK: lower-kernels-to-loops {{.*}} native
// CHECK-NOT: error
func.func @main(%x: tensor<?x3x9x7xf32> {gawee.input = "x", gawee.sizes = ["batch", "-", "-", "-"]},
                %w: tensor<5x3x3x3xf32> {gawee.parameter = "w"}, %v: tensor<50x315xf32> {gawee.parameter = "v"})
    -> tensor<?x50xf32> attributes {gawee.ranges = {batch = "1 to 32"}} {
  %0 = gawee.conv %x, %w strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<?x3x9x7xf32>, tensor<5x3x3x3xf32>) -> tensor<?x5x9x7xf32>
  %1 = gawee.reshape %0 shape ["batch", 315] : (tensor<?x5x9x7xf32>) -> tensor<?x315xf32>
  %2 = gawee.matmul %1, %v : (tensor<?x315xf32>, tensor<50x315xf32>) -> tensor<?x50xf32>
  func.return %2 : tensor<?x50xf32>
}
