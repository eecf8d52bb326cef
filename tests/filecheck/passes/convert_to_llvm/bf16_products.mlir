// RUN: gawee-opt -p 'convert-to-llvm{target=znver5}' --split-input-file %s | filecheck %s
// RUN: gawee-opt -p 'convert-to-llvm' --split-input-file %s | filecheck --check-prefix PLAIN %s
// RUN: gawee-opt -p 'convert-to-llvm{target=icelake-server}' --split-input-file %s | filecheck --check-prefix PLAIN %s

// A pair that is the same in every lane is a word that is broadcast.
// CHECK-LABEL: llvm.func @pairs_of_bf16_are_one_instruction_where_there_is_one
// CHECK-DAG:     %[[A:.*]] = llvm.bitcast %a : vector<2xi16> to i32
// CHECK-DAG:     %[[B:.*]] = llvm.bitcast %b : vector<32xi16> to vector<16xi32>
// CHECK:         %y = llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%s, %{{.*}}, %[[B]])
// PLAIN-LABEL: llvm.func @pairs_of_bf16_are_one_instruction_where_there_is_one
// PLAIN-NOT:     call_intrinsic
func.func @pairs_of_bf16_are_one_instruction_where_there_is_one(%a: vector<2xbf16>, %b: vector<32xbf16>, %s: vector<16xf32>) -> vector<16xf32> {
  %a0 = vector.extract %a[0] : bf16 from vector<2xbf16>
  %a1 = vector.extract %a[1] : bf16 from vector<2xbf16>
  %b0 = vector.shuffle %b, %b [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30] : vector<32xbf16>, vector<32xbf16>
  %b1 = vector.shuffle %b, %b [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31] : vector<32xbf16>, vector<32xbf16>
  %wa0 = arith.extf %a0 : bf16 to f32
  %wb0 = arith.extf %b0 : vector<16xbf16> to vector<16xf32>
  %va0 = vector.broadcast %wa0 : f32 to vector<16xf32>
  %wa1 = arith.extf %a1 : bf16 to f32
  %wb1 = arith.extf %b1 : vector<16xbf16> to vector<16xf32>
  %va1 = vector.broadcast %wa1 : f32 to vector<16xf32>
  %t = math.fma %va1, %wb1, %s : vector<16xf32>
  %y = math.fma %va0, %wb0, %t : vector<16xf32>
  func.return %y : vector<16xf32>
}

// -----

// CHECK-LABEL: llvm.func @parts_of_two_pairs_are_computed
// CHECK-NOT:     call_intrinsic
func.func @parts_of_two_pairs_are_computed(%a: vector<2xbf16>, %c: vector<2xbf16>, %b: vector<32xbf16>, %s: vector<16xf32>) -> vector<16xf32> {
  %a0 = vector.extract %a[0] : bf16 from vector<2xbf16>
  %a1 = vector.extract %c[1] : bf16 from vector<2xbf16>
  %b0 = vector.shuffle %b, %b [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30] : vector<32xbf16>, vector<32xbf16>
  %b1 = vector.shuffle %b, %b [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31] : vector<32xbf16>, vector<32xbf16>
  %wa0 = arith.extf %a0 : bf16 to f32
  %wb0 = arith.extf %b0 : vector<16xbf16> to vector<16xf32>
  %va0 = vector.broadcast %wa0 : f32 to vector<16xf32>
  %wa1 = arith.extf %a1 : bf16 to f32
  %wb1 = arith.extf %b1 : vector<16xbf16> to vector<16xf32>
  %va1 = vector.broadcast %wa1 : f32 to vector<16xf32>
  %t = math.fma %va1, %wb1, %s : vector<16xf32>
  %y = math.fma %va0, %wb0, %t : vector<16xf32>
  func.return %y : vector<16xf32>
}
