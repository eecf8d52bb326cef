// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: error: 'memref.subview' op expected 3 offsets, got 2
func.func @a_box_of_another_rank(%x: memref<3x5x16xf32>) {
  %s = memref.subview %x[2, 0] [3, 16] [1, 1] : memref<3x5x16xf32> to memref<3x16xf32, strided<[16, 1], offset: 32>>
  func.return
}

// -----

// CHECK: error: 'memref.load' op expected 2 strides in 'memref<3x5xf32, strided<[1]>>', got 1
func.func @a_layout_of_another_rank(%x: memref<3x5xf32, strided<[1]>>, %i: index) {
  %e = memref.load %x[%i, %i] : memref<3x5xf32, strided<[1]>>
  func.return
}

// -----

// CHECK: error: 'memref.load' op expected an index for each dimension
func.func @an_index_is_missing(%x: memref<3x5xf32>, %i: index) {
  %e = "memref.load"(%x, %i) : (memref<3x5xf32>, index) -> f32
  func.return
}

// -----

// CHECK: error: 'tensor.extract' op expected 2 indices, got 1
func.func @an_index_of_a_tensor_is_missing(%x: tensor<3x5xf32>, %i: index) {
  %e = tensor.extract %x[%i] : tensor<3x5xf32>
  func.return
}

// -----

// CHECK: error: 'tensor.empty' op expected 1 dynamic sizes, got 0
func.func @a_size_is_missing() {
  %e = tensor.empty() : tensor<3x?xf32>
  func.return
}

// -----

// CHECK: error: 'scf.parallel' op expected a positive step, got 0
func.func @a_loop_stands_still(%n: index) {
  %c0 = arith.constant 0 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c0) {
    scf.reduce
  }
  func.return
}

// -----

// CHECK: error: 'linalg.generic' op expected at least one output
func.func @nothing_is_written(%x: memref<5xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : memref<5xf32>) {
  ^bb0(%a: f32):
    linalg.yield
  }
  func.return
}

// -----

// CHECK: error: 'linalg.generic' op expected a body that yields 1 values, got 2
func.func @a_body_yields_more(%x: memref<5xf32>, %y: memref<5xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : memref<5xf32>) outs(%y : memref<5xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a, %b : f32, f32
  }
  func.return
}

// -----

// CHECK: error: 'linalg.index' op expected an index of one of 1 loops, got 1
func.func @an_index_of_no_loop(%y: memref<5xindex>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : memref<5xindex>) {
  ^bb0(%a: index):
    %i = linalg.index 1 : index
    linalg.yield %i : index
  }
  func.return
}

// -----

// CHECK: error: 'llvm.getelementptr' op expected 2 dynamic indices, got 1
llvm.func @indices_that_are_operands(%p: !llvm.ptr, %i: i64) {
  %e = "llvm.getelementptr"(%p, %i) <{elem_type = !llvm.array<4 x f32>, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: -2147483648, -2147483648>}> : (!llvm.ptr, i64) -> !llvm.ptr
  llvm.return
}
