// RUN: not gawee-opt --check-indices %s 2>&1 | filecheck %s

// CHECK: error: 'gawee.gather' op cannot check indices of axis 0, whose size 'n - 1' may be 0
// CHECK-NEXT: hint: trust_indices leaves checks out
func.func @axis_that_may_have_no_elements(%x: tensor<?x3xf32> {gawee.sizes = ["n", "-"]}, %i: tensor<5xi64>) -> tensor<5x3xf32> {
  %0 = gawee.slice %x offsets [0, 0] sizes ["n - 1", 3] strides [1, 1] : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = gawee.gather %0, %i axis 0 : (tensor<?x3xf32>, tensor<5xi64>) -> tensor<5x3xf32>
  func.return %1 : tensor<5x3xf32>
}
