// RUN: gawee-opt %s --split-input-file --plan-memory --cse | filecheck %s

// What is not alive at the same time shares a place: the sizes of places are computed of names.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %workspace: memref<?xi8> {gawee.workspace})
// CHECK:         [[BYTES:%[0-9]+]] = arith.muli %c20, %n : index
// CHECK:         [[MORE:%[0-9]+]] = arith.addi [[BYTES]], %c63 : index
// CHECK:         [[LINES:%[0-9]+]] = arith.divui [[MORE]], %c64 : index
// CHECK:         [[PLACE:%[0-9]+]] = arith.muli [[LINES]], %c64 : index
// CHECK:         [[SECOND:%[0-9]+]] = arith.addi %c64, [[PLACE]] : index
// CHECK:         %s = memref.view %workspace[%c0][] : memref<?xi8> to memref<3xf32>
// CHECK:         %a = memref.view %workspace[%c64][%n] : memref<?xi8> to memref<?x5xf32>
// CHECK:         %b = memref.view %workspace{{\[}}[[SECOND]]][%n] : memref<?xi8> to memref<?x5xf32>
// CHECK:         linalg.exp ins(%b : memref<?x5xf32>) outs(%a : memref<?x5xf32>)
// CHECK-LABEL: func.func @main_workspace_size(%n: index {gawee.size = "n"}) -> index
// CHECK:         func.return %{{[0-9]+}} : index
func.func @main(%x: memref<?x5xf32> {gawee.input = "x", gawee.sizes = ["n", "-"]}, %y: memref<?x5xf32> {gawee.output = "y", gawee.sizes = ["n", "-"]}, %n: index {gawee.size = "n"}) attributes {gawee.ranges = {n = "1 to 9"}} {
  %one = arith.constant 1.0 : f32
  %s = memref.alloc() : memref<3xf32>
  linalg.fill ins(%one : f32) outs(%s : memref<3xf32>)
  %a = memref.alloc(%n) : memref<?x5xf32>
  linalg.exp ins(%x : memref<?x5xf32>) outs(%a : memref<?x5xf32>)
  %b = memref.alloc(%n) : memref<?x5xf32>
  linalg.exp ins(%a : memref<?x5xf32>) outs(%b : memref<?x5xf32>)
  %c = memref.alloc(%n) : memref<?x5xf32>
  linalg.exp ins(%b : memref<?x5xf32>) outs(%c : memref<?x5xf32>)
  linalg.exp ins(%c : memref<?x5xf32>) outs(%y : memref<?x5xf32>)
  func.return
}

// -----

// Buffers are compared at the greatest sizes: squares are the largest there, and share one place. At 8 rows they would be the smallest, and
// each would lie where a row is later.
// CHECK-LABEL: func.func @main
// CHECK:         %s = memref.view %workspace[%c0][%n, %n] : memref<?xi8> to memref<?x?xf32>
// CHECK-NOT:     memref.view {{.*}} to memref<?x?xf32>
// CHECK-LABEL: func.func @main_workspace_size
func.func @main(%x: memref<?x40xf32> {gawee.input = "x", gawee.sizes = ["n", "-"]}, %y: memref<?x40xf32> {gawee.output = "y", gawee.sizes = ["n", "-"]}, %n: index {gawee.size = "n"}) attributes {gawee.ranges = {n = "1 to 64"}} {
  %s = memref.alloc(%n, %n) : memref<?x?xf32>
  "test.op"(%x, %s) : (memref<?x40xf32>, memref<?x?xf32>) -> ()
  %a = memref.alloc(%n) : memref<?x40xf32>
  "test.op"(%s, %a) : (memref<?x?xf32>, memref<?x40xf32>) -> ()
  %t = memref.alloc(%n, %n) : memref<?x?xf32>
  "test.op"(%a, %t) : (memref<?x40xf32>, memref<?x?xf32>) -> ()
  %b = memref.alloc(%n) : memref<?x40xf32>
  "test.op"(%t, %b) : (memref<?x?xf32>, memref<?x40xf32>) -> ()
  %u = memref.alloc(%n, %n) : memref<?x?xf32>
  "test.op"(%b, %u) : (memref<?x40xf32>, memref<?x?xf32>) -> ()
  %c = memref.alloc(%n) : memref<?x40xf32>
  "test.op"(%u, %c) : (memref<?x?xf32>, memref<?x40xf32>) -> ()
  "test.op"(%a, %b, %c, %y) : (memref<?x40xf32>, memref<?x40xf32>, memref<?x40xf32>, memref<?x40xf32>) -> ()
  func.return
}
