// RUN: rm -rf %t && mkdir %t && cd %t && not gawee-opt %s --canonicalize --load %S/../../tools/wrong_passes.py --crash --cse --reproducer-dir=found 2>&1 | filecheck %s
// RUN: cat %t/found/gawee-reproducer-crash-*/pipeline.txt | filecheck %s --check-prefix=PIPELINE
// RUN: cat %t/found/gawee-reproducer-crash-*/test.mlir | filecheck %s --check-prefix=TEST
// RUN: cat %t/found/gawee-reproducer-crash-*/error.txt | filecheck %s --check-prefix=ERROR
// RUN: rm -rf %t && mkdir %t && cd %t && not gawee-opt %s --load %S/../../tools/wrong_passes.py --crash && not ls %t/*

// CHECK:      note: wrote a reproducer: found/gawee-reproducer-crash-
// CHECK-NEXT: wrong_passes.py:{{.*}} error: KeyError: 'stride' (in pass 'crash'

// PIPELINE:   crash,cse

// TEST:       {{// RUN}}: gawee-opt %s --load=%S/wrong_passes.py -p crash | filecheck %s
// TEST-NEXT:  {{// CHECK}}: @a_test_is_written
// TEST-NOT:   gawee.identity
// TEST:       gawee.conv

// ERROR:      pass 'crash' crashed: KeyError: 'stride'
// ERROR:      Traceback
func.func @a_test_is_written(%x: tensor<2x3x4x4xf32>, %w: tensor<5x3x1x1xf32>) -> tensor<2x5x2x2xf32> {
  %i = gawee.identity %x : (tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  %y = gawee.conv %i, %w strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] groups 1
    : (tensor<2x3x4x4xf32>, tensor<5x3x1x1xf32>) -> tensor<2x5x2x2xf32>
  return %y : tensor<2x5x2x2xf32>
}
