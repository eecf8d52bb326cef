// RUN: ROUNDTRIP

// CHECK-LABEL: llvm.func @intrinsics_that_xdsl_lacks
// CHECK:         llvm.intr.maximum(%x, %x) {fastmathFlags = #llvm.fastmath<nnan>} : (f32, f32) -> f32
// CHECK-NEXT:    llvm.intr.tanh(%x) : (f32) -> f32
// CHECK-NEXT:    llvm.intr.umin(%n, %n) : (i64, i64) -> i64
// CHECK-NEXT:    llvm.fptoui %x : f32 to i8
// CHECK-NEXT:    "llvm.intr.memcpy"(%p, %p, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
// CHECK-NEXT:    "llvm.intr.prefetch"(%p) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}> : (!llvm.ptr) -> ()
llvm.func @intrinsics_that_xdsl_lacks(%x: f32, %n: i64, %p: !llvm.ptr) {
  %a = llvm.intr.maximum(%x, %x) {fastmathFlags = #llvm.fastmath<nnan>} : (f32, f32) -> f32
  %b = llvm.intr.tanh(%x) : (f32) -> f32
  %c = llvm.intr.umin(%n, %n) : (i64, i64) -> i64
  %d = llvm.fptoui %x : f32 to i8
  "llvm.intr.memcpy"(%p, %p, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  "llvm.intr.prefetch"(%p) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}> : (!llvm.ptr) -> ()
  llvm.return
}

// CHECK-LABEL: llvm.func @loop_annotations
// CHECK:         llvm.br ^{{.*}} {loop_annotation = #llvm.loop_annotation<vectorize = <disable = false, width = 8 : i32>, unroll = <full = true>>}
llvm.func @loop_annotations() {
  llvm.br ^head
^head:
  llvm.br ^head {loop_annotation = #llvm.loop_annotation<vectorize = <disable = false, width = 8 : i32>, unroll = <full = true>>}
}
