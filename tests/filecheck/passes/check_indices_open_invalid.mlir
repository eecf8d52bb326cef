// RUN: not gawee-opt --check-indices %s 2>&1 | filecheck %s

// CHECK: error: 'gawee.gather' op cannot check indices of axis 0, whose size 'n' may be 0
// CHECK-NEXT: hint: trust_indices leaves checks out
func.func @axis_that_may_have_no_elements(%x: tensor<?x3xf32> {gawee.sizes = ["n", "-"]}, %i: tensor<5xi64>) -> tensor<5x3xf32> attributes {gawee.ranges = {n = "0 to 8"}} {
  %0 = gawee.gather %x, %i axis 0 : (tensor<?x3xf32>, tensor<5xi64>) -> tensor<5x3xf32>
  func.return %0 : tensor<5x3xf32>
}
