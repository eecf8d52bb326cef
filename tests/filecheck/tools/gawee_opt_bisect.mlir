// RUN: not gawee-opt --load=%S/../../instruments/wrong_passes/swapped_operands.py --canonicalize --swapped-operands --bisect %s 2>&1 | filecheck %s
// RUN: gawee-opt --gawee-to-kernels --bisect %s 2>&1 | filecheck %s --check-prefix=RIGHT

// CHECK:      net.json:30:5: error: rewrite 2 of 'swapped-operands' breaks what is computed: SortOperands ({{.*}}swapped_operands.py:11) on 'gawee.sub' op
// CHECK-NEXT:   node "difference"
// CHECK-NEXT: hint: the pass failed with: pass 'swapped-operands' moved output 'y'

// RIGHT: bisect: no rewrite breaks what is computed
// RIGHT: gawee.kernel
func.func @main(%a: tensor<3x5xf32> {gawee.input = "a"}, %b: tensor<3x5xf32> {gawee.input = "b"})
    -> (tensor<3x5xf32> {gawee.output = "y"}) {
  %p = gawee.sub %b, %a : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("distance"("net.json":10:5))
  %q = gawee.abs %p : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("absolute"("net.json":20:5))
  %r = gawee.sub %q, %a : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("difference"("net.json":30:5))
  %s = gawee.sub %r, %b : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("last"("net.json":40:5))
  return %s : tensor<3x5xf32>
}
