// RUN: gawee-opt --load=%S/../../../examples/passes/count_ops.py --count-ops %s 2>&1 >%t | filecheck %s
// RUN: gawee-opt --load=%S/../../../examples/passes/count_ops.py --count-ops=dialect=func %s 2>&1 >%t | filecheck %s --check-prefix=FUNC
// RUN: gawee-opt --load=%S/../../../examples/passes/count_ops.py --count-ops %S/../passes/specialize_sizes.mlir 2>&1 >%t | filecheck %s --check-prefix=OPEN
// RUN: gawee-opt --load=%S/../../../examples/passes/count_ops.py --count-ops --check-each %s -o %t

// CHECK:      2 gawee.relu
// CHECK-NEXT: 1 gawee.add
// FUNC:       1 func.func
// OPEN:       2 gawee.relu
func.func @ops_are_counted_by_name(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = gawee.add %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = gawee.relu %z : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
