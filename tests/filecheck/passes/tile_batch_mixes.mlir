// RUN: not gawee-opt -p 'tile-batch{images=4}' %s 2>&1 | filecheck %s

// Where parts are chosen, what mixes images is an error.
// CHECK: error: 'gawee.reduce_mean' op expected to keep the images of a batch apart
func.func @main(%x: tensor<8x3xf32>) -> tensor<3xf32> {
  %0 = gawee.reduce_mean %x axes [0] : (tensor<8x3xf32>) -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}
