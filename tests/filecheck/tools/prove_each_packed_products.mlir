// RUN: gawee-opt --prove-each -p 'gawee-to-kernels,gawee-kernels-to-loops,convert-to-llvm{target=host}' %s -o %t 2>&1 | filecheck %s
// RUN: gawee-opt --check-each -p 'gawee-to-kernels{target=haswell},gawee-kernels-to-loops,convert-to-llvm' %s -o %t 2>&1 | filecheck %s --check-prefix=RAN

// Machine code with the instruction for four bytes, and such with that for pairs, computes what loops do, to the bit.
// CHECK:      pack-integer-products {{.*}} checked
// CHECK:      lower-kernels-to-loops {{.*}} checked
// CHECK:      convert-to-llvm {{.*}} checked
// RAN:        pack-integer-products {{.*}} interpreter {{.*}} 0 │ 0 │
// RAN:        convert-to-llvm {{.*}} native {{.*}} 0 │ 0 │
func.func @main(%a: tensor<3x10xi8> {gawee.input = "a"}, %w: tensor<10x17xui8> {gawee.parameter = "w"}, %z: tensor<ui8> {gawee.parameter = "z"})
    -> (tensor<3x17xi32> {gawee.output = "y"}) {
  %0 = gawee.cast %a : (tensor<3x10xi8>) -> tensor<3x10xi32>
  %1 = gawee.cast %w : (tensor<10x17xui8>) -> tensor<10x17xi32>
  %2 = gawee.cast %z : (tensor<ui8>) -> tensor<i32>
  %3 = gawee.sub %1, %2 : (tensor<10x17xi32>, tensor<i32>) -> tensor<10x17xi32>
  %y = gawee.batch_matmul %0, %3 : (tensor<3x10xi32>, tensor<10x17xi32>) -> tensor<3x17xi32>
  func.return %y : tensor<3x17xi32>
}
