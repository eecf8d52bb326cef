// RUN: gawee-opt %s --convert-to-llvm | filecheck %s

// A block may come before one that dominates it in the text.
// CHECK-LABEL: llvm.func @blocks_keep_their_arguments
// CHECK:         llvm.br ^[[FIRST:.*]](%n : i64)
// CHECK-NEXT:  ^[[FIRST]](%i: i64):
// CHECK-NEXT:    llvm.cond_br %c, ^[[FIRST]](%i : i64), ^[[LAST:.*]](%i, %c : i64, i1)
// CHECK-NEXT:  ^[[LAST]](%j: i64, %d: i1):
// CHECK-NEXT:    llvm.return
func.func @blocks_keep_their_arguments(%n: index, %c: i1) {
  cf.br ^first(%n : index)
^last(%j: index, %d: i1):
  return
^first(%i: index):
  cf.cond_br %c, ^first(%i : index), ^last(%i, %c : index, i1)
}
