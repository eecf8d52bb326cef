// RUN: gawee-opt %s --convert-to-llvm --split-input-file | filecheck %s

// A view's sizes say its strides; what its type leaves open, LLVM is told nothing of.
// CHECK-LABEL: llvm.func @main
// CHECK-SAME:    (%w: !llvm.ptr {gawee.workspace, gawee.type = memref<?xi8>, llvm.noalias, llvm.align = 64 : i64, llvm.readonly},
// CHECK-SAME:     %n: i64 {gawee.size = "n", gawee.type = index}, %i: i64
// CHECK:         [[ROW:%[0-9]+]] = llvm.mul %n, %{{.*}} overflow<nsw> : i64
// CHECK:         [[FROM:%[0-9]+]] = llvm.mul %i, [[ROW]] overflow<nsw> : i64
// CHECK:         [[AT:%[0-9]+]] = llvm.add [[FROM]], %i overflow<nsw> : i64
// CHECK:         llvm.getelementptr inbounds %{{.*}}{{\[}}[[AT]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
func.func @main(%w: memref<?xi8> {gawee.workspace}, %n: index {gawee.size = "n"}, %i: index) {
  %c0 = arith.constant 0 : index
  %v = memref.view %w[%c0][%n, %n] : memref<?xi8> to memref<?x?x3xf32>
  %x = memref.load %v[%i, %c0, %i] : memref<?x?x3xf32>
  func.return
}

// -----

// A row of a view goes from where it begins, as far apart as the view's rows are.
// CHECK-LABEL: llvm.func internal @rows
// CHECK:         [[FROM:%[0-9]+]] = llvm.mul %i, %s overflow<nsw> : i64
// CHECK:         llvm.getelementptr inbounds %x{{\[}}[[FROM]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
func.func private @rows(%x: memref<?x?xf32>, %n: index, %s: index, %i: index) {
  %c0 = arith.constant 0 : index
  %v = memref.reinterpret_cast %x to offset: [0], sizes: [%n, %n], strides: [%s, 1] : memref<?x?xf32> to memref<?x?xf32>
  %r = memref.subview %v[%i, 0] [1, %n] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
  %e = memref.load %r[%c0, %c0] : memref<1x?xf32, strided<[?, 1], offset: ?>>
  func.return
}
