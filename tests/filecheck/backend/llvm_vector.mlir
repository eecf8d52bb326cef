// RUN: ROUNDTRIP

// CHECK-LABEL: llvm.func @ops_on_vectors_that_xdsl_lacks
// CHECK:         %m = llvm.fcmp "olt" %x, %x {fastmathFlags = #llvm.fastmath<nnan>} : vector<4xf32>
// CHECK-NEXT:    %s = llvm.select %m, %x, %x : vector<4xi1>, vector<4xf32>
// CHECK-NEXT:    %e = llvm.extractelement %s[%i : i64] : vector<4xf32>
// CHECK-NEXT:    %l = llvm.intr.masked.load %p, %m, %x {alignment = 4 : i32} : (!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
// CHECK-NEXT:    llvm.intr.masked.store %n, %p, %m {alignment = 4 : i32} : vector<4xi32>, vector<4xi1> into !llvm.ptr
// CHECK-NEXT:    %a = llvm.intr.vector.reduce.fmax(%x) : (vector<4xf32>) -> f32
// CHECK-NEXT:    %b = "llvm.intr.vector.reduce.umin"(%n) : (vector<4xi32>) -> i32
llvm.func @ops_on_vectors_that_xdsl_lacks(%x: vector<4xf32>, %n: vector<4xi32>, %i: i64, %p: !llvm.ptr) {
  %m = llvm.fcmp "olt" %x, %x {fastmathFlags = #llvm.fastmath<nnan>} : vector<4xf32>
  %s = llvm.select %m, %x, %x : vector<4xi1>, vector<4xf32>
  %e = llvm.extractelement %s[%i : i64] : vector<4xf32>
  %l = llvm.intr.masked.load %p, %m, %x {alignment = 4 : i32} : (!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
  llvm.intr.masked.store %n, %p, %m {alignment = 4 : i32} : vector<4xi32>, vector<4xi1> into !llvm.ptr
  %a = llvm.intr.vector.reduce.fmax(%x) : (vector<4xf32>) -> f32
  %b = "llvm.intr.vector.reduce.umin"(%n) : (vector<4xi32>) -> i32
  llvm.return
}
