// RUN: not gawee-opt %s 2>&1 | filecheck %s

// All problems of a file are told at once.
func.func @slices_and_elements(%x: tensor<5x3xf32>, %y: tensor<4x2xf32>, %m: memref<5x3xf32>, %v: f32, %i: index) {
  // CHECK: static_bounds_invalid.mlir:6:3: error: 'tensor.extract_slice' op expected offset 2, size 4 and stride 1 to stay in axis 0 of size 5
  %0 = tensor.extract_slice %x[2, 0] [4, 3] [1, 1] : tensor<5x3xf32> to tensor<4x3xf32>
  // CHECK: error: 'tensor.insert_slice' op expected offset 1, size 2 and stride 2 to stay in axis 1 of size 3
  %1 = tensor.insert_slice %y into %x[0, 1] [4, 2] [1, 2] : tensor<4x2xf32> into tensor<5x3xf32>
  %c3 = arith.constant 3 : index
  %c-1 = arith.constant -1 : index
  // CHECK: error: 'tensor.extract' op expected index 3 to stay in axis 1 of size 3
  %2 = tensor.extract %x[%i, %c3] : tensor<5x3xf32>
  // CHECK: error: 'tensor.insert' op expected index -1 to stay in axis 0 of size 5
  %3 = tensor.insert %v into %x[%c-1, %i] : tensor<5x3xf32>
  // CHECK: error: 'memref.load' op expected index 3 to stay in axis 1 of size 3
  %4 = memref.load %m[%c3, %c3] : memref<5x3xf32>
  // CHECK: error: 'memref.store' op expected index -1 to stay in axis 0 of size 5
  memref.store %v, %m[%c-1, %i] : memref<5x3xf32>
  func.return
}

func.func @axes_are_joined_in_groups(%x: tensor<2x3x5xf32>, %y: tensor<6x5xf32>) {
  // CHECK: error: 'tensor.collapse_shape' op expected 2 groups of the axes 0 to 2 in order, got {{\[\[}}0, 1], [2, 3]]
  %0 = tensor.collapse_shape %x [[0, 1], [2, 3]] : tensor<2x3x5xf32> into tensor<6x5xf32>
  // CHECK: error: 'tensor.collapse_shape' op expected size 6 of axis 0, the product of [2, 3], got 7
  %1 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x3x5xf32> into tensor<7x5xf32>
  // CHECK: error: 'tensor.expand_shape' op expected 2 groups of the axes 0 to 2 in order, got {{\[\[}}1, 2], [3]]
  %2 = tensor.expand_shape %y [[1, 2], [3]] output_shape [2, 3, 5] : tensor<6x5xf32> into tensor<2x3x5xf32>
  func.return
}

func.func @a_scalar_is_one_element(%x: tensor<1x7xf32>) {
  // CHECK: error: 'tensor.collapse_shape' op expected size 7 of axis 0, the product of [1, 7], got 1
  %0 = tensor.collapse_shape %x [] : tensor<1x7xf32> into tensor<f32>
  func.return
}

llvm.func @a_marker_has_an_index(%p: !llvm.ptr) {
  // CHECK: error: 'llvm.getelementptr' op expected 1 dynamic indices, got 0
  %0 = "llvm.getelementptr"(%p) <{rawConstantIndices = array<i32: -2147483648>, elem_type = f32, noWrapFlags = 0 : i32, inbounds}> : (!llvm.ptr) -> !llvm.ptr
  llvm.return
}

func.func @what_is_inside_passes(%x: tensor<5x3xf32>, %n: tensor<?x3xf32>, %i: index) {
  // CHECK-NOT: error
  %0 = tensor.extract_slice %x[3, 0] [2, 3] [1, 1] : tensor<5x3xf32> to tensor<2x3xf32>
  %1 = tensor.extract_slice %n[9, 0] [2, 3] [1, 1] : tensor<?x3xf32> to tensor<2x3xf32>
  %2 = tensor.extract_slice %x[%i, 0] [2, 3] [1, 1] : tensor<5x3xf32> to tensor<2x3xf32>
  %3 = tensor.extract_slice %x[3, 1] [1, 1] [1, 1] : tensor<5x3xf32> to tensor<1x1xf32>
  %4 = tensor.collapse_shape %3 [] : tensor<1x1xf32> into tensor<f32>
  func.return
}
