// RUN: gawee-opt %s --verify-diagnostics | filecheck %s

// CHECK: unsupported setting 'unroll.twice'; supported: vectorize.disable, vectorize.width, interleave.count, unroll.disable, unroll.count, unroll.full
llvm.func @unknown_settings_of_a_loop_are_named() {
  llvm.br ^head
^head:
  llvm.br ^head {loop_annotation = #llvm.loop_annotation<unroll = <twice = true>>}
}
