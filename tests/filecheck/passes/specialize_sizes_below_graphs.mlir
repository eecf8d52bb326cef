// RUN: gawee-opt %s --specialize-sizes='rows=4' --split-input-file | filecheck %s

// What is computed of an argument has its sizes; operands that said them are gone.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%x: tensor<4x3xf32>, %y: tensor<?x3xf32> {gawee.sizes = ["more", "-"]}) -> (tensor<4x3xf32>) attributes {gawee.ranges = {more = "1 to 9"}}
// CHECK:         tensor.empty() : tensor<4x3xf32>
// CHECK-NEXT:    linalg.exp ins(%x : tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT:    tensor.extract_slice %y[0, 0] [4, 3] [1, 1] : tensor<?x3xf32> to tensor<4x3xf32>
// CHECK-NEXT:    linalg.add ins({{.*}} : tensor<4x3xf32>, tensor<4x3xf32>) outs(%e : tensor<4x3xf32>)
func.func @main(%x: tensor<?x3xf32> {gawee.sizes = ["rows", "-"]}, %y: tensor<?x3xf32> {gawee.sizes = ["more", "-"]}) -> (tensor<?x3xf32> {gawee.sizes = ["rows", "-"]}) attributes {gawee.ranges = {rows = "2 to 7", more = "1 to 9"}} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x3xf32>
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %a = linalg.exp ins(%x : tensor<?x3xf32>) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  %b = tensor.extract_slice %y[0, 0] [%n, 3] [1, 1] : tensor<?x3xf32> to tensor<?x3xf32>
  %c = linalg.add ins(%a, %b : tensor<?x3xf32>, tensor<?x3xf32>) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  func.return %c : tensor<?x3xf32>
}

// -----

// A loop carries what it begins with.
// CHECK-LABEL: func.func @main
// CHECK:         scf.for {{.*}} iter_args({{.*}} = %x) -> (tensor<4xf32>)
// CHECK-NEXT:      linalg.exp ins({{.*}} : tensor<4xf32>) outs({{.*}} : tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      scf.yield {{.*}} : tensor<4xf32>
func.func @main(%x: tensor<?xf32> {gawee.sizes = ["rows"]}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%t = %x) -> (tensor<?xf32>) {
    %s = linalg.exp ins(%t : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %s : tensor<?xf32>
  }
  func.return %y : tensor<?xf32>
}

// -----

// Branches have the types that they had.
// CHECK-LABEL: func.func @main
// CHECK:         scf.if %c -> (tensor<?xf32>)
// CHECK:           tensor.cast %e : tensor<4xf32> to tensor<?xf32>
// CHECK:         return {{.*}} : tensor<?xf32>
func.func @main(%x: tensor<?xf32> {gawee.sizes = ["rows"]}, %y: tensor<?xf32>, %c: i1) -> tensor<?xf32> {
  %z = scf.if %c -> (tensor<?xf32>) {
    %e = linalg.exp ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %e : tensor<?xf32>
  } else {
    scf.yield %y : tensor<?xf32>
  }
  func.return %z : tensor<?xf32>
}
