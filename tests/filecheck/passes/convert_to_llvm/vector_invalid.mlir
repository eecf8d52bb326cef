// RUN: gawee-opt %s --convert-to-llvm --split-input-file --verify-diagnostics | filecheck %s

// CHECK: error: 'arith.constant' op cannot be removed by convert-to-llvm: expected a vector of rank 1 and fixed size, got 'vector<2x4xf32>'
func.func @vectors_have_rank_1() {
  %v = arith.constant dense<0.0> : vector<2x4xf32>
  return
}

// -----

// CHECK: error: 'vector.load' op cannot be removed by convert-to-llvm: expected rows of adjacent elements, got 'memref<4x8xf32, strided<[1, 4]>>'
func.func @lanes_lie_side_by_side(%x: memref<4x8xf32, strided<[1, 4]>>, %i: index) {
  %v = vector.load %x[%i, %i] : memref<4x8xf32, strided<[1, 4]>>, vector<4xf32>
  return
}

// -----

// CHECK: error: 'memref.load' op cannot be removed by convert-to-llvm: expected vectors of 2^n bytes in memory, got 'vector<3xf32>' (12 bytes)
func.func @vectors_in_memory_are_not_padded(%i: index) {
  %m = memref.alloca() : memref<4xvector<3xf32>>
  %v = memref.load %m[%i] : memref<4xvector<3xf32>>
  return
}

// -----

// CHECK: error: 'vector.reduction' op cannot be removed by convert-to-llvm: unsupported reduction <xor> of 'vector<4xf32>'
func.func @floats_have_no_bits_to_combine(%x: memref<4xf32>, %i: index) {
  %v = vector.load %x[%i] : memref<4xf32>, vector<4xf32>
  %r = vector.reduction <xor>, %v : vector<4xf32> into f32
  return
}

// -----

// CHECK: error: 'vector.reduction' op cannot be removed by convert-to-llvm: unsupported reduction <xor> of 'vector<3x4xi32>'
func.func @rows_are_not_reduced_to_a_scalar(%x: memref<3x4xi32>, %i: index) {
  %v = vector.load %x[%i, %i] : memref<3x4xi32>, vector<3x4xi32>
  %r = vector.reduction <xor>, %v : vector<3x4xi32> into i32
  return
}

// -----

// CHECK: error: 'scf.for' op cannot be removed by convert-to-llvm: expected gawee.unroll to be "full" or a positive integer, got "twice"
func.func @unrolling_is_full_or_a_count(%n: index, %s: index) {
  scf.for %i = %n to %n step %s {
  } {gawee.unroll = "twice"}
  return
}

// -----

// CHECK: error: 'scf.for' op cannot be removed by convert-to-llvm: expected either gawee.unroll or loop_annotation, got both
func.func @one_request_a_loop(%n: index, %s: index) {
  scf.for %i = %n to %n step %s {
  } {gawee.unroll = "full", loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
  return
}

// -----

// CHECK: error: 'vector.broadcast' op cannot be removed by convert-to-llvm: expected a scalar, got 'vector<1xf32>'
func.func @only_scalars_are_broadcast(%x: memref<4xf32>, %i: index) {
  %v = vector.load %x[%i] : memref<4xf32>, vector<1xf32>
  %w = vector.broadcast %v : vector<1xf32> to vector<4xf32>
  return
}

// -----

// CHECK: error: 'memref.global' op cannot be removed by convert-to-llvm: expected elements that are scalars, got 'memref<2xvector<4xf32>>'
"memref.global"() <{sym_name = "table", sym_visibility = "private", type = memref<2xvector<4xf32>>, initial_value}> : () -> ()
