// RUN: gawee-opt -p 'convert-to-llvm{target=znver5}' --split-input-file %s | filecheck %s
// RUN: gawee-opt -p 'convert-to-llvm' --split-input-file %s | filecheck --check-prefix PLAIN %s
// RUN: gawee-opt -p 'convert-to-llvm{target=znver3}' --split-input-file %s | filecheck --check-prefix PLAIN %s

// The permutation reads no other bits of its index.
// CHECK-LABEL: llvm.func @four_bits_of_a_word_are_looked_up
// CHECK-DAG:     %[[TABLE:.*]] = llvm.mlir.constant(dense<[-8.000000e+00, -7.000000e+00, -6.000000e+00, -5.000000e+00, -4.000000e+00, -3.000000e+00, -2.000000e+00, -1.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 6.000000e+00, 7.000000e+00]> : vector<16xf32>)
// CHECK-DAG:     %[[INDEX:.*]] = llvm.lshr %w, %{{.*}} : vector<16xi32>
// CHECK:         %y = llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"(%[[TABLE]], %[[INDEX]])
// PLAIN-LABEL: llvm.func @four_bits_of_a_word_are_looked_up
// PLAIN-NOT:     call_intrinsic
func.func @four_bits_of_a_word_are_looked_up(%w: vector<16xi32>) -> vector<16xf32> {
  %c = arith.constant 240 : i32
  %f = arith.constant 0.0625 : f32
  %m = arith.constant -8.0 : f32
  %cv = vector.broadcast %c : i32 to vector<16xi32>
  %fv = vector.broadcast %f : f32 to vector<16xf32>
  %mv = vector.broadcast %m : f32 to vector<16xf32>
  %i = arith.andi %w, %cv : vector<16xi32>
  %n = arith.sitofp %i : vector<16xi32> to vector<16xf32>
  %y = math.fma %n, %fv, %mv : vector<16xf32>
  func.return %y : vector<16xf32>
}

// -----

// The highest one is the sign: as integers, these bits are -8 to 7 times 2^28.
// CHECK-LABEL: llvm.func @the_highest_bits_have_a_sign
// CHECK:         llvm.mlir.constant(dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 6.000000e+00, 7.000000e+00, -8.000000e+00, -7.000000e+00,
// CHECK:         call_intrinsic
func.func @the_highest_bits_have_a_sign(%w: vector<16xi32>) -> vector<16xf32> {
  %c = arith.constant -268435456 : i32
  %f = arith.constant 3.7252902984619140625e-09 : f32
  %cv = vector.broadcast %c : i32 to vector<16xi32>
  %fv = vector.broadcast %f : f32 to vector<16xf32>
  %i = arith.andi %w, %cv : vector<16xi32>
  %n = arith.sitofp %i : vector<16xi32> to vector<16xf32>
  %y = arith.mulf %n, %fv : vector<16xf32>
  func.return %y : vector<16xf32>
}

// -----

// 15 and a tenth are multiplied as they are added up: with a rounding that a table would not have.
// CHECK-LABEL: llvm.func @what_rounds_is_computed
// CHECK:         %n = llvm.call_intrinsic
// CHECK:         %y = llvm.fmul %n
func.func @what_rounds_is_computed(%w: vector<16xi32>) -> vector<16xf32> {
  %c = arith.constant 15 : i32
  %f = arith.constant 0.1 : f32
  %cv = vector.broadcast %c : i32 to vector<16xi32>
  %fv = vector.broadcast %f : f32 to vector<16xf32>
  %i = arith.andi %w, %cv : vector<16xi32>
  %n = arith.sitofp %i : vector<16xi32> to vector<16xf32>
  %y = arith.mulf %n, %fv : vector<16xf32>
  func.return %y : vector<16xf32>
}

// -----

// CHECK-LABEL: llvm.func @five_bits_are_computed
// CHECK-NOT:     call_intrinsic
func.func @five_bits_are_computed(%w: vector<16xi32>) -> vector<16xf32> {
  %c = arith.constant 31 : i32
  %cv = vector.broadcast %c : i32 to vector<16xi32>
  %i = arith.andi %w, %cv : vector<16xi32>
  %y = arith.sitofp %i : vector<16xi32> to vector<16xf32>
  func.return %y : vector<16xf32>
}

// -----

// Bits that are turned before are turned in the table.
// CHECK-LABEL: llvm.func @turned_bits_are_other_places_of_the_table
// CHECK:         llvm.mlir.constant(dense<[8.000000e+00, 9.000000e+00, 1.000000e+01, 1.100000e+01, 1.200000e+01, 1.300000e+01, 1.400000e+01, 1.500000e+01, 0.000000e+00, 1.000000e+00,
// CHECK:         call_intrinsic "llvm.x86.avx512.permvar.sf.512"(%{{.*}}, %w)
func.func @turned_bits_are_other_places_of_the_table(%w: vector<16xi32>) -> vector<16xf32> {
  %c = arith.constant 15 : i32
  %t = arith.constant 24 : i32
  %cv = vector.broadcast %c : i32 to vector<16xi32>
  %tv = vector.broadcast %t : i32 to vector<16xi32>
  %x = arith.xori %w, %tv : vector<16xi32>
  %i = arith.andi %x, %cv : vector<16xi32>
  %y = arith.sitofp %i : vector<16xi32> to vector<16xf32>
  func.return %y : vector<16xf32>
}
