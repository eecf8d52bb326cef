// RUN: gawee-opt %s --convert-to-llvm --split-input-file --verify-diagnostics | filecheck %s

// CHECK: invalid.mlir:8:3: error: 'memref.alloc' op cannot be removed by convert-to-llvm: no rule is for it
// CHECK-NEXT: hint: plan-memory puts buffers into one workspace; --gawee-to-loops runs it
// CHECK: invalid.mlir:9:3: error: 'math.ctpop' op cannot be removed by convert-to-llvm: no rule is for it
// CHECK-NEXT: hint: docs/tutorial/new_op.md shows how an op of one's own is lowered
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
// CHECK-NEXT: hint: the module is at level gawee, on tensors: next is level linalg, and --gawee-to-llvm runs all passes from there to here
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

// -----

// CHECK: error: 'linalg.fill' op cannot be removed by convert-to-llvm: no rule is for it
// CHECK-NEXT: hint: lower-linalg-to-loops makes loops of it; --gawee-to-loops runs all passes up to it
func.func @structured_ops_are_loops_before(%m: memref<3x5xf32>, %v: f32) {
  linalg.fill ins(%v : f32) outs(%m : memref<3x5xf32>)
  return
}

// -----

// CHECK: error: 'gawee.kernel' op cannot be removed by convert-to-llvm: no rule is for it
// CHECK-NEXT: hint: lower-kernels-to-loops makes loops of it; --gawee-to-loops runs all passes up to it
func.func @kernels_are_loops_before(%x: memref<5xf32>, %y: memref<5xf32>) {
  gawee.kernel parallel [5] ins(%x : memref<5xf32>) outs(%y) maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] finish {
  ^bb0(%a: f32):
    gawee.yield %a : f32
  } : memref<5xf32>
  return
}

// -----

// CHECK: error: 'affine.apply' op cannot be removed by convert-to-llvm: no rule is for it
// CHECK-NEXT: hint: lower-affine makes arithmetic of it
func.func @maps_are_arithmetic_before(%i: index) {
  %j = affine.apply affine_map<(d0) -> (d0 * 3)> (%i)
  return
}

// -----

// CHECK: error: 'tensor.splat' op cannot be removed by convert-to-llvm: no rule is for it
// CHECK-NEXT: hint: it is on tensors: bufferize puts these into buffers; --gawee-to-loops goes on
func.func @tensors_inside_are_bufferized_before(%v: f32) {
  %t = tensor.splat %v : tensor<5xf32>
  return
}
