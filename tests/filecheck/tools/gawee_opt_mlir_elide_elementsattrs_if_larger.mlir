// RUN: gawee-opt --mlir-elide-elementsattrs-if-larger=2 %s | filecheck %s
// RUN: gawee-opt %s | filecheck %s --check-prefix=WHOLE
// RUN: gawee-opt --cse --mlir-print-ir-after-all %s -o %t 2>&1 | filecheck %s --check-prefix=DUMP

// CHECK-LABEL: func.func @constants_are_elided_where_that_is_asked_for
// CHECK-NEXT:  gawee.constant dense_resource<__elided__> : tensor<17xi32>
// CHECK-NEXT:  gawee.constant dense_resource<__elided__> : tensor<3xi32>
// CHECK-NEXT:  gawee.constant dense<7> : tensor<17xi32>

// WHOLE-NOT: __elided__

// DUMP:      gawee.constant dense_resource<__elided__> : tensor<17xi32>
// DUMP-NEXT: gawee.constant dense<[1, 2, 3]> : tensor<3xi32>
// DUMP-NEXT: gawee.constant dense<7> : tensor<17xi32>
func.func @constants_are_elided_where_that_is_asked_for()
    -> (tensor<17xi32>, tensor<3xi32>, tensor<17xi32>) {
  %large = gawee.constant dense<[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]> : tensor<17xi32>
  %small = gawee.constant dense<[1, 2, 3]> : tensor<3xi32>
  %uniform = gawee.constant dense<7> : tensor<17xi32>
  return %large, %small, %uniform : tensor<17xi32>, tensor<3xi32>, tensor<17xi32>
}
