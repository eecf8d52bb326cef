// RUN: gawee-opt %s --convert-to-llvm --split-input-file | filecheck %s

// CHECK-LABEL: llvm.func @functions_are_intrinsics_where_llvm_has_them
// CHECK:         llvm.intr.tanh(%x) : (f32) -> f32
// CHECK-NEXT:    llvm.intr.sqrt(%y) : (f64) -> f64
// CHECK-NEXT:    llvm.intr.pow(%x, %x) : (f32, f32) -> f32
// CHECK-NEXT:    llvm.intr.fma(%x, %x, %x) : (f32, f32, f32) -> f32
// CHECK-NEXT:    [[ROOT:%.*]] = llvm.intr.sqrt(%x) : (f32) -> f32
// CHECK-NEXT:    llvm.fdiv {{%.*}}, [[ROOT]] : f32
func.func @functions_are_intrinsics_where_llvm_has_them(%x: f32, %y: f64) {
  %a = math.tanh %x : f32
  %b = math.sqrt %y : f64
  %c = math.powf %x, %x : f32
  %d = math.fma %x, %x, %x : f32
  %e = math.rsqrt %x : f32
  return
}

// -----

// CHECK-DAG:   llvm.func @erff(f32) -> f32
// CHECK-DAG:   llvm.func @erf(f64) -> f64
// CHECK-LABEL: llvm.func @others_are_calls_of_libm_in_its_precision
// CHECK:         [[WIDE:%.*]] = llvm.fpext %h : f16 to f32
// CHECK-NEXT:    [[R:%.*]] = llvm.call @erff([[WIDE]]) : (f32) -> f32
// CHECK-NEXT:    llvm.fptrunc [[R]] : f32 to f16
// CHECK-NEXT:    llvm.call @erf(%y) : (f64) -> f64
func.func @others_are_calls_of_libm_in_its_precision(%h: f16, %y: f64) {
  %a = math.erf %h : f16
  %b = math.erf %y : f64
  return
}

// -----

// CHECK-LABEL: llvm.func @small_integer_powers_are_products
// CHECK:         [[SQUARE:%.*]] = llvm.fmul %x, %x : f32
// CHECK-NEXT:    llvm.fmul %x, [[SQUARE]] : f32
// CHECK-NEXT:    [[N:%.*]] = llvm.sitofp %n : i32 to f32
// CHECK-NEXT:    llvm.intr.pow(%x, [[N]]) : (f32, f32) -> f32
func.func @small_integer_powers_are_products(%x: f32, %n: i32) {
  %three = arith.constant 3 : i32
  %a = math.fpowi %x, %three : f32, i32
  %b = math.fpowi %x, %n : f32, i32
  return
}
