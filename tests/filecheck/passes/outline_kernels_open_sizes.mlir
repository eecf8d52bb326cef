// RUN: gawee-opt %s --outline-kernels --split-input-file | filecheck %s

// Sizes that are open are arguments too, and the views that say them are made inside.
// CHECK-LABEL: func.func @main
// CHECK:         func.call @exp_0(%x, %n, %a) : (memref<?x5xf32>, index, memref<?x5xf32>) -> ()
// CHECK:         func.call @exp_0(%a, %n, %y)
// CHECK-LABEL: func.func private @exp_0
// CHECK-SAME:    ([[X:%[a-z0-9_]+]]: memref<?x5xf32>, [[N:%[a-z0-9_]+]]: index, [[A:%[a-z0-9_]+]]: memref<?x5xf32>)
// CHECK:         memref.reinterpret_cast [[X]] to offset: [0], sizes: {{\[}}[[N]], 5], strides: [5, 1]
// CHECK:         memref.reinterpret_cast [[A]] to offset: [0], sizes: {{\[}}[[N]], 5], strides: [5, 1]
// CHECK:         linalg.exp
// CHECK-NOT:   func.func private
func.func @main(%x: memref<?x5xf32> {gawee.input = "x", gawee.sizes = ["n", "-"]}, %y: memref<?x5xf32> {gawee.output = "y", gawee.sizes = ["n", "-"]}, %n: index {gawee.size = "n"}) {
  %0 = memref.reinterpret_cast %x to offset: [0], sizes: [%n, 5], strides: [5, 1] : memref<?x5xf32> to memref<?x5xf32>
  %1 = memref.reinterpret_cast %y to offset: [0], sizes: [%n, 5], strides: [5, 1] : memref<?x5xf32> to memref<?x5xf32>
  %a = memref.alloc(%n) : memref<?x5xf32>
  linalg.exp ins(%0 : memref<?x5xf32>) outs(%a : memref<?x5xf32>)
  linalg.exp ins(%a : memref<?x5xf32>) outs(%1 : memref<?x5xf32>)
  func.return
}
