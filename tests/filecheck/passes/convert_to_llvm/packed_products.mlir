// RUN: gawee-opt -p 'convert-to-llvm{target=znver5}' --split-input-file %s | filecheck %s
// RUN: gawee-opt -p 'convert-to-llvm' --split-input-file %s | filecheck --check-prefix PLAIN %s
// RUN: gawee-opt -p 'convert-to-llvm{target=alderlake}' --split-input-file %s | filecheck --check-prefix PLAIN %s

// The scalar is taken apart before it is in every lane. A vector that is wider than those of the
// processor is computed with as it is written.
// CHECK-LABEL: llvm.func @four_bytes_are_one_instruction_where_there_is_one
// CHECK:         %y = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%s, %{{.*}}, %b)
// PLAIN-LABEL: llvm.func @four_bytes_are_one_instruction_where_there_is_one
// PLAIN-NOT:     call_intrinsic
func.func @four_bytes_are_one_instruction_where_there_is_one(%a: i32, %b: vector<16xi32>, %s: vector<16xi32>) -> vector<16xi32> {
  %c8 = arith.constant 8 : i32
  %c16 = arith.constant 16 : i32
  %c24 = arith.constant 24 : i32
  %v8 = vector.broadcast %c8 : i32 to vector<16xi32>
  %v16 = vector.broadcast %c16 : i32 to vector<16xi32>
  %v24 = vector.broadcast %c24 : i32 to vector<16xi32>
  %a0 = arith.shli %a, %c24 : i32
  %a1 = arith.shli %a, %c16 : i32
  %a2 = arith.shli %a, %c8 : i32
  %b0 = arith.shli %b, %v24 : vector<16xi32>
  %b1 = arith.shli %b, %v16 : vector<16xi32>
  %b2 = arith.shli %b, %v8 : vector<16xi32>
  %l0 = arith.shrui %a0, %c24 : i32
  %l1 = arith.shrui %a1, %c24 : i32
  %l2 = arith.shrui %a2, %c24 : i32
  %l3 = arith.shrui %a, %c24 : i32
  %w0 = vector.broadcast %l0 : i32 to vector<16xi32>
  %w1 = vector.broadcast %l1 : i32 to vector<16xi32>
  %w2 = vector.broadcast %l2 : i32 to vector<16xi32>
  %w3 = vector.broadcast %l3 : i32 to vector<16xi32>
  %r0 = arith.shrsi %b0, %v24 : vector<16xi32>
  %r1 = arith.shrsi %b1, %v24 : vector<16xi32>
  %r2 = arith.shrsi %b2, %v24 : vector<16xi32>
  %r3 = arith.shrsi %b, %v24 : vector<16xi32>
  %p0 = arith.muli %w0, %r0 : vector<16xi32>
  %p1 = arith.muli %w1, %r1 : vector<16xi32>
  %p2 = arith.muli %w2, %r2 : vector<16xi32>
  %p3 = arith.muli %w3, %r3 : vector<16xi32>
  %t1 = arith.addi %p0, %p1 : vector<16xi32>
  %t2 = arith.addi %t1, %p2 : vector<16xi32>
  %t3 = arith.addi %t2, %p3 : vector<16xi32>
  %y = arith.addi %s, %t3 : vector<16xi32>
  func.return %y : vector<16xi32>
}

// -----

// CHECK-LABEL: llvm.func @pairs_are_extended_multiplied_and_added
// CHECK:         %[[A:.*]] = llvm.bitcast %{{.*}} : vector<8xi32> to vector<16xi16>
// CHECK-NEXT:    llvm.sext %[[A]] : vector<16xi16> to vector<16xi32>
// CHECK:         %[[P:.*]] = llvm.mul %{{.*}} : vector<16xi32>
// CHECK-NEXT:    %[[E:.*]] = llvm.shufflevector %[[P]], %[[P]] [0, 2, 4, 6, 8, 10, 12, 14]
// CHECK-NEXT:    %[[O:.*]] = llvm.shufflevector %[[P]], %[[P]] [1, 3, 5, 7, 9, 11, 13, 15]
// CHECK-NEXT:    %[[T:.*]] = llvm.add %[[E]], %[[O]]
// CHECK-NEXT:    llvm.add %{{.*}}, %[[T]]
func.func @pairs_are_extended_multiplied_and_added(%a: vector<8xi32>, %b: vector<8xi32>, %s: vector<8xi32>) -> vector<8xi32> {
  %c16 = arith.constant 16 : i32
  %v16 = vector.broadcast %c16 : i32 to vector<8xi32>
  %a0 = arith.shli %a, %v16 : vector<8xi32>
  %b0 = arith.shli %b, %v16 : vector<8xi32>
  %l0 = arith.shrsi %a0, %v16 : vector<8xi32>
  %r0 = arith.shrsi %b0, %v16 : vector<8xi32>
  %l1 = arith.shrsi %a, %v16 : vector<8xi32>
  %r1 = arith.shrsi %b, %v16 : vector<8xi32>
  %p0 = arith.muli %l0, %r0 : vector<8xi32>
  %p1 = arith.muli %l1, %r1 : vector<8xi32>
  %t = arith.addi %p0, %p1 : vector<8xi32>
  %y = arith.addi %s, %t : vector<8xi32>
  func.return %y : vector<8xi32>
}

// -----

// A word of one part, and another word of the other, are no product of two words.
// CHECK-LABEL: llvm.func @parts_of_several_words_stay
// CHECK-NOT:     llvm.bitcast
// CHECK:         llvm.return
func.func @parts_of_several_words_stay(%a: vector<8xi32>, %b: vector<8xi32>, %s: vector<8xi32>) -> vector<8xi32> {
  %c16 = arith.constant 16 : i32
  %v16 = vector.broadcast %c16 : i32 to vector<8xi32>
  %a0 = arith.shli %a, %v16 : vector<8xi32>
  %b0 = arith.shli %b, %v16 : vector<8xi32>
  %l0 = arith.shrsi %a0, %v16 : vector<8xi32>
  %r0 = arith.shrsi %b0, %v16 : vector<8xi32>
  %l1 = arith.shrsi %s, %v16 : vector<8xi32>
  %r1 = arith.shrsi %b, %v16 : vector<8xi32>
  %p0 = arith.muli %l0, %r0 : vector<8xi32>
  %p1 = arith.muli %l1, %r1 : vector<8xi32>
  %t = arith.addi %p0, %p1 : vector<8xi32>
  %y = arith.addi %s, %t : vector<8xi32>
  func.return %y : vector<8xi32>
}

// -----

// CHECK-LABEL: llvm.func @bytes_are_permuted_to_words
// CHECK:         %[[L:.*]] = llvm.shufflevector %a, %b [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK-NEXT:    %[[H:.*]] = llvm.shufflevector %c, %d [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK-NEXT:    %[[A:.*]] = llvm.shufflevector %[[L]], %[[H]] [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]
// CHECK-NEXT:    llvm.bitcast %[[A]] : vector<16xi8> to vector<4xi32>
// PLAIN-LABEL: llvm.func @bytes_are_permuted_to_words
func.func @bytes_are_permuted_to_words(%a: vector<4xi8>, %b: vector<4xi8>, %c: vector<4xi8>, %d: vector<4xi8>) -> vector<4xi32> {
  %c8 = arith.constant 8 : i32
  %c16 = arith.constant 16 : i32
  %c24 = arith.constant 24 : i32
  %v8 = vector.broadcast %c8 : i32 to vector<4xi32>
  %v16 = vector.broadcast %c16 : i32 to vector<4xi32>
  %v24 = vector.broadcast %c24 : i32 to vector<4xi32>
  %wa = arith.extui %a : vector<4xi8> to vector<4xi32>
  %wb = arith.extui %b : vector<4xi8> to vector<4xi32>
  %wc = arith.extui %c : vector<4xi8> to vector<4xi32>
  %wd = arith.extui %d : vector<4xi8> to vector<4xi32>
  %sb = arith.shli %wb, %v8 : vector<4xi32>
  %sc = arith.shli %wc, %v16 : vector<4xi32>
  %sd = arith.shli %wd, %v24 : vector<4xi32>
  %ab = arith.ori %wa, %sb : vector<4xi32>
  %abc = arith.ori %ab, %sc : vector<4xi32>
  %y = arith.ori %abc, %sd : vector<4xi32>
  func.return %y : vector<4xi32>
}
