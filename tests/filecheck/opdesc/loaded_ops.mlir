// REQUIRES: pycparser
// RUN: gawee-opt --load-ops %S/inputs/ops.json %s | gawee-opt --load-ops %S/inputs/ops.json | filecheck %s
// RUN: gawee-opt --load-ops %S/inputs/ops.json --mlir-print-op-generic %s | gawee-opt --load-ops %S/inputs/ops.json | filecheck %s

// CHECK-LABEL: func.func @shape_follows_an_expression_and_dtype_the_source
// CHECK-NEXT:    %box = mine.fillbox sides [9] dtype "TL_INT8" value -0.5 names ["a\22b", "c"] deep false nothing null : () -> tensor<9xi8>
// CHECK-NEXT:    %y = mine.window1d %box size 3 stride 2 pad 1 {my.note = "kept"} : (tensor<9xi8>) -> tensor<5xi8>
func.func @shape_follows_an_expression_and_dtype_the_source() -> tensor<5xi8> {
  %box = mine.fillbox value -0.5 sides [9] dtype "TL_INT8" names ["a\"b", "c"] nothing null deep false : () -> tensor<9xi8>
  %y = mine.window1d %box pad 1 size 3 stride 2 {my.note = "kept"} : (tensor<9xi8>) -> tensor<5xi8>
  func.return %y : tensor<5xi8>
}

// CHECK-LABEL: func.func @shipped_ops_are_there_too
// CHECK-NEXT:    %y = lightnet.relu %x : (tensor<3xf32>) -> tensor<3xf32>
func.func @shipped_ops_are_there_too(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = lightnet.relu %x : (tensor<3xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}
