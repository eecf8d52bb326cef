// RUN: gawee-opt --coalesce-copies %s | filecheck %s

// Where a part of an open size ends is not known: it is copied, also to the first place of the whole.
// CHECK-LABEL: func.func @main
// CHECK: %part = memref.alloc(%n) : memref<?xf32>
// CHECK: %whole = memref.alloc({{.*}}) : memref<?xf32>
// CHECK: "memref.copy"(%part, %{{.*}})
func.func @main(%x: memref<?xf32> {gawee.input = "x", gawee.sizes = ["n"]}, %y: memref<?xf32> {gawee.output = "y", gawee.sizes = ["2 * n"]}, %n: index {gawee.size = "n"}) {
  %two = arith.constant 2 : index
  %both = arith.muli %n, %two : index
  %part = memref.alloc(%n) : memref<?xf32>
  "memref.copy"(%x, %part) : (memref<?xf32>, memref<?xf32>) -> ()
  %whole = memref.alloc(%both) : memref<?xf32>
  %first = memref.subview %whole[0] [%n] [1] : memref<?xf32> to memref<?xf32, strided<[1]>>
  "memref.copy"(%part, %first) : (memref<?xf32>, memref<?xf32, strided<[1]>>) -> ()
  %second = memref.subview %whole[%n] [%n] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
  "memref.copy"(%x, %second) : (memref<?xf32>, memref<?xf32, strided<[1], offset: ?>>) -> ()
  "memref.copy"(%whole, %y) : (memref<?xf32>, memref<?xf32>) -> ()
  func.return
}
