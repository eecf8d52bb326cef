// RUN: gawee-opt --canonicalize --cse --mlir-print-ir-before=cse %s -o %t 2>&1 | filecheck %s
// RUN: gawee-opt --canonicalize --cse --mlir-print-ir-before %s -o %t 2>&1 | filecheck %s --check-prefix=EACH

// CHECK:      // -----// IR Dump Before CommonSubexpressionElimination (cse) //----- //
// CHECK-NEXT: builtin.module {
// CHECK-NOT:  gawee.identity
// CHECK-NOT:  IR Dump

// EACH: IR Dump Before CanonicalizePass (canonicalize)
// EACH: IR Dump Before CommonSubexpressionElimination (cse)
func.func @the_dump_is_as_the_named_pass_finds_it(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.identity %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = gawee.relu %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}
