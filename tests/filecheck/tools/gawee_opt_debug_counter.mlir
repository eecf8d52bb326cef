// RUN: gawee-opt --load=%S/../../instruments/wrong_passes/swapped_operands.py --swapped-operands --debug-counter=SortOperands=1:3-4 %s 2>&1 | filecheck %s
// RUN: gawee-opt --load=%S/../../instruments/wrong_passes/swapped_operands.py --swapped-operands --debug-counter=SortOperands=2 %s 2>&1 | filecheck %s --check-prefix=SECOND
// RUN: not gawee-opt --canonicalize --debug-counter=SortOperands=0 %s 2>&1 | filecheck %s --check-prefix=WRONG
// RUN: gawee-opt --load=%S/../../instruments/wrong_passes/swapped_operands.py --swapped-operands --debug-counter=SortOperand=1 %s 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not gawee-opt --lower-to-linalg --debug-counter=LowerElementwise=2 %s 2>&1 | filecheck %s --check-prefix=LEFT

// UNKNOWN: debug-counter: SortOperand: no pattern of this name was tried
// UNKNOWN-NEXT: hint: did you mean 'SortOperands'?

// CHECK: debug-counter: SortOperands: 2 of 3 rewrites done
// CHECK: gawee.sub %a, %b
// CHECK: gawee.sub %q, %a
// CHECK: gawee.sub %b, %r

// SECOND: gawee.sub %b, %a
// SECOND: gawee.sub %a, %q
// SECOND: gawee.sub %r, %b

// WRONG: error: argument --debug-counter: expected PATTERN=CHUNKS, such as FoldIntoBias=1-3:7, got 'SortOperands=0'

// LEFT: debug-counter: LowerElementwise: 1 of 4 rewrites done
// LEFT: net.json:10:5: error: 'gawee.sub' op cannot be removed by lower-to-linalg: expected an op that is not elementwise
// LEFT-NOT: internal error
func.func @main(%a: tensor<3x5xf32> {gawee.input = "a"}, %b: tensor<3x5xf32> {gawee.input = "b"})
    -> (tensor<3x5xf32> {gawee.output = "y"}) {
  %p = gawee.sub %b, %a : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("distance"("net.json":10:5))
  %q = gawee.abs %p : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("absolute"("net.json":20:5))
  %r = gawee.sub %q, %a : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("difference"("net.json":30:5))
  %s = gawee.sub %r, %b : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("last"("net.json":40:5))
  return %s : tensor<3x5xf32>
}
