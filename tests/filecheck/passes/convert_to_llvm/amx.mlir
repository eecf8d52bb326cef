// RUN: gawee-opt -p 'convert-to-llvm{target=sapphirerapids}' %s | filecheck %s

// Each instruction says the rows and bytes of its tiles; loops carry tiles in registers.
// CHECK-LABEL: llvm.func @tiles_stay_in_registers
// CHECK-DAG:     %[[ROWS:.*]] = llvm.mlir.constant(7 : i16) : i16
// CHECK-DAG:     %[[BYTES:.*]] = llvm.mlir.constant(64 : i16) : i16
// CHECK-DAG:     %[[COLUMNS:.*]] = llvm.mlir.constant(12 : i16) : i16
// CHECK-DAG:     %[[WORDS:.*]] = llvm.mlir.constant(16 : i16) : i16
// CHECK-DAG:     %[[APART:.*]] = llvm.mlir.constant(96) : i64
// CHECK-DAG:     %[[BEHIND:.*]] = llvm.mlir.constant(20) : i64
// CHECK:         %z = llvm.call_intrinsic "llvm.x86.tilezero.internal"(%[[ROWS]], %[[COLUMNS]]) : (i16, i16) -> !llvm.x86_amx
// CHECK:         ^[[HEAD:.*]](%k: i64, %c: !llvm.x86_amx):
// CHECK:         %a = llvm.call_intrinsic "llvm.x86.tileloadd64.internal"(%[[ROWS]], %[[BYTES]], %{{.*}}, %[[APART]])
// CHECK:         %b = llvm.call_intrinsic "llvm.x86.tileloadd64.internal"(%[[WORDS]], %[[COLUMNS]], %{{.*}}, %{{.*}})
// CHECK:         %d = llvm.call_intrinsic "llvm.x86.tdpbusd.internal"(%[[ROWS]], %[[COLUMNS]], %[[BYTES]], %c, %a, %b)
// CHECK:         llvm.br ^[[HEAD]](%{{.*}}, %d : i64, !llvm.x86_amx)
// CHECK:         llvm.call_intrinsic "llvm.x86.tilestored64.internal"(%[[ROWS]], %[[COLUMNS]], %{{.*}}, %[[BEHIND]], %c)
func.func @tiles_stay_in_registers(%x: memref<40x24xi32>, %y: memref<900xi8>, %o: memref<9x5xi32>, %s: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = amx.tile_zero : !amx.tile<7x3xi32>
  %r = scf.for %k = %c0 to %c3 step %c1 iter_args(%c = %z) -> (!amx.tile<7x3xi32>) {
    %a = amx.tile_load %x[%k, %c1] : memref<40x24xi32> into !amx.tile<7x64xi8>
    %b = amx.tile_load %y[%k], %s : memref<900xi8> into !amx.tile<16x12xi8>
    %d = amx.tile_muli %a zext, %b, %c : !amx.tile<7x64xi8>, !amx.tile<16x12xi8>, !amx.tile<7x3xi32>
    scf.yield %d : !amx.tile<7x3xi32>
  }
  amx.tile_store %o[%c1, %c1], %r : memref<9x5xi32>, !amx.tile<7x3xi32>
  return
}

// CHECK-LABEL: llvm.func @signs
// CHECK:         "llvm.x86.tdpbssd.internal"
// CHECK:         "llvm.x86.tdpbsud.internal"
// CHECK:         "llvm.x86.tdpbuud.internal"
// CHECK:         "llvm.x86.tdpbf16ps.internal"
func.func @signs(%o: memref<9x5xi32>, %p: memref<9x5xf32>) {
  %c0 = arith.constant 0 : index
  %a = amx.tile_zero : !amx.tile<7x16xi8>
  %b = amx.tile_zero : !amx.tile<4x20xi8>
  %c = amx.tile_zero : !amx.tile<7x5xi32>
  %0 = amx.tile_muli %a, %b, %c : !amx.tile<7x16xi8>, !amx.tile<4x20xi8>, !amx.tile<7x5xi32>
  %1 = amx.tile_muli %a, %b zext, %0 : !amx.tile<7x16xi8>, !amx.tile<4x20xi8>, !amx.tile<7x5xi32>
  %2 = amx.tile_muli %a zext, %b zext, %1 : !amx.tile<7x16xi8>, !amx.tile<4x20xi8>, !amx.tile<7x5xi32>
  amx.tile_store %o[%c0, %c0], %2 : memref<9x5xi32>, !amx.tile<7x5xi32>
  %f = amx.tile_zero : !amx.tile<7x8xbf16>
  %g = amx.tile_zero : !amx.tile<4x10xbf16>
  %h = amx.tile_zero : !amx.tile<7x5xf32>
  %3 = amx.tile_mulf %f, %g, %h : !amx.tile<7x8xbf16>, !amx.tile<4x10xbf16>, !amx.tile<7x5xf32>
  amx.tile_store %p[%c0, %c0], %3 : memref<9x5xf32>, !amx.tile<7x5xf32>
  return
}
