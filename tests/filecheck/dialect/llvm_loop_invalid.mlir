// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: error: expected 'vectorize.disable' to be true or false, got 'f32'
llvm.func @a_switch_is_a_truth() {
  llvm.br ^head
^head:
  llvm.br ^head {loop_annotation = #llvm.loop_annotation<vectorize = <disable = f32>>}
}

// -----

// CHECK: error: expected 'unroll.count' to be a number of i32, got 'true'
llvm.func @a_count_is_a_number() {
  llvm.br ^head
^head:
  llvm.br ^head {loop_annotation = #llvm.loop_annotation<unroll = <count = true>>}
}
