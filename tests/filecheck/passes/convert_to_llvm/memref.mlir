// RUN: gawee-opt %s --convert-to-llvm --split-input-file | filecheck %s

// CHECK-LABEL: llvm.func @layouts_fold_into_index_arithmetic
// CHECK:         [[S:%.*]] = llvm.mlir.constant(15) : i64
// CHECK:         [[ROW:%.*]] = llvm.mul %i, [[S]] overflow<nsw> : i64
// CHECK-NEXT:    [[AT:%.*]] = llvm.add [[ROW]], %j overflow<nsw> : i64
// CHECK-NEXT:    [[ALL:%.*]] = llvm.add [[AT]], {{%.*}} overflow<nsw> : i64
// CHECK-NEXT:    [[P:%.*]] = llvm.getelementptr inbounds %x[[[ALL]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:    llvm.load [[P]] : !llvm.ptr -> f32
func.func @layouts_fold_into_index_arithmetic(%x: memref<2x3x5xf32>, %i: index, %j: index) {
  %c2 = arith.constant 2 : index
  %v = memref.load %x[%i, %c2, %j] : memref<2x3x5xf32>
  return
}

// -----

// CHECK-LABEL: llvm.func @rows_behind_each_other_need_no_division
// CHECK-NOT:     llvm.udiv
// CHECK-NOT:     llvm.urem
// CHECK:         [[AT:%.*]] = llvm.getelementptr inbounds %x[%n] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<3 x f32>
// CHECK-NEXT:    [[P:%.*]] = llvm.getelementptr inbounds [[AT]][7] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-NEXT:    llvm.load [[P]] : !llvm.ptr -> f32
func.func @rows_behind_each_other_need_no_division(%x: memref<4x5x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c18 = arith.constant 18 : index
  scf.for %n = %c0 to %c18 step %c1 {
    %m = arith.addi %n, %c2 : index
    %row = arith.divui %m, %c5 : index
    %column = arith.remui %m, %c5 : index
    %v = memref.load %x[%row, %column, %c1] : memref<4x5x3xf32>
  }
  return
}

// -----

// CHECK-LABEL: llvm.func @rows_apart_from_each_other_are_divided
// CHECK:         llvm.udiv
// CHECK:         llvm.urem
func.func @rows_apart_from_each_other_are_divided(%x: memref<4x6x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c20 = arith.constant 20 : index
  scf.for %n = %c0 to %c20 step %c1 {
    %row = arith.divui %n, %c5 : index
    %column = arith.remui %n, %c5 : index
    %v = memref.load %x[%row, %column, %c1] : memref<4x6x3xf32>
  }
  return
}

// -----

// CHECK-LABEL: llvm.func @a_row_in_front_of_the_first_is_divided
// CHECK:         llvm.udiv
// CHECK:         llvm.urem
func.func @a_row_in_front_of_the_first_is_divided(%x: memref<4x5x3xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c20 = arith.constant 20 : index
  scf.for %n = %c2 to %c20 step %c1 {
    %m = arith.subi %n, %c2 : index
    %row = arith.divui %m, %c5 : index
    %column = arith.remui %m, %c5 : index
    %v = memref.load %x[%row, %column, %c1] : memref<4x5x3xf32>
  }
  return
}

// -----

// CHECK-LABEL: llvm.func @views_are_pointers_further_on
// CHECK:         %v = llvm.getelementptr inbounds %w[128] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK-NEXT:    %s = llvm.getelementptr inbounds %v[14] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-NEXT:    [[P:%.*]] = llvm.getelementptr inbounds %s[15] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-NEXT:    llvm.load [[P]] : !llvm.ptr -> f32
func.func @views_are_pointers_further_on(%w: memref<512xi8>) {
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %v = memref.view %w[%c128][] : memref<512xi8> to memref<4x12xf32>
  %s = memref.subview %v[1, 2] [2, 4] [1, 3] : memref<4x12xf32> to memref<2x4xf32, strided<[12, 3], offset: 14>>
  %r = memref.load %s[%c1, %c1] : memref<2x4xf32, strided<[12, 3], offset: 14>>
  return
}

// -----

// CHECK-LABEL: llvm.func @bits_are_stored_as_bytes
// CHECK:         [[B:%.*]] = llvm.load %m : !llvm.ptr -> i8
// CHECK-NEXT:    %x = llvm.icmp "ne" [[B]], {{%.*}} : i8
// CHECK-NEXT:    [[Z:%.*]] = llvm.zext %x : i1 to i8
// CHECK-NEXT:    llvm.store [[Z]], %m : i8, !llvm.ptr
func.func @bits_are_stored_as_bytes(%m: memref<i1>) {
  %x = memref.load %m[] : memref<i1>
  memref.store %x, %m[] : memref<i1>
  return
}

// -----

// CHECK-LABEL: llvm.func @stack_buffers_are_in_the_entry_block
// CHECK:         %s = llvm.alloca {{%.*}} x !llvm.array<6 x f32> {alignment = 64 : i64} : (i64) -> !llvm.ptr
// CHECK:         llvm.br
// CHECK-LABEL: llvm.func @stack_buffers_are_in_the_entry_block_packed
func.func @stack_buffers_are_in_the_entry_block(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %s = memref.alloca() : memref<2x3xf32>
    memref.store %x, %s[%c0, %c1] : memref<2x3xf32>
  }
  return
}

// -----

// CHECK-LABEL: llvm.func @copies_move_what_is_contiguous_at_once
// CHECK:         [[BYTES:%.*]] = llvm.mlir.constant(24) : i64
// CHECK:         ^[[LOOP:.*]]([[I:%.*]]: i64):
// CHECK:         "llvm.intr.memcpy"({{%.*}}, {{%.*}}, [[BYTES]]) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
// CHECK:         llvm.br ^[[LOOP]]
func.func @copies_move_what_is_contiguous_at_once(
    %a: memref<4x2x3xf32, strided<[10, 3, 1]>>, %b: memref<4x2x3xf32>) {
  "memref.copy"(%a, %b) : (memref<4x2x3xf32, strided<[10, 3, 1]>>, memref<4x2x3xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: llvm.func @globals_are_flat_and_aligned
// CHECK:         llvm.mlir.addressof @table : !llvm.ptr
// CHECK:       llvm.mlir.global private constant @table(dense<[1, 0, 1]> : tensor<3xi8>) {{.*}}alignment = 64 : i64{{.*}} : !llvm.array<3 x i8>
func.func @globals_are_flat_and_aligned() {
  %t = memref.get_global @table : memref<3x1xi1>
  return
}
"memref.global"() <{sym_name = "table", sym_visibility = "private", constant, type = memref<3x1xi1>, initial_value = dense<[[true], [false], [true]]> : tensor<3x1xi1>}> : () -> ()

// -----

// A pointer that may be outside says nothing of bounds.
// CHECK-LABEL: llvm.func @a_prefetch_is_of_a_pointer_that_may_be_outside
// CHECK:         [[S:%.*]] = llvm.mul %i, {{%.*}} overflow<nsw> : i64
// CHECK-NEXT:    [[AT:%.*]] = llvm.add [[S]], {{%.*}} overflow<nsw> : i64
// CHECK-NEXT:    [[P:%.*]] = llvm.getelementptr %m[[[AT]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:    "llvm.intr.prefetch"([[P]]) <{rw = 0 : i32, hint = 2 : i32, cache = 1 : i32}> : (!llvm.ptr) -> ()
// CHECK-NEXT:    [[Q:%.*]] = llvm.getelementptr %m[70] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-NEXT:    "llvm.intr.prefetch"([[Q]]) <{rw = 1 : i32, hint = 0 : i32, cache = 0 : i32}> : (!llvm.ptr) -> ()
func.func @a_prefetch_is_of_a_pointer_that_may_be_outside(%m: memref<4x7xf32>, %i: index) {
  %c9 = arith.constant 9 : index
  %c7 = arith.constant 7 : index
  memref.prefetch %m[%i, %c9], read, locality<2>, data : memref<4x7xf32>
  memref.prefetch %m[%c9, %c7], write, locality<0>, instr : memref<4x7xf32>
  return
}

// -----

// Of three accesses in two loops, one step each is made: a constant away is no arithmetic.
// CHECK-LABEL: llvm.func @an_address_is_reached_by_a_step_for_each_loop
// CHECK:         llvm.cond_br
// CHECK:         [[ROW:%.*]] = llvm.getelementptr inbounds %m[%i] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<6 x f32>
// CHECK:         llvm.cond_br
// CHECK:         [[P:%.*]] = llvm.getelementptr inbounds [[ROW]][%j] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:    %a = llvm.load [[P]] : !llvm.ptr -> f32
// CHECK-NEXT:    [[Q:%.*]] = llvm.getelementptr inbounds [[P]][8] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-NEXT:    llvm.store %a, [[Q]] : f32, !llvm.ptr
// CHECK-NEXT:    llvm.store %a, [[P]] : f32, !llvm.ptr
func.func @an_address_is_reached_by_a_step_for_each_loop(%m: memref<9x6xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %a = memref.load %m[%i, %j] : memref<9x6xf32>
      %k = arith.addi %i, %c1 : index
      %l = arith.addi %j, %c2 : index
      memref.store %a, %m[%k, %l] : memref<9x6xf32>
      memref.store %a, %m[%i, %j] : memref<9x6xf32>
    }
  }
  return
}

// -----

// A place on the way would be outside of the buffer, which inbounds says it is not.
// CHECK-LABEL: llvm.func @what_may_be_negative_is_added_up_first
// CHECK:         %k = llvm.add %i, {{%.*}} : i64
// CHECK-NEXT:    [[S:%.*]] = llvm.mul %k, {{%.*}} overflow<nsw> : i64
// CHECK-NEXT:    [[AT:%.*]] = llvm.add [[S]], %j overflow<nsw> : i64
// CHECK-NEXT:    llvm.getelementptr inbounds %m[[[AT]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
func.func @what_may_be_negative_is_added_up_first(%m: memref<9x6xf32>, %j: index) -> f32 {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %back = arith.constant -1 : index
  scf.for %i = %c1 to %c4 step %c1 {
    %k = arith.addi %i, %back : index
    %a = memref.load %m[%k, %j] : memref<9x6xf32>
    memref.store %a, %m[%c1, %c1] : memref<9x6xf32>
  }
  %b = memref.load %m[%c1, %c1] : memref<9x6xf32>
  return %b : f32
}

// -----

// CHECK-LABEL: llvm.func @a_step_stays_behind_the_branch_that_may_pass_over_it
// CHECK:         llvm.cond_br %c, ^[[THEN:.*]], ^{{.*}}
// CHECK-NEXT:  ^[[THEN]]:
// CHECK-NEXT:    [[P:%.*]] = llvm.getelementptr inbounds %m[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:    llvm.br
// CHECK:         llvm.store %x, [[P]] : f32, !llvm.ptr
func.func @a_step_stays_behind_the_branch_that_may_pass_over_it(%m: memref<9xf32>, %c: i1, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    scf.if %c {
      scf.for %j = %c0 to %c4 step %c1 {
        memref.store %x, %m[%i] : memref<9xf32>
      }
    }
  }
  return
}
