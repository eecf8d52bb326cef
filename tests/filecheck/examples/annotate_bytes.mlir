// RUN: gawee-opt --load=%S/../../../examples/passes/annotate_bytes.py --annotate-bytes %s | filecheck %s
// RUN: gawee-opt --load=%S/../../../examples/passes/annotate_bytes.py --annotate-bytes --check-each %s -o %t

// CHECK-LABEL: func.func @an_op_says_the_bytes_of_its_results
// CHECK-NEXT:    gawee.relu %x {mine.bytes = 24 : i64}
// CHECK-NEXT:    gawee.cat %x, %y dim 0 {mine.bytes = 48 : i64}
func.func @an_op_says_the_bytes_of_its_results(%x: tensor<2x3xf32>) -> tensor<4x3xf32> {
  %y = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = gawee.cat %x, %y dim 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  return %z : tensor<4x3xf32>
}
