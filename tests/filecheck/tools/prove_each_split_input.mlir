// RUN: gawee-opt %s --split-input-file --prove-each --lower-to-linalg -o /dev/null 2>&1 | filecheck %s

// Each part is proved on numbers of its own, and its degrees are counted on them.
// CHECK:      (as it was read)
// CHECK-NEXT: lower-to-linalg {{.*}} proved {{.*}} 1 {{.*}}
// CHECK-NEXT: (as it was read)
// CHECK-NEXT: lower-to-linalg {{.*}} proved {{.*}} 2 {{.*}}
func.func @sums(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %z = gawee.add %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %z : tensor<2x3xf32>
}

// -----

func.func @products(%x: tensor<5xf32>) -> tensor<5xf32> {
  %z = gawee.mul %x, %x : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  func.return %z : tensor<5xf32>
}
