// RUN: not gawee-opt --specialize-batch %s 2>&1 | filecheck %s

// Every op that mixes images is told; what depends on one is not.
// CHECK:      specialize_batch_mixes.mlir:10:3: error: 'gawee.reduce_mean' op expected to keep the images of a batch apart, got a reduction of axis 0, which counts images
// CHECK-NEXT: hint: compile it for one batch size, without a dynamic batch
// CHECK-NEXT: specialize_batch_mixes.mlir:11:3: error: 'gawee.softmax' op expected to keep the images of a batch apart, got a reduction of axis 0, which counts images
// CHECK-NEXT: hint: compile it for one batch size, without a dynamic batch
// CHECK-NOT:  error
func.func @main(%x: tensor<2x3xf32>) -> (tensor<3xf32>, tensor<2x3xf32>) {
  %0 = gawee.reduce_mean %x axes [0] : (tensor<2x3xf32>) -> tensor<3xf32>
  %1 = gawee.softmax %x axis 0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = gawee.sub %1, %0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %0, %2 : tensor<3xf32>, tensor<2x3xf32>
}
