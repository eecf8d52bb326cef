// RUN: not gawee-opt -p 'tile-batch{images=4}' %s 2>&1 | filecheck %s

// CHECK: error: expected a part of 4 images to divide a batch of 6
// CHECK: hint: of 12, parts of 1, 2, 3, 4 and 6 can be
func.func @main(%x: tensor<6x3xf32>) -> tensor<6x3xf32> {
  %0 = gawee.relu %x : (tensor<6x3xf32>) -> tensor<6x3xf32>
  func.return %0 : tensor<6x3xf32>
}
