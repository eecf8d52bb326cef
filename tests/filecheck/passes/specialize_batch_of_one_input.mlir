// RUN: gawee-opt -p 'specialize-batch{images=5 inputs=x}' %s | filecheck %s

// An input that is not named is the same for all images.
// CHECK:      func.func @main(%x: tensor<5x3xf32>, %all: tensor<3xf32>) -> tensor<5x3xf32> {
// CHECK-NEXT:   gawee.add %x, %all : (tensor<5x3xf32>, tensor<3xf32>) -> tensor<5x3xf32>
func.func @main(%x: tensor<2x3xf32>, %all: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = gawee.add %x, %all : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}
