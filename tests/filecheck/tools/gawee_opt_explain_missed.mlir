// RUN: gawee-opt --gawee-optimize --explain-missed %s -o %t 2>&1 | filecheck %s
// RUN: gawee-opt --gawee-optimize --explain-missed=gawee.relu %s -o %t 2>&1 | filecheck %s --check-prefix=NAMED

// CHECK:      missed in fold-batch-norm:
// CHECK-NEXT: gawee.batch_norm at {{.*}}explain_missed.mlir:16:3
// CHECK-NEXT: FoldIntoLayer ({{.*}}fold_batch_norm.py:{{[0-9]+}}): expected input from a convolution or matmul, got 'gawee.relu'
// CHECK-NOT:  gawee.relu at

// NAMED:      missed in fold-batch-norm:
// NAMED-NEXT: gawee.relu at {{.*}}explain_missed.mlir:15:3
// NAMED-NEXT: no pattern of this pass is for it
// NAMED-NOT:  gawee.batch_norm
func.func @what_was_declined_is_told_with_its_reason(%x: tensor<2x5x4x4xf32>, %m: tensor<5xf32>)
    -> tensor<2x5x4x4xf32> {
  %y = gawee.relu %x : (tensor<2x5x4x4xf32>) -> tensor<2x5x4x4xf32>
  %z = gawee.batch_norm %y mean %m variance %m eps 1.0e-5 : tensor<2x5x4x4xf32>, tensor<5xf32>
  return %z : tensor<2x5x4x4xf32>
}
