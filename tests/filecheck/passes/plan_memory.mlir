// RUN: gawee-opt --plan-memory --split-input-file %s | filecheck %s

// %a is dead when %c is written, so both take offset 0; %b is alive beside each of them.
// CHECK-LABEL: func.func @dead_buffer_lends_its_place
// CHECK-SAME:  %[[W:[^:]*]]: memref<256xi8> {gawee.workspace}
// CHECK:         %[[ZERO:[^ ]*]] = arith.constant 0 : index
// CHECK:         %a = memref.view %[[W]][%[[ZERO]]][] : memref<256xi8> to memref<30xf32>
// CHECK:         %[[B:[^ ]*]] = arith.constant 128 : index
// CHECK:         %b = memref.view %[[W]][%[[B]]][] : memref<256xi8> to memref<30xf32>
// CHECK:         %[[C:[^ ]*]] = arith.constant 0 : index
// CHECK:         %c = memref.view %[[W]][%[[C]]][] : memref<256xi8> to memref<30xf32>
func.func @dead_buffer_lends_its_place(%x: memref<30xf32>, %y: memref<30xf32>) {
  %a = memref.alloc() : memref<30xf32>
  linalg.exp ins(%x : memref<30xf32>) outs(%a : memref<30xf32>)
  %b = memref.alloc() : memref<30xf32>
  linalg.exp ins(%a : memref<30xf32>) outs(%b : memref<30xf32>)
  %c = memref.alloc() : memref<30xf32>
  linalg.exp ins(%b : memref<30xf32>) outs(%c : memref<30xf32>)
  linalg.exp ins(%c : memref<30xf32>) outs(%y : memref<30xf32>)
  func.return
}

// -----

// A view keeps its buffer alive: %b may not take %a's place.
// CHECK-LABEL: func.func @view_keeps_a_buffer_alive
// CHECK-SAME:  memref<128xi8> {gawee.workspace}
// CHECK:         arith.constant 0 : index
// CHECK:         arith.constant 64 : index
func.func @view_keeps_a_buffer_alive(%x: memref<2x3xf32>, %y: memref<6xf32>) {
  %a = memref.alloc() : memref<2x3xf32>
  linalg.exp ins(%x : memref<2x3xf32>) outs(%a : memref<2x3xf32>)
  %v = memref.collapse_shape %a [[0, 1]] : memref<2x3xf32> into memref<6xf32>
  %b = memref.alloc() : memref<2x3xf32>
  linalg.exp ins(%x : memref<2x3xf32>) outs(%b : memref<2x3xf32>)
  linalg.exp ins(%v : memref<6xf32>) outs(%y : memref<6xf32>)
  func.return
}

// -----

// CHECK-LABEL: func.func @function_without_buffers_gets_an_empty_workspace
// CHECK-SAME:  memref<0xi8> {gawee.workspace}
func.func @function_without_buffers_gets_an_empty_workspace(%x: memref<4xf32>, %y: memref<4xf32>) {
  linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  func.return
}

// -----

// %bytes, 128 of them, take offset 0, and their views begin there and 64 later; %a is behind them.
// CHECK-LABEL: func.func @views_of_allocated_bytes_are_placed_with_them
// CHECK-SAME:  %[[W:[^:]*]]: memref<256xi8> {gawee.workspace}
// CHECK:         %[[B:[^ ]*]] = arith.constant 64 : index
// CHECK:         %b = memref.view %[[W]][%[[B]]][] : memref<256xi8> to memref<16xf32>
// CHECK:         %[[C:[^ ]*]] = arith.constant 0 : index
// CHECK:         %c = memref.view %[[W]][%[[C]]][] : memref<256xi8> to memref<30xf32>
// CHECK:         %[[A:[^ ]*]] = arith.constant 128 : index
// CHECK:         %a = memref.view %[[W]][%[[A]]][] : memref<256xi8> to memref<30xf32>
// CHECK-NOT:     memref.alloc
func.func @views_of_allocated_bytes_are_placed_with_them(%x: memref<30xf32>, %v: memref<16xf32>, %y: memref<30xf32>) {
  %bytes = memref.alloc() : memref<128xi8>
  %c64 = arith.constant 64 : index
  %b = memref.view %bytes[%c64][] : memref<128xi8> to memref<16xf32>
  linalg.exp ins(%v : memref<16xf32>) outs(%b : memref<16xf32>)
  %c0 = arith.constant 0 : index
  %c = memref.view %bytes[%c0][] : memref<128xi8> to memref<30xf32>
  %a = memref.alloc() : memref<30xf32>
  linalg.exp ins(%x : memref<30xf32>) outs(%a : memref<30xf32>)
  linalg.add ins(%a, %c : memref<30xf32>, memref<30xf32>) outs(%y : memref<30xf32>)
  func.return
}

// -----

// In the loop over a batch %a is dead when %c is written; %all is alive in all of the loop.
// CHECK-LABEL: func.func @buffers_of_a_part_share_memory
// CHECK-SAME:  %[[W:[^:]*]]: memref<512xi8> {gawee.workspace}
// CHECK:         %all = memref.view %[[W]][%{{.*}}][] : memref<512xi8> to memref<2x30xf32>
// CHECK:         scf.for
// CHECK:           %[[A:[^ ]*]] = arith.constant 256 : index
// CHECK:           %a = memref.view %[[W]][%[[A]]][]
// CHECK:           %[[B:[^ ]*]] = arith.constant 384 : index
// CHECK:           %b = memref.view %[[W]][%[[B]]][]
// CHECK:           %[[C:[^ ]*]] = arith.constant 256 : index
// CHECK:           %c = memref.view %[[W]][%[[C]]][]
func.func @buffers_of_a_part_share_memory(%x: memref<30xf32>, %y: memref<2x30xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %all = memref.alloc() : memref<2x30xf32>
  scf.for %part = %c0 to %c2 step %c1 {
    %a = memref.alloc() : memref<30xf32>
    linalg.exp ins(%x : memref<30xf32>) outs(%a : memref<30xf32>)
    %b = memref.alloc() : memref<30xf32>
    linalg.exp ins(%a : memref<30xf32>) outs(%b : memref<30xf32>)
    %c = memref.alloc() : memref<30xf32>
    linalg.exp ins(%b : memref<30xf32>) outs(%c : memref<30xf32>)
    %s = memref.subview %all[%part, 0] [1, 30] [1, 1] : memref<2x30xf32> to memref<30xf32, strided<[1], offset: ?>>
    linalg.exp ins(%c : memref<30xf32>) outs(%s : memref<30xf32, strided<[1], offset: ?>>)
  } {gawee.scan, gawee.batch}
  linalg.exp ins(%all : memref<2x30xf32>) outs(%y : memref<2x30xf32>)
  func.return
}

// -----

// Only one of two branches holds anything: %b takes the place of %a.
// CHECK-LABEL: func.func @branches_share_memory
// CHECK-SAME:  %[[W:[^:]*]]: memref<256xi8> {gawee.workspace}
// CHECK:         scf.if
// CHECK-NEXT:      %[[A:[^ ]*]] = arith.constant 0 : index
// CHECK-NEXT:      %a = memref.view %[[W]][%[[A]]][]
// CHECK:         } else {
// CHECK-NEXT:      %[[B:[^ ]*]] = arith.constant 0 : index
// CHECK-NEXT:      %b = memref.view %[[W]][%[[B]]][]
func.func @branches_share_memory(%x: memref<30xf32>, %y: memref<30xf32>, %c: i1) {
  %all = memref.alloc() : memref<30xf32>
  linalg.exp ins(%x : memref<30xf32>) outs(%all : memref<30xf32>)
  scf.if %c {
    %a = memref.alloc() : memref<30xf32>
    linalg.exp ins(%all : memref<30xf32>) outs(%a : memref<30xf32>)
    linalg.exp ins(%a : memref<30xf32>) outs(%all : memref<30xf32>)
  } else {
    %b = memref.alloc() : memref<30xf32>
    linalg.log ins(%all : memref<30xf32>) outs(%b : memref<30xf32>)
    linalg.exp ins(%b : memref<30xf32>) outs(%all : memref<30xf32>)
  }
  linalg.exp ins(%all : memref<30xf32>) outs(%y : memref<30xf32>)
  func.return
}

// -----

// CHECK-LABEL: func.func public @a_public_function_has_a_workspace
// CHECK-SAME:    %workspace: memref<64xi8> {gawee.workspace}
// CHECK-NOT:     memref.alloc
// CHECK-LABEL: func.func private @a_private_function_works_on_its_callers_buffers
// CHECK:         memref.alloc
func.func public @a_public_function_has_a_workspace(%x: memref<7xf32>, %y: memref<7xf32>) {
  %a = memref.alloc() : memref<7xf32>
  linalg.exp ins(%x : memref<7xf32>) outs(%a : memref<7xf32>)
  linalg.exp ins(%a : memref<7xf32>) outs(%y : memref<7xf32>)
  func.return
}
func.func private @a_private_function_works_on_its_callers_buffers(%x: memref<7xf32>, %y: memref<7xf32>) {
  %a = memref.alloc() : memref<7xf32>
  linalg.exp ins(%x : memref<7xf32>) outs(%a : memref<7xf32>)
  linalg.exp ins(%a : memref<7xf32>) outs(%y : memref<7xf32>)
  func.return
}

// CHECK-LABEL: func.func @what_several_blocks_allocate_stays
// CHECK:         memref.alloc
func.func @what_several_blocks_allocate_stays(%y: memref<7xf32>) {
  %a = memref.alloc() : memref<7xf32>
  cf.br ^next
^next:
  linalg.exp ins(%a : memref<7xf32>) outs(%y : memref<7xf32>)
  func.return
}
