// RUN: not gawee-opt %s --load %S/../../tools/wrong_passes.py --leave-invalid --mlir-pass-pipeline-crash-reproducer=%t.mlir 2>&1 | filecheck %s
// RUN: filecheck %s --check-prefix=FILE < %t.mlir

// CHECK:      note: wrote a reproducer: {{.*}}.mlir
// CHECK-NEXT: {{.*}} error: 'func.return' op
// CHECK:      hint: the module is wrong since pass 'leave-invalid' ran

// FILE:       {{// RUN}}: gawee-opt %s --load=%S/wrong_passes.py -p leave-invalid | filecheck %s
// FILE-NEXT:  {{// CHECK}}: @the_lit_test_alone
func.func @the_lit_test_alone(%x: tensor<2x3x4x4xf32>, %w: tensor<5x3x1x1xf32>) -> tensor<2x5x2x2xf32> {
  %y = gawee.conv %x, %w strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] groups 1
    : (tensor<2x3x4x4xf32>, tensor<5x3x1x1xf32>) -> tensor<2x5x2x2xf32>
  return %y : tensor<2x5x2x2xf32>
}
