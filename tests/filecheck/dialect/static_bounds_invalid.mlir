// RUN: not gawee-opt %s 2>&1 | filecheck %s

// All problems of a file are told at once.
func.func @elements(%x: tensor<5x3xf32>, %m: memref<5x3xf32>, %v: f32, %i: index) {
  %c3 = arith.constant 3 : index
  %c-1 = arith.constant -1 : index
  // CHECK: static_bounds_invalid.mlir:8:3: error: 'tensor.extract' op expected index 3 to stay in axis 1 of size 3
  %2 = tensor.extract %x[%i, %c3] : tensor<5x3xf32>
  // CHECK: error: 'tensor.insert' op expected index -1 to stay in axis 0 of size 5
  %3 = tensor.insert %v into %x[%c-1, %i] : tensor<5x3xf32>
  // CHECK: error: 'memref.load' op expected index 3 to stay in axis 1 of size 3
  %4 = memref.load %m[%c3, %c3] : memref<5x3xf32>
  // CHECK: error: 'memref.store' op expected index -1 to stay in axis 0 of size 5
  memref.store %v, %m[%c-1, %i] : memref<5x3xf32>
  func.return
}

llvm.func @a_marker_has_an_index(%p: !llvm.ptr) {
  // CHECK: error: 'llvm.getelementptr' op expected 1 dynamic indices, got 0
  %0 = "llvm.getelementptr"(%p) <{rawConstantIndices = array<i32: -2147483648>, elem_type = f32, noWrapFlags = 0 : i32, inbounds}> : (!llvm.ptr) -> !llvm.ptr
  llvm.return
}
