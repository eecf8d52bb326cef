// RUN: gawee-opt --gawee-to-kernels %s | filecheck %s --check-prefix=FUSED
// RUN: gawee-opt --gawee-to-kernels --load %S/inputs/keep_relu.py %s | filecheck %s --check-prefix=KEPT
// RUN: gawee-opt --gawee-to-kernels --insert=after=lower-to-linalg:annotate-cost --mlir-print-ir-before=annotate-cost %s 2>&1 >/dev/null | filecheck %s --check-prefix=PLACED
// RUN: gawee-opt --gawee-to-kernels --explain-missed %s 2>&1 >/dev/null | filecheck %s --check-prefix=TOLD
// RUN: gawee-opt --gawee-to-kernels --explain-missed=linalg.generic --load %S/inputs/keep_relu.py %s 2>&1 >/dev/null | filecheck %s --check-prefix=REASON
// RUN: gawee-opt --gawee-to-kernels --check-each --load %S/inputs/keep_relu.py %s 2>&1 >/dev/null | filecheck %s --check-prefix=CHECKED
// RUN: not gawee-opt --gawee-optimize --insert=after=fold-conv-ad:cse %s 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not gawee-opt --gawee-optimize --insert=before=canonicalize:cse %s 2>&1 | filecheck %s --check-prefix=TWICE

// FUSED-NOT: linalg.generic
// FUSED:     arith.maximumf

// KEPT:      linalg.generic
// KEPT-SAME: gawee.keep
// KEPT:      arith.maximumf

// PLACED: IR Dump Before AnnotateCost
// PLACED: linalg.generic
// PLACED-NOT: gawee.kernel

// TOLD:      fused in form-kernels (an op marked 'gawee.keep' is left alone):
// TOLD-NEXT: gawee.kernel at {{.*}}gawee_opt_insert.mlir:38:3
// TOLD-NEXT: into gawee.kernel at {{.*}}gawee_opt_insert.mlir:37:3, by FuseIntoReduction

// REASON:      missed in form-kernels:
// REASON-NEXT: linalg.generic at {{.*}}gawee_opt_insert.mlir:38:3
// REASON-NEXT: FormKernel {{.*}}: it is marked 'gawee.keep'

// CHECKED: keep-relu

// UNKNOWN:      --insert='after=fold-conv-ad:cse': error: unknown place 'fold-conv-ad' in the pipeline
// UNKNOWN-NEXT: hint: did you mean 'fold-conv-add'? places: lower-quant-ops, canonicalize#1, sink-dequantize, fold-batch-norm, fold-conv-add, trim-conv-kernels, fuse-attention, canonicalize#2

// TWICE:      --insert='before=canonicalize:cse': error: expected one place 'canonicalize' in the pipeline, got 2
// TWICE-NEXT: hint: which: canonicalize#1 after lower-quant-ops, canonicalize#2 after fuse-attention
func.func @main(%x: tensor<2x3x5x7xf32> {gawee.input = "x"}, %w: tensor<4x3x1x1xf32> {gawee.parameter = "w"}) -> (tensor<2x4x5x7xf32> {gawee.output = "y"}) {
  %c = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x3x5x7xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x5x7xf32>
  %y = gawee.relu %c : (tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  func.return %y : tensor<2x4x5x7xf32>
}
