// RUN: not gawee-opt --specialize-batch %s 2>&1 | filecheck %s
// RUN: not gawee-opt -p 'specialize-batch{inputs=z}' %s 2>&1 | filecheck %s --check-prefix NAME
// RUN: not gawee-opt -p 'specialize-batch{inputs=x,s}' %s 2>&1 | filecheck %s --check-prefix AXIS
// RUN: not gawee-opt -p 'specialize-batch{inputs=x,y}' %s 2>&1 | filecheck %s --check-prefix COUNT
// RUN: not gawee-opt -p 'specialize-batch{images=0}' %s 2>&1 | filecheck %s --check-prefix NONE

// NAME: error: unknown input 'z'; expected: x, y, s
// NAME: hint: name the inputs that have images
// AXIS: error: expected input 's' of shape scalar to have axis 0
// COUNT: error: expected inputs with one number of images, at least 1, got 'x' (2), 'y' (3)
// NONE: error: expected at least 1 image, got 0

// CHECK: error: expected inputs with one number of images, at least 1, got 'x' (2), 'y' (3)
// CHECK-NEXT: hint: name the inputs that have images: dynamic_batch={'x': 0} says that those of x are along axis 0
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %s: tensor<f32>) -> tensor<2x3xf32> {
  %0 = gawee.add %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}
