// RUN: gawee-opt --mlir-print-debuginfo %s | filecheck %s
// RUN: gawee-opt --mlir-print-debuginfo --canonicalize --cse --dce %s | filecheck %s

// CHECK-LABEL: func.func @locations_survive_canonicalize_cse_and_dce
// CHECK:       gawee.relu %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("{{.*}}gawee_opt_mlir_print_debuginfo.mlir":9:3)
// CHECK:       gawee.sqrt %{{.*}} loc("act"("graph.json":4:7))
// CHECK:       return %{{.*}} loc("{{.*}}gawee_opt_mlir_print_debuginfo.mlir":11:3)
func.func @locations_survive_canonicalize_cse_and_dce(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = gawee.sqrt %y : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("act"("graph.json":4:7))
  return %z : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @a_folded_constant_has_the_place_of_the_op_that_folded
// CHECK:       arith.constant {{.*}} loc("{{.*}}gawee_opt_mlir_print_debuginfo.mlir":{{.*}})
func.func @a_folded_constant_has_the_place_of_the_op_that_folded() -> i32 {
  %two = arith.constant 2 : i32
  %four = arith.addi %two, %two : i32
  return %four : i32
}
