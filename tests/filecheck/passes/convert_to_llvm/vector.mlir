// RUN: gawee-opt %s --convert-to-llvm --split-input-file | filecheck %s

// CHECK-LABEL: llvm.func @rows_are_read_and_written_at_the_alignment_of_an_element
// CHECK:         %v = llvm.load {{%.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
// CHECK-NEXT:    [[P:%.*]] = llvm.getelementptr inbounds %y[{{%.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:    llvm.store %v, [[P]] {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
func.func @rows_are_read_and_written_at_the_alignment_of_an_element(
    %x: memref<3x40xf32>, %y: memref<40xf32>, %i: index) {
  %v = vector.load %x[%i, %i] : memref<3x40xf32>, vector<16xf32>
  vector.store %v, %y[%i] : memref<40xf32>, vector<16xf32>
  return
}

// -----

// CHECK-LABEL: llvm.func @masks_compare_the_numbers_of_the_lanes
// CHECK:         llvm.intr.smin(%n, {{%.*}}) : (i64, i64) -> i64
// CHECK:         %mask = llvm.icmp "slt" {{%.*}}, {{%.*}} : vector<4xi32>
// CHECK:         %v = llvm.call_intrinsic "llvm.masked.load.v4f32.p0"(%x, %mask, %p) {arg_attrs = [{llvm.align = 4 : i64}, {}, {}]} : (!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
// CHECK-NEXT:    llvm.call_intrinsic "llvm.masked.store.v4f32.p0"(%v, %x, %mask) {arg_attrs = [{}, {llvm.align = 4 : i64}, {}]} : (vector<4xf32>, !llvm.ptr, vector<4xi1>) -> ()
func.func @masks_compare_the_numbers_of_the_lanes(%x: memref<9xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %p = arith.constant dense<[0.0, 1.0, 2.0, 3.0]> : vector<4xf32>
  %mask = vector.create_mask %n : vector<4xi1>
  %v = vector.maskedload %x[%c0], %mask, %p : memref<9xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  vector.maskedstore %x[%c0], %mask, %v : memref<9xf32>, vector<4xi1>, vector<4xf32>
  return
}

// -----

// CHECK-LABEL: llvm.func @lanes_are_made_moved_and_combined
// CHECK:         %v = llvm.shufflevector {{%.*}}, {{%.*}} [0, 0, 0, 0] : vector<4xf32>
// CHECK-NEXT:    %w = llvm.intr.fma(%v, %v, %two) : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
// CHECK-NEXT:    %e = llvm.extractelement %w[%i : i64] : vector<4xf32>
// CHECK-NEXT:    %u = llvm.insertelement %e, %w[{{%.*}} : i64] : vector<4xf32>
// CHECK-NEXT:    %r = llvm.shufflevector %u, %v [3, 4] : vector<4xf32>
// CHECK-NEXT:    %m = llvm.intr.vector.reduce.fmaximum(%r) : (vector<2xf32>) -> f32
func.func @lanes_are_made_moved_and_combined(%x: memref<f32>, %i: index) {
  %s = memref.load %x[] : memref<f32>
  %c2 = arith.constant 2.0 : f32
  %two = vector.broadcast %c2 : f32 to vector<4xf32>
  %v = vector.broadcast %s : f32 to vector<4xf32>
  %w = vector.fma %v, %v, %two : vector<4xf32>
  %e = vector.extract %w[%i] : f32 from vector<4xf32>
  %u = vector.insert %e, %w [1] : f32 into vector<4xf32>
  %r = vector.shuffle %u, %v [3, 4] : vector<4xf32>, vector<4xf32>
  %m = vector.reduction <maximumf>, %r : vector<2xf32> into f32
  memref.store %m, %x[] : memref<f32>
  return
}

// -----

// A stack buffer of vectors is aligned for them; small loops over it are unrolled by LLVM, which
// then keeps it in registers.
// CHECK-LABEL: llvm.func @accumulators_are_vectors_on_the_stack
// CHECK:         %acc = llvm.alloca {{%.*}} x !llvm.array<6 x vector<16xf32>> {alignment = 64 : i64} : (i64) -> !llvm.ptr
// CHECK:         llvm.store %zero, {{%.*}} {alignment = 64 : i64} : vector<16xf32>, !llvm.ptr
// CHECK:         llvm.br ^{{.*}} {loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
// CHECK:         llvm.br ^{{.*}} {loop_annotation = #llvm.loop_annotation<unroll = <count = 2 : i32>>}
func.func @accumulators_are_vectors_on_the_stack(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %acc = memref.alloca() : memref<3x2xvector<16xf32>>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      memref.store %zero, %acc[%j, %c1] : memref<3x2xvector<16xf32>>
    } {gawee.unroll = "full"}
  } {gawee.unroll = 2 : i64}
  return
}

// -----

// CHECK-LABEL: llvm.func @libm_is_called_lane_by_lane
// CHECK:         [[A:%.*]] = llvm.extractelement %v[{{%.*}} : i64] : vector<2xf32>
// CHECK-NEXT:    [[B:%.*]] = llvm.call @erff([[A]]) : (f32) -> f32
// CHECK-NEXT:    [[C:%.*]] = llvm.insertelement [[B]], {{%.*}}[{{%.*}} : i64] : vector<2xf32>
func.func @libm_is_called_lane_by_lane(%x: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %v = vector.load %x[%c0] : memref<2xf32>, vector<2xf32>
  %e = math.erf %v : vector<2xf32>
  vector.store %e, %x[%c0] : memref<2xf32>, vector<2xf32>
  return
}
