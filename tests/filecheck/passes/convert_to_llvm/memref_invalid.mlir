// RUN: gawee-opt %s --convert-to-llvm --verify-diagnostics | filecheck %s

// CHECK: error: 'memref.dim' op cannot be removed by convert-to-llvm: expected one of 2 dimensions, got -1
func.func @a_buffer_has_the_dimensions_of_its_type(%x: memref<2x3xf32>) -> index {
  %c = arith.constant -1 : index
  %n = memref.dim %x, %c : memref<2x3xf32>
  func.return %n : index
}
