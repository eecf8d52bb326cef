// RUN: gawee-opt --prove-each --lower-to-linalg --expand-math %s -o %t 2>&1 | filecheck %s --check-prefix=TABLE
// RUN: gawee-opt --prove-each --lower-to-linalg %s 2>/dev/null | filecheck %s
// RUN: gawee-opt --prove-each --load=%S/../../instruments/wrong_passes/swapped_operands.py --swapped-operands --verify-diagnostics %s 2>/dev/null | filecheck %s --check-prefix=WRONG

// The IR is that of the passes; the table goes to standard error.
// CHECK-NOT:  exact
// CHECK:      linalg.generic
// TABLE:      In exact arithmetic, after each pass
// TABLE:      (as it was read)
// TABLE:      lower-to-linalg {{.*}} proved
// TABLE:      expand-math {{.*}} assumed {{.*}} declared: approximates({{[0-9]+}} ulp)
// WRONG:      net.json:20:5: error: pass 'swapped-operands' moved output 'y' at [{{[0-9]+}}, {{[0-9]+}}]: expected {{.*}}, got {{.*}}, which are different numbers in exact arithmetic; first op that differs: 'gawee.sub'
// WRONG-NEXT:   node "difference"
func.func @main(%x: tensor<3x5xf32> {gawee.input = "x"}, %a: tensor<3x5xf32> {gawee.input = "a"})
    -> (tensor<3x5xf32> {gawee.output = "y"}) {
  %s = gawee.add %x, %a : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("sum"("net.json":10:5))
  %d = gawee.sub %s, %a : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("difference"("net.json":20:5))
  %y = gawee.tanh %d : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("act"("net.json":30:5))
  return %y : tensor<3x5xf32>
}
