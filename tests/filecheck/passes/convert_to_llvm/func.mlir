// RUN: gawee-opt %s --convert-to-llvm --split-input-file | filecheck %s

// CHECK-LABEL: llvm.func @pointers_say_what_is_known_of_them
// CHECK-SAME:    %x: !llvm.ptr {gawee.input = "x", gawee.type = memref<3x5xf32>, llvm.noalias, llvm.align = 4 : i64, llvm.nonnull, llvm.dereferenceable = 60 : i64, llvm.readonly}
// CHECK-SAME:    %p: !llvm.ptr {gawee.prepared = "0", gawee.type = memref<2xf32>, llvm.noalias, llvm.align = 64 : i64, llvm.nonnull, llvm.dereferenceable = 8 : i64, llvm.readonly}
// CHECK-SAME:    %y: !llvm.ptr {gawee.output = "y", gawee.type = memref<f64>, llvm.noalias, llvm.align = 8 : i64, llvm.nonnull, llvm.dereferenceable = 8 : i64}
// CHECK-SAME:    %work: !llvm.ptr {gawee.workspace, gawee.type = memref<0xi8>, llvm.noalias, llvm.align = 64 : i64, llvm.readonly}
func.func @pointers_say_what_is_known_of_them(
    %x: memref<3x5xf32> {gawee.input = "x"}, %p: memref<2xf32> {gawee.prepared = "0"},
    %y: memref<f64> {gawee.output = "y"}, %work: memref<0xi8> {gawee.workspace}) {
  %one = arith.constant 1.0 : f64
  memref.store %one, %y[] : memref<f64>
  return
}

// -----

// CHECK-LABEL: llvm.func @what_a_callee_writes_is_updated
// CHECK-SAME:    %a: !llvm.ptr {gawee.updated = "a",
// CHECK-SAME:    %b: !llvm.ptr {gawee.input = "b",
// CHECK:         llvm.call @callee(%a, %b) : (!llvm.ptr, !llvm.ptr) -> ()
// CHECK-LABEL: llvm.func internal @callee
// CHECK-NOT:     gawee
func.func @what_a_callee_writes_is_updated(%a: memref<2xf32>, %b: memref<2xf32>) {
  func.call @callee(%a, %b) : (memref<2xf32>, memref<2xf32>) -> ()
  return
}
func.func private @callee(%a: memref<2xf32>, %b: memref<2xf32>) {
  "memref.copy"(%b, %a) : (memref<2xf32>, memref<2xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: llvm.func @entry(
// CHECK-LABEL: llvm.func @entry_packed(%args: !llvm.ptr {llvm.noalias, llvm.readonly}) {
// CHECK:         [[PLACE:%.*]] = llvm.getelementptr inbounds %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
// CHECK-NEXT:    [[COUNT:%.*]] = llvm.load [[PLACE]] : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT:    [[N:%.*]] = llvm.load [[COUNT]] : !llvm.ptr -> i64
// CHECK-NEXT:    llvm.call @entry({{%.*}}, [[N]]) : (!llvm.ptr, i64) -> ()
func.func @entry(%a: memref<2xf32>, %n: index) {
  return
}

// -----

// CHECK-LABEL: llvm.func @cosf(f32) -> f32
// CHECK-LABEL: llvm.func @a_call_returns_a_scalar
// CHECK:         %[[C:.*]] = llvm.call @cosf(%{{.*}}) : (f32) -> f32
// CHECK:         %[[S:.*]] = llvm.call @square(%[[C]]) : (f32) -> f32
// CHECK:         llvm.store %[[S]], %m
// CHECK-LABEL: llvm.func internal @square(%a: f32) -> f32
// CHECK:         llvm.return %{{.*}} : f32
func.func private @cosf(f32) -> f32
func.func @a_call_returns_a_scalar(%m: memref<f32>) {
  %v = memref.load %m[] : memref<f32>
  %c = func.call @cosf(%v) : (f32) -> f32
  %s = func.call @square(%c) : (f32) -> f32
  memref.store %s, %m[] : memref<f32>
  return
}
func.func private @square(%a: f32) -> f32 {
  %0 = arith.mulf %a, %a : f32
  return %0 : f32
}

// -----

// CHECK-LABEL: llvm.func @a_function_calls_itself
// CHECK:         llvm.call @a_function_calls_itself(%x)
func.func @a_function_calls_itself(%x: memref<3xf32>) {
  func.call @a_function_calls_itself(%x) : (memref<3xf32>) -> ()
  func.return
}
