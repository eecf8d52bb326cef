// RUN: not gawee-opt --distribute-batch %s 2>&1 | filecheck %s

// CHECK: distribute_batch_invalid.mlir:8:3: error: 'scf.for' op cannot be shared among threads: expected parts that are counted from 0 by 1
func.func @parts_are_counted_from_one(%x: memref<30xf32>, %y: memref<5x30xf32>) {
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  // A hand-written loop.
  scf.for %part = %c1 to %c5 step %c1 {
    %s = memref.subview %y[%part, 0] [1, 30] [1, 1] : memref<5x30xf32> to memref<30xf32, strided<[1], offset: ?>>
    linalg.exp ins(%x : memref<30xf32>) outs(%s : memref<30xf32, strided<[1], offset: ?>>)
  } {gawee.scan, gawee.batch, gawee.threads = 2 : i64}
  func.return
}
