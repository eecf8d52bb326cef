// RUN: gawee-opt --convert-to-llvm %s | filecheck %s

// CHECK-LABEL: llvm.func @bf16_is_the_upper_half_of_an_f32
// CHECK:         %[[H:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i16
// CHECK-NEXT:    %[[Z:.*]] = llvm.zext %[[H]] : i16 to i32
// CHECK-NEXT:    %[[U:.*]] = llvm.shl %[[Z]], %{{.*}} : i32
// CHECK-NEXT:    %[[F:.*]] = llvm.bitcast %[[U]] : i32 to f32
// CHECK-NEXT:    llvm.store %[[F]]
func.func @bf16_is_the_upper_half_of_an_f32(%x: memref<bf16>, %y: memref<f32>) {
  %h = memref.load %x[] : memref<bf16>
  %f = arith.extf %h : bf16 to f32
  memref.store %f, %y[] : memref<f32>
  return
}

// CHECK-LABEL: llvm.func @arithmetic_is_done_in_f32_and_rounded
// CHECK:         llvm.fadd %{{.*}}, %{{.*}} : vector<4xf32>
// CHECK:         %[[NAN:.*]] = llvm.fcmp "uno"
// CHECK:         %[[BITS:.*]] = llvm.select %[[NAN]]
// CHECK-NEXT:    %[[HALF:.*]] = llvm.trunc %[[BITS]] : vector<4xi32> to vector<4xi16>
// CHECK-NEXT:    llvm.store %[[HALF]]
func.func @arithmetic_is_done_in_f32_and_rounded(%x: memref<4xbf16>) {
  %c0 = arith.constant 0 : index
  %v = vector.load %x[%c0] : memref<4xbf16>, vector<4xbf16>
  %c = arith.constant dense<1.5> : vector<4xbf16>
  %s = arith.addf %v, %c : vector<4xbf16>
  vector.store %s, %x[%c0] : memref<4xbf16>, vector<4xbf16>
  return
}
