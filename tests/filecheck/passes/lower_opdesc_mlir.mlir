// REQUIRES: pycparser
// RUN: gawee-opt %s --load-ops %S/../opdesc/inputs/mlir_ops.json --lower-opdesc | filecheck %s
// RUN: gawee-opt %s --load-ops %S/../opdesc/inputs/mlir_ops.json --lower-opdesc --mlir-print-debuginfo | filecheck %s --check-prefix=PLACE

// CHECK-LABEL: func.func @types_are_those_of_the_use
// CHECK-NEXT:    %sorted, %at = gawee.sort %x axis 1 descending false : (tensor<3x7xf32>) -> (tensor<3x7xf32>, tensor<3x7xi64>)
// CHECK-NEXT:    %y = gawee.slice %sorted offsets [0, 0] sizes [3, 5] strides [1, 1] : (tensor<3x7xf32>) -> tensor<3x5xf32>
// CHECK-NEXT:    %{{.*}}, %{{.*}} = gawee.sort %y axis 1 descending false : (tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xi64>)
// CHECK-NEXT:    %z = gawee.slice %{{.*}} offsets [0, 0] sizes [3, 2] strides [1, 1] : (tensor<3x5xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:    func.return %z : tensor<3x2xf32>
func.func @types_are_those_of_the_use(%x: tensor<3x7xf32>) -> tensor<3x2xf32> {
  %y = mine.smallest %x count 5 : (tensor<3x7xf32>) -> tensor<3x5xf32>
  %z = mine.smallest %y count 2 : (tensor<3x5xf32>) -> tensor<3x2xf32>
  func.return %z : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @arguments_are_returned_as_they_are
// CHECK-NEXT:    func.return %b, %a : tensor<3xi32>, tensor<3xf32>
func.func @arguments_are_returned_as_they_are(%a: tensor<3xf32>, %b: tensor<3xi32>) -> (tensor<3xi32>, tensor<3xf32>) {
  %c, %d = mine.both %a, %b : (tensor<3xf32>, tensor<3xi32>) -> (tensor<3xi32>, tensor<3xf32>)
  func.return %c, %d : tensor<3xi32>, tensor<3xf32>
}

// PLACE-LABEL: func.func @ops_are_where_the_use_is
// PLACE:         gawee.slice {{.*}} loc("top"("net.json":4:2))
func.func @ops_are_where_the_use_is(%x: tensor<3x7xf32>) -> tensor<3x2xf32> {
  %y = mine.smallest %x count 2 : (tensor<3x7xf32>) -> tensor<3x2xf32> loc("top"("net.json":4:2))
  func.return %y : tensor<3x2xf32>
}
