// RUN: gawee-opt %s --convert-to-llvm --mlir-print-debuginfo | filecheck %s

// CHECK-LABEL: llvm.func @ops_say_which_node_they_are_from
// CHECK:         llvm.getelementptr {{.*}} loc("fc"("net.json":4:2))
// CHECK-NEXT:    llvm.load {{.*}} loc("fc"("net.json":4:2))
// CHECK-NEXT:    llvm.fadd {{.*}}locations.mlir":9:3)
func.func @ops_say_which_node_they_are_from(%x: memref<3xf32>, %i: index) {
  %v = memref.load %x[%i] : memref<3xf32> loc("fc"("net.json":4:2))
  %w = arith.addf %v, %v : f32
  return
}
