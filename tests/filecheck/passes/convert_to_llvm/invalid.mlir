// RUN: gawee-opt %s --convert-to-llvm --split-input-file --verify-diagnostics | filecheck %s

// CHECK: invalid.mlir:6:3: error: 'memref.alloc' op cannot be removed by convert-to-llvm: no rule is for it
// CHECK: invalid.mlir:7:3: error: 'math.ctpop' op cannot be removed by convert-to-llvm: no rule is for it
func.func @every_op_without_a_rule_is_listed(%n: i32) {
  %a = memref.alloc() : memref<3xf32>
  %b = math.ctpop %n : i32
  %c = arith.addi %b, %b : i32
  return
}

// -----

// CHECK: error: 'func.func' op cannot be removed by convert-to-llvm: expected a static shape, got 'memref<?xf32>'
func.func @shapes_are_static(%m: memref<?xf32>, %i: index) {
  %v = memref.load %m[%i] : memref<?xf32>
  return
}

// -----

// CHECK: error: 'func.func' op cannot be removed by convert-to-llvm: unsupported type 'tensor<3xf32>'; supported: memref, vector, index, iN, f16, bf16, f32, f64
func.func @tensors_are_bufferized_before(%t: tensor<3xf32>) {
  return
}

// -----

// CHECK: error: 'func.func' op cannot be removed by convert-to-llvm: expected at most one scalar result, got 'memref<3xf32>'
func.func @buffers_are_not_results(%m: memref<3xf32>) -> memref<3xf32> {
  return %m : memref<3xf32>
}

// -----

// CHECK: error: 'memref.subview' op cannot be removed by convert-to-llvm: expected static strides, got 'memref<2xf32, strided<[?]>>'
func.func @strides_are_static(%m: memref<9xf32>, %s: index) {
  %v = memref.subview %m[0] [2] [%s] : memref<9xf32> to memref<2xf32, strided<[?]>>
  return
}
