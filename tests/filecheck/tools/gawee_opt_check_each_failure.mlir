// RUN: gawee-opt --check-each --load=%S/../../instruments/wrong_passes/swapped_operands.py --canonicalize --swapped-operands --verify-diagnostics %s 2>/dev/null | filecheck %s

// CHECK:      net.json:20:5: error: pass 'swapped-operands' moved output 'y' at [{{[0-9]+}}, {{[0-9]+}}]: expected {{.*}}, got {{.*}}; largest difference {{.*}} ({{[0-9]+}} ulp), allowed: reassociates; first op that differs: 'gawee.sub'
// CHECK-NEXT:   node "difference"
// CHECK-NEXT: hint: the op's value at [{{.*}}] was {{.*}} and is {{.*}}, largest difference
func.func @main(%x: tensor<3x5xf32> {gawee.input = "x"}, %a: tensor<3x5xf32> {gawee.input = "a"})
    -> (tensor<3x5xf32> {gawee.output = "y"}) {
  %s = gawee.add %x, %a : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("sum"("net.json":10:5))
  %d = gawee.sub %s, %a : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("difference"("net.json":20:5))
  %y = gawee.relu %d : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("act"("net.json":30:5))
  return %y : tensor<3x5xf32>
}
