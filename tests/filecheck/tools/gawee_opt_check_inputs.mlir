// RUN: python -c "import numpy; numpy.savez(r'%t.npz', x=numpy.full((3, 5), 7, 'f'))"
// RUN: gawee-opt --check-each --check-inputs=%t.npz --lower-to-linalg %s -o %t.mlir 2>&1 | filecheck %s

// CHECK:      (as it was read)
// CHECK-SAME: 'output0' is
func.func @sevens(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %r = gawee.relu %x : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}
