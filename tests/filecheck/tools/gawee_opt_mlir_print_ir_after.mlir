// RUN: gawee-opt --gawee-optimize --mlir-print-ir-after=fold-batch-norm,gawee-optimize %s -o %t 2>&1 | filecheck %s

// CHECK:      // -----// IR Dump After FoldBatchNorm (fold-batch-norm) //----- //
// CHECK-NEXT: builtin.module {
// CHECK:      // -----// IR Dump After GaweeOptimize (gawee-optimize) //----- //
// CHECK-NOT:  IR Dump
func.func @a_pipeline_and_a_pass_inside_it_can_be_named(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.identity %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = gawee.relu %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}
