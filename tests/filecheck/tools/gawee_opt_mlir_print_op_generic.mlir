// RUN: gawee-opt --mlir-print-op-generic %s | filecheck %s

// CHECK:      "func.func"() <{{.*}}sym_name = "ops_print_in_the_generic_form"
// CHECK:      "gawee.flatten"(%{{.*}}) {start_dim = 1 : i64, end_dim = -1 : i64} : (tensor<2x3x5xf32>) -> tensor<2x15xf32>
// Ops of the dialect have attributes there: what upstream knows by its IRDL has no properties.
func.func @ops_print_in_the_generic_form(%x: tensor<2x3x5xf32>) -> tensor<2x15xf32> {
  %y = gawee.flatten %x start_dim 1 end_dim -1 : (tensor<2x3x5xf32>) -> tensor<2x15xf32>
  return %y : tensor<2x15xf32>
}
