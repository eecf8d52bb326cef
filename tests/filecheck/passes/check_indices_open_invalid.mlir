// RUN: not gawee-opt --check-indices %s 2>&1 | filecheck %s

// CHECK: error: 'gawee.gather' op cannot check indices that name axis 0, whose size 'n' is open
// CHECK-NEXT: hint: trust_indices leaves checks out
func.func @axis_of_open_size(%x: tensor<?x3xf32> {gawee.sizes = ["n", "-"]}, %i: tensor<5xi64>) -> tensor<5x3xf32> {
  %0 = gawee.gather %x, %i axis 0 : (tensor<?x3xf32>, tensor<5xi64>) -> tensor<5x3xf32>
  func.return %0 : tensor<5x3xf32>
}
