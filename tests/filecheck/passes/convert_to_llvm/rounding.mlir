// RUN: gawee-opt -p 'convert-to-llvm{target=znver5}' --split-input-file %s | filecheck %s
// RUN: gawee-opt -p 'convert-to-llvm{target=znver3}' --split-input-file %s | filecheck --check-prefix NARROW %s
// RUN: gawee-opt -p 'convert-to-llvm{target=apple-m1}' --split-input-file %s | filecheck --check-prefix PLAIN %s

// CHECK-LABEL: llvm.func @one_instruction_rounds_to_integers
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512.mask.cvtps2dq.512"(%x, %{{.*}}, %{{.*}}, %{{.*}})
// NARROW-LABEL: llvm.func @one_instruction_rounds_to_integers
// NARROW:        llvm.fptosi
// PLAIN-LABEL: llvm.func @one_instruction_rounds_to_integers
// PLAIN:         llvm.fptosi
func.func @one_instruction_rounds_to_integers(%x: vector<16xf32>) -> vector<16xi32> {
  %0 = math.roundeven %x : vector<16xf32>
  %y = arith.fptosi %0 : vector<16xf32> to vector<16xi32>
  func.return %y : vector<16xi32>
}

// -----

// CHECK-LABEL: llvm.func @of_half_as_many_lanes_too
// CHECK:         llvm.call_intrinsic "llvm.x86.avx.cvt.ps2dq.256"(%x)
// NARROW-LABEL: llvm.func @of_half_as_many_lanes_too
// NARROW:        llvm.call_intrinsic "llvm.x86.avx.cvt.ps2dq.256"(%x)
func.func @of_half_as_many_lanes_too(%x: vector<8xf32>) -> vector<8xi32> {
  %0 = math.roundeven %x : vector<8xf32>
  %y = arith.fptosi %0 : vector<8xf32> to vector<8xi32>
  func.return %y : vector<8xi32>
}

// -----

// CHECK-LABEL: llvm.func @other_integers_are_made_of_rounded_floats
// CHECK:         llvm.fptosi {{.*}} to vector<16xi16>
func.func @other_integers_are_made_of_rounded_floats(%x: vector<16xf32>) -> vector<16xi16> {
  %0 = math.roundeven %x : vector<16xf32>
  %y = arith.fptosi %0 : vector<16xf32> to vector<16xi16>
  func.return %y : vector<16xi16>
}
