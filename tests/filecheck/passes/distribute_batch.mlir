// RUN: gawee-opt --distribute-batch --split-input-file %s | filecheck %s

// %c takes the place of %a, which is dead: 256 bytes for each thread, one behind the other.
// CHECK-LABEL: func.func @each_thread_takes_parts_and_has_buffers
// CHECK:         %[[ALL:.*]] = memref.alloc() : memref<512xi8>
// CHECK:         %[[FIRST:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[TWO:.*]] = arith.constant 2 : index
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT:    "scf.parallel"(%[[FIRST]], %[[TWO]], %[[ONE]])
// CHECK-NEXT:    ^bb0(%[[THREAD:.*]]: index):
// CHECK-NEXT:      %[[SIZE:.*]] = arith.constant 256 : index
// CHECK-NEXT:      %[[START:.*]] = arith.muli %[[THREAD]], %[[SIZE]] : index
// CHECK-NEXT:      %[[OWN:.*]] = memref.view %[[ALL]][%[[START]]][] : memref<512xi8> to memref<256xi8>
// CHECK-NEXT:      %[[PARTS:.*]] = arith.constant 7 : index
// CHECK-NEXT:      %[[STEP:.*]] = arith.constant 2 : index
// CHECK-NEXT:      scf.for %part = %[[THREAD]] to %[[PARTS]] step %[[STEP]] {
// CHECK:             %[[A:.*]] = arith.constant 0 : index
// CHECK-NEXT:        %a = memref.view %[[OWN]][%[[A]]][] : memref<256xi8> to memref<30xf32>
// CHECK:             %[[B:.*]] = arith.constant 128 : index
// CHECK-NEXT:        %b = memref.view %[[OWN]][%[[B]]][]
// CHECK:             %[[C:.*]] = arith.constant 0 : index
// CHECK-NEXT:        %c = memref.view %[[OWN]][%[[C]]][]
// CHECK:           } {gawee.scan, gawee.batch}
// CHECK-NEXT:      scf.reduce
func.func @each_thread_takes_parts_and_has_buffers(%x: memref<30xf32>, %y: memref<7x30xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  scf.for %part = %c0 to %c7 step %c1 {
    %a = memref.alloc() : memref<30xf32>
    linalg.exp ins(%x : memref<30xf32>) outs(%a : memref<30xf32>)
    %b = memref.alloc() : memref<30xf32>
    linalg.exp ins(%a : memref<30xf32>) outs(%b : memref<30xf32>)
    %c = memref.alloc() : memref<30xf32>
    linalg.exp ins(%b : memref<30xf32>) outs(%c : memref<30xf32>)
    %s = memref.subview %y[%part, 0] [1, 30] [1, 1] : memref<7x30xf32> to memref<30xf32, strided<[1], offset: ?>>
    linalg.exp ins(%c : memref<30xf32>) outs(%s : memref<30xf32, strided<[1], offset: ?>>)
  } {gawee.scan, gawee.batch, gawee.threads = 2 : i64}
  func.return
}

// -----

// CHECK-LABEL: func.func @parts_without_buffers_need_no_memory
// CHECK-NOT:     memref.alloc
// CHECK:         "scf.parallel"
// CHECK:           arith.constant 5 : index
// CHECK-NEXT:      arith.constant 3 : index
func.func @parts_without_buffers_need_no_memory(%x: memref<30xf32>, %y: memref<5x30xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  scf.for %part = %c0 to %c5 step %c1 {
    %s = memref.subview %y[%part, 0] [1, 30] [1, 1] : memref<5x30xf32> to memref<30xf32, strided<[1], offset: ?>>
    linalg.exp ins(%x : memref<30xf32>) outs(%s : memref<30xf32, strided<[1], offset: ?>>)
  } {gawee.scan, gawee.batch, gawee.threads = 3 : i64}
  func.return
}

// -----

// CHECK-LABEL: func.func @parts_one_after_the_other_stay_so
// CHECK-NOT:     scf.parallel
// CHECK:         scf.for
// CHECK-NEXT:      memref.alloc
func.func @parts_one_after_the_other_stay_so(%x: memref<30xf32>, %y: memref<5x30xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  scf.for %part = %c0 to %c5 step %c1 {
    %a = memref.alloc() : memref<30xf32>
    linalg.exp ins(%x : memref<30xf32>) outs(%a : memref<30xf32>)
    %s = memref.subview %y[%part, 0] [1, 30] [1, 1] : memref<5x30xf32> to memref<30xf32, strided<[1], offset: ?>>
    linalg.exp ins(%a : memref<30xf32>) outs(%s : memref<30xf32, strided<[1], offset: ?>>)
  } {gawee.scan, gawee.batch}
  func.return
}
