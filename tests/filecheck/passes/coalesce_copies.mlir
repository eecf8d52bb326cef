// RUN: gawee-opt --coalesce-copies --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @parts_are_computed_where_they_end_up
// CHECK-NEXT:    %[[BYTES:[^ ]*]] = memref.alloc() : memref<320xi8>
// CHECK-NEXT:    %[[START:[^ ]*]] = arith.constant 128 : index
// CHECK-NEXT:    %a = memref.view %[[BYTES]][%[[START]]][] : memref<320xi8> to memref<1x3x16xf32>
// CHECK-NEXT:    linalg.exp ins(%x : memref<1x3x16xf32>) outs(%a : memref<1x3x16xf32>)
// CHECK-NEXT:    %[[ZERO:[^ ]*]] = arith.constant 0 : index
// CHECK-NEXT:    %b = memref.view %[[BYTES]][%[[ZERO]]][] : memref<320xi8> to memref<1x2x16xf32>
// CHECK-NEXT:    linalg.exp ins(%w : memref<1x2x16xf32>) outs(%b : memref<1x2x16xf32>)
// CHECK-NEXT:    %[[WHOLE:[^ ]*]] = arith.constant 0 : index
// CHECK-NEXT:    %d = memref.view %[[BYTES]][%[[WHOLE]]][] : memref<320xi8> to memref<1x5x16xf32>
// CHECK-NEXT:    linalg.exp ins(%d : memref<1x5x16xf32>) outs(%y : memref<1x5x16xf32>)
// CHECK-NEXT:    func.return
func.func @parts_are_computed_where_they_end_up(%x: memref<1x3x16xf32>, %w: memref<1x2x16xf32>, %y: memref<1x5x16xf32>) {
  %a = memref.alloc() : memref<1x3x16xf32>
  linalg.exp ins(%x : memref<1x3x16xf32>) outs(%a : memref<1x3x16xf32>)
  %b = memref.alloc() : memref<1x2x16xf32>
  linalg.exp ins(%w : memref<1x2x16xf32>) outs(%b : memref<1x2x16xf32>)
  %d = memref.alloc() : memref<1x5x16xf32>
  %s = memref.subview %d[0, 0, 0] [1, 2, 16] [1, 1, 1] : memref<1x5x16xf32> to memref<1x2x16xf32, strided<[80, 16, 1]>>
  "memref.copy"(%b, %s) : (memref<1x2x16xf32>, memref<1x2x16xf32, strided<[80, 16, 1]>>) -> ()
  %t = memref.subview %d[0, 2, 0] [1, 3, 16] [1, 1, 1] : memref<1x5x16xf32> to memref<1x3x16xf32, strided<[80, 16, 1], offset: 32>>
  "memref.copy"(%a, %t) : (memref<1x3x16xf32>, memref<1x3x16xf32, strided<[80, 16, 1], offset: 32>>) -> ()
  linalg.exp ins(%d : memref<1x5x16xf32>) outs(%y : memref<1x5x16xf32>)
  func.return
}

// -----

// %a is rows 1 and 2 of %c, which is rows 4 to 6 of %d: its first byte is (4 + 1) * 64.
// CHECK-LABEL: func.func @part_of_a_part_lies_where_both_offsets_lead
// CHECK:         %[[BYTES:[^ ]*]] = memref.alloc() : memref<448xi8>
// CHECK:         %[[A:[^ ]*]] = arith.constant 320 : index
// CHECK:         %a = memref.view %[[BYTES]][%[[A]]][] : memref<448xi8> to memref<2x16xf32>
// CHECK:         %[[C:[^ ]*]] = arith.constant 256 : index
// CHECK:         %c = memref.view %[[BYTES]][%[[C]]][] : memref<448xi8> to memref<3x16xf32>
// CHECK:         %[[D:[^ ]*]] = arith.constant 0 : index
// CHECK:         %d = memref.view %[[BYTES]][%[[D]]][] : memref<448xi8> to memref<7x16xf32>
// CHECK-NOT:     "memref.copy"(%{{[ac]}}
func.func @part_of_a_part_lies_where_both_offsets_lead(%x: memref<2x16xf32>, %z: memref<3x16xf32>, %w: memref<4x16xf32>, %v: memref<1x16xf32>, %y: memref<7x16xf32>) {
  %a = memref.alloc() : memref<2x16xf32>
  linalg.exp ins(%x : memref<2x16xf32>) outs(%a : memref<2x16xf32>)
  %c = memref.alloc() : memref<3x16xf32>
  %s = memref.subview %c[0, 0] [1, 16] [1, 1] : memref<3x16xf32> to memref<1x16xf32, strided<[16, 1]>>
  "memref.copy"(%v, %s) : (memref<1x16xf32>, memref<1x16xf32, strided<[16, 1]>>) -> ()
  %t = memref.subview %c[1, 0] [2, 16] [1, 1] : memref<3x16xf32> to memref<2x16xf32, strided<[16, 1], offset: 16>>
  "memref.copy"(%a, %t) : (memref<2x16xf32>, memref<2x16xf32, strided<[16, 1], offset: 16>>) -> ()
  linalg.exp ins(%c : memref<3x16xf32>) outs(%z : memref<3x16xf32>)
  %d = memref.alloc() : memref<7x16xf32>
  %p = memref.subview %d[0, 0] [4, 16] [1, 1] : memref<7x16xf32> to memref<4x16xf32, strided<[16, 1]>>
  "memref.copy"(%w, %p) : (memref<4x16xf32>, memref<4x16xf32, strided<[16, 1]>>) -> ()
  %q = memref.subview %d[4, 0] [3, 16] [1, 1] : memref<7x16xf32> to memref<3x16xf32, strided<[16, 1], offset: 64>>
  "memref.copy"(%c, %q) : (memref<3x16xf32>, memref<3x16xf32, strided<[16, 1], offset: 64>>) -> ()
  linalg.exp ins(%d : memref<7x16xf32>) outs(%y : memref<7x16xf32>)
  func.return
}

// -----

// CHECK-LABEL: func.func @part_in_another_shape_lies_there_too
// CHECK:         %a = memref.view {{.*}} to memref<6x8xf32>
// CHECK-NOT:     memref.copy
func.func @part_in_another_shape_lies_there_too(%x: memref<6x8xf32>, %y: memref<5x16xf32>) {
  %a = memref.alloc() : memref<6x8xf32>
  linalg.exp ins(%x : memref<6x8xf32>) outs(%a : memref<6x8xf32>)
  %v = memref.collapse_shape %a [[0, 1]] : memref<6x8xf32> into memref<48xf32>
  %r = memref.expand_shape %v [[0, 1]] output_shape [3, 16] : memref<48xf32> into memref<3x16xf32>
  %d = memref.alloc() : memref<5x16xf32>
  %s = memref.subview %d[2, 0] [3, 16] [1, 1] : memref<5x16xf32> to memref<3x16xf32, strided<[16, 1], offset: 32>>
  "memref.copy"(%r, %s) : (memref<3x16xf32>, memref<3x16xf32, strided<[16, 1], offset: 32>>) -> ()
  linalg.exp ins(%d : memref<5x16xf32>) outs(%y : memref<5x16xf32>)
  func.return
}

// -----

// The rows of %d lie between those of a part.
// CHECK-LABEL: func.func @part_that_is_not_dense_stays
// CHECK:         memref.copy
func.func @part_that_is_not_dense_stays(%x: memref<3x16xf32>, %y: memref<3x32xf32>) {
  %a = memref.alloc() : memref<3x16xf32>
  linalg.exp ins(%x : memref<3x16xf32>) outs(%a : memref<3x16xf32>)
  %d = memref.alloc() : memref<3x32xf32>
  %s = memref.subview %d[0, 16] [3, 16] [1, 1] : memref<3x32xf32> to memref<3x16xf32, strided<[32, 1], offset: 16>>
  "memref.copy"(%a, %s) : (memref<3x16xf32>, memref<3x16xf32, strided<[32, 1], offset: 16>>) -> ()
  linalg.exp ins(%d : memref<3x32xf32>) outs(%y : memref<3x32xf32>)
  func.return
}

// -----

// CHECK-LABEL: func.func @part_at_an_unaligned_byte_stays
// CHECK:         memref.copy
func.func @part_at_an_unaligned_byte_stays(%x: memref<3x12xf32>, %y: memref<5x12xf32>) {
  %a = memref.alloc() : memref<3x12xf32>
  linalg.exp ins(%x : memref<3x12xf32>) outs(%a : memref<3x12xf32>)
  %d = memref.alloc() : memref<5x12xf32>
  %s = memref.subview %d[2, 0] [3, 12] [1, 1] : memref<5x12xf32> to memref<3x12xf32, strided<[12, 1], offset: 24>>
  "memref.copy"(%a, %s) : (memref<3x12xf32>, memref<3x12xf32, strided<[12, 1], offset: 24>>) -> ()
  linalg.exp ins(%d : memref<5x12xf32>) outs(%y : memref<5x12xf32>)
  func.return
}

// -----

// CHECK-LABEL: func.func @part_of_a_source_stays
// CHECK:         memref.copy
func.func @part_of_a_source_stays(%x: memref<4x16xf32>, %y: memref<5x16xf32>) {
  %a = memref.alloc() : memref<4x16xf32>
  linalg.exp ins(%x : memref<4x16xf32>) outs(%a : memref<4x16xf32>)
  %p = memref.subview %a[0, 0] [3, 16] [1, 1] : memref<4x16xf32> to memref<3x16xf32, strided<[16, 1]>>
  %d = memref.alloc() : memref<5x16xf32>
  %s = memref.subview %d[2, 0] [3, 16] [1, 1] : memref<5x16xf32> to memref<3x16xf32, strided<[16, 1], offset: 32>>
  "memref.copy"(%p, %s) : (memref<3x16xf32, strided<[16, 1]>>, memref<3x16xf32, strided<[16, 1], offset: 32>>) -> ()
  linalg.exp ins(%d : memref<5x16xf32>) outs(%y : memref<5x16xf32>)
  func.return
}

// -----

// CHECK-LABEL: func.func @source_that_is_written_later_stays
// CHECK:         memref.copy
func.func @source_that_is_written_later_stays(%x: memref<3x16xf32>, %y: memref<5x16xf32>, %z: memref<3x16xf32>) {
  %a = memref.alloc() : memref<3x16xf32>
  linalg.exp ins(%x : memref<3x16xf32>) outs(%a : memref<3x16xf32>)
  %d = memref.alloc() : memref<5x16xf32>
  %s = memref.subview %d[2, 0] [3, 16] [1, 1] : memref<5x16xf32> to memref<3x16xf32, strided<[16, 1], offset: 32>>
  "memref.copy"(%a, %s) : (memref<3x16xf32>, memref<3x16xf32, strided<[16, 1], offset: 32>>) -> ()
  linalg.tanh ins(%x : memref<3x16xf32>) outs(%a : memref<3x16xf32>)
  linalg.exp ins(%a : memref<3x16xf32>) outs(%z : memref<3x16xf32>)
  linalg.exp ins(%d : memref<5x16xf32>) outs(%y : memref<5x16xf32>)
  func.return
}

// -----

// CHECK-LABEL: func.func @destination_that_is_read_before_stays
// CHECK:         memref.copy
func.func @destination_that_is_read_before_stays(%x: memref<3x16xf32>, %w: memref<5x16xf32>, %y: memref<5x16xf32>, %z: memref<5x16xf32>) {
  %d = memref.alloc() : memref<5x16xf32>
  linalg.exp ins(%w : memref<5x16xf32>) outs(%d : memref<5x16xf32>)
  %a = memref.alloc() : memref<3x16xf32>
  linalg.exp ins(%x : memref<3x16xf32>) outs(%a : memref<3x16xf32>)
  linalg.exp ins(%d : memref<5x16xf32>) outs(%z : memref<5x16xf32>)
  %s = memref.subview %d[2, 0] [3, 16] [1, 1] : memref<5x16xf32> to memref<3x16xf32, strided<[16, 1], offset: 32>>
  "memref.copy"(%a, %s) : (memref<3x16xf32>, memref<3x16xf32, strided<[16, 1], offset: 32>>) -> ()
  linalg.exp ins(%d : memref<5x16xf32>) outs(%y : memref<5x16xf32>)
  func.return
}

// -----

// CHECK-LABEL: func.func @destination_that_is_written_while_the_part_is_read_stays
// CHECK:         memref.copy
func.func @destination_that_is_written_while_the_part_is_read_stays(%x: memref<3x16xf32>, %w: memref<5x16xf32>, %y: memref<5x16xf32>, %z: memref<3x16xf32>) {
  %a = memref.alloc() : memref<3x16xf32>
  linalg.exp ins(%x : memref<3x16xf32>) outs(%a : memref<3x16xf32>)
  %d = memref.alloc() : memref<5x16xf32>
  %s = memref.subview %d[2, 0] [3, 16] [1, 1] : memref<5x16xf32> to memref<3x16xf32, strided<[16, 1], offset: 32>>
  "memref.copy"(%a, %s) : (memref<3x16xf32>, memref<3x16xf32, strided<[16, 1], offset: 32>>) -> ()
  linalg.exp ins(%d : memref<5x16xf32>) outs(%y : memref<5x16xf32>)
  linalg.exp ins(%w : memref<5x16xf32>) outs(%d : memref<5x16xf32>)
  linalg.exp ins(%a : memref<3x16xf32>) outs(%z : memref<3x16xf32>)
  func.return
}

// -----

// The place of the first copy is taken by the second one's.
// CHECK-LABEL: func.func @place_that_another_part_takes_stays
// CHECK:         "memref.copy"(%a
// CHECK-NOT:     "memref.copy"(%b
func.func @place_that_another_part_takes_stays(%x: memref<3x16xf32>, %y: memref<5x16xf32>) {
  %a = memref.alloc() : memref<3x16xf32>
  linalg.exp ins(%x : memref<3x16xf32>) outs(%a : memref<3x16xf32>)
  %d = memref.alloc() : memref<5x16xf32>
  %s = memref.subview %d[2, 0] [3, 16] [1, 1] : memref<5x16xf32> to memref<3x16xf32, strided<[16, 1], offset: 32>>
  "memref.copy"(%a, %s) : (memref<3x16xf32>, memref<3x16xf32, strided<[16, 1], offset: 32>>) -> ()
  %b = memref.alloc() : memref<3x16xf32>
  linalg.exp ins(%a : memref<3x16xf32>) outs(%b : memref<3x16xf32>)
  %t = memref.subview %d[1, 0] [3, 16] [1, 1] : memref<5x16xf32> to memref<3x16xf32, strided<[16, 1], offset: 16>>
  "memref.copy"(%b, %t) : (memref<3x16xf32>, memref<3x16xf32, strided<[16, 1], offset: 16>>) -> ()
  linalg.exp ins(%a : memref<3x16xf32>) outs(%x : memref<3x16xf32>)
  linalg.exp ins(%d : memref<5x16xf32>) outs(%y : memref<5x16xf32>)
  func.return
}

// -----

// Once is enough to save a copy, and the second one would be given a buffer and a part of it.
// CHECK-LABEL: func.func @source_that_is_copied_twice_into_one_buffer_stays
// CHECK:         "memref.copy"(%a
// CHECK:         "memref.copy"(%a
func.func @source_that_is_copied_twice_into_one_buffer_stays(%x: memref<3x16xf32>, %y: memref<6x16xf32>) {
  %a = memref.alloc() : memref<3x16xf32>
  linalg.exp ins(%x : memref<3x16xf32>) outs(%a : memref<3x16xf32>)
  %d = memref.alloc() : memref<6x16xf32>
  %s = memref.subview %d[0, 0] [3, 16] [1, 1] : memref<6x16xf32> to memref<3x16xf32, strided<[16, 1]>>
  "memref.copy"(%a, %s) : (memref<3x16xf32>, memref<3x16xf32, strided<[16, 1]>>) -> ()
  %t = memref.subview %d[3, 0] [3, 16] [1, 1] : memref<6x16xf32> to memref<3x16xf32, strided<[16, 1], offset: 48>>
  "memref.copy"(%a, %t) : (memref<3x16xf32>, memref<3x16xf32, strided<[16, 1], offset: 48>>) -> ()
  linalg.exp ins(%d : memref<6x16xf32>) outs(%y : memref<6x16xf32>)
  func.return
}

// -----

// CHECK-LABEL: func.func @source_that_is_copied_into_two_buffers_lies_in_the_first
// CHECK:         %[[BYTES:[^ ]*]] = memref.alloc() : memref<576xi8>
// CHECK:         %a = memref.view %[[BYTES]][{{.*}} to memref<3x16xf32>
// CHECK:         %d = memref.view %[[BYTES]][{{.*}} to memref<9x16xf32>
// CHECK:         %e = memref.alloc() : memref<4x16xf32>
// CHECK:         "memref.copy"(%a
// CHECK-NOT:     memref.copy
func.func @source_that_is_copied_into_two_buffers_lies_in_the_first(%x: memref<3x16xf32>, %y: memref<9x16xf32>, %z: memref<4x16xf32>) {
  %a = memref.alloc() : memref<3x16xf32>
  linalg.exp ins(%x : memref<3x16xf32>) outs(%a : memref<3x16xf32>)
  %d = memref.alloc() : memref<9x16xf32>
  %s = memref.subview %d[2, 0] [3, 16] [1, 1] : memref<9x16xf32> to memref<3x16xf32, strided<[16, 1], offset: 32>>
  "memref.copy"(%a, %s) : (memref<3x16xf32>, memref<3x16xf32, strided<[16, 1], offset: 32>>) -> ()
  linalg.exp ins(%d : memref<9x16xf32>) outs(%y : memref<9x16xf32>)
  %e = memref.alloc() : memref<4x16xf32>
  %t = memref.subview %e[1, 0] [3, 16] [1, 1] : memref<4x16xf32> to memref<3x16xf32, strided<[16, 1], offset: 16>>
  "memref.copy"(%a, %t) : (memref<3x16xf32>, memref<3x16xf32, strided<[16, 1], offset: 16>>) -> ()
  linalg.exp ins(%e : memref<4x16xf32>) outs(%z : memref<4x16xf32>)
  func.return
}

// -----

// CHECK-LABEL: func.func @destination_that_is_an_output_stays
// CHECK:         memref.copy
func.func @destination_that_is_an_output_stays(%x: memref<3x16xf32>, %d: memref<5x16xf32>) {
  %a = memref.alloc() : memref<3x16xf32>
  linalg.exp ins(%x : memref<3x16xf32>) outs(%a : memref<3x16xf32>)
  %s = memref.subview %d[2, 0] [3, 16] [1, 1] : memref<5x16xf32> to memref<3x16xf32, strided<[16, 1], offset: 32>>
  "memref.copy"(%a, %s) : (memref<3x16xf32>, memref<3x16xf32, strided<[16, 1], offset: 32>>) -> ()
  func.return
}

// -----

// CHECK-LABEL: func.func @source_that_is_an_argument_stays
// CHECK:         memref.copy
func.func @source_that_is_an_argument_stays(%a: memref<3x16xf32>, %y: memref<5x16xf32>) {
  %d = memref.alloc() : memref<5x16xf32>
  %s = memref.subview %d[2, 0] [3, 16] [1, 1] : memref<5x16xf32> to memref<3x16xf32, strided<[16, 1], offset: 32>>
  "memref.copy"(%a, %s) : (memref<3x16xf32>, memref<3x16xf32, strided<[16, 1], offset: 32>>) -> ()
  linalg.exp ins(%d : memref<5x16xf32>) outs(%y : memref<5x16xf32>)
  func.return
}

// -----

// CHECK-LABEL: func.func @source_that_an_op_reads_beside_its_destination_stays
// CHECK:         memref.copy
func.func @source_that_an_op_reads_beside_its_destination_stays(%x: memref<3x16xf32>, %y: memref<3x16xf32>) {
  %a = memref.alloc() : memref<3x16xf32>
  linalg.exp ins(%x : memref<3x16xf32>) outs(%a : memref<3x16xf32>)
  %d = memref.alloc() : memref<5x16xf32>
  %s = memref.subview %d[2, 0] [3, 16] [1, 1] : memref<5x16xf32> to memref<3x16xf32, strided<[16, 1], offset: 32>>
  "memref.copy"(%a, %s) : (memref<3x16xf32>, memref<3x16xf32, strided<[16, 1], offset: 32>>) -> ()
  %t = memref.subview %d[0, 0] [3, 16] [1, 1] : memref<5x16xf32> to memref<3x16xf32, strided<[16, 1]>>
  linalg.add ins(%a, %t : memref<3x16xf32>, memref<3x16xf32, strided<[16, 1]>>) outs(%y : memref<3x16xf32>)
  func.return
}

// -----

// `outline-kernels` makes one function of the two ops that come from one node.
// CHECK-LABEL: func.func @source_in_a_node_that_reads_its_destination_stays
// CHECK:         memref.copy
func.func @source_in_a_node_that_reads_its_destination_stays(%x: memref<3x16xf32>, %y: memref<5x16xf32>, %z: memref<3x16xf32>) {
  %a = memref.alloc() : memref<3x16xf32>
  linalg.exp ins(%x : memref<3x16xf32>) outs(%a : memref<3x16xf32>)
  %d = memref.alloc() : memref<5x16xf32>
  %s = memref.subview %d[2, 0] [3, 16] [1, 1] : memref<5x16xf32> to memref<3x16xf32, strided<[16, 1], offset: 32>>
  "memref.copy"(%a, %s) : (memref<3x16xf32>, memref<3x16xf32, strided<[16, 1], offset: 32>>) -> ()
  linalg.exp ins(%d : memref<5x16xf32>) outs(%y : memref<5x16xf32>) loc("node")
  linalg.exp ins(%a : memref<3x16xf32>) outs(%z : memref<3x16xf32>) loc("node")
  func.return
}

// -----

// Nothing is known of what a function without a body does.
// CHECK-LABEL: func.func @source_that_an_unknown_function_is_given_later_stays
// CHECK:         memref.copy
func.func private @unknown(memref<3x16xf32>)
func.func @source_that_an_unknown_function_is_given_later_stays(%x: memref<3x16xf32>, %y: memref<5x16xf32>) {
  %a = memref.alloc() : memref<3x16xf32>
  linalg.exp ins(%x : memref<3x16xf32>) outs(%a : memref<3x16xf32>)
  %d = memref.alloc() : memref<5x16xf32>
  %s = memref.subview %d[2, 0] [3, 16] [1, 1] : memref<5x16xf32> to memref<3x16xf32, strided<[16, 1], offset: 32>>
  "memref.copy"(%a, %s) : (memref<3x16xf32>, memref<3x16xf32, strided<[16, 1], offset: 32>>) -> ()
  func.call @unknown(%a) : (memref<3x16xf32>) -> ()
  linalg.exp ins(%d : memref<5x16xf32>) outs(%y : memref<5x16xf32>)
  func.return
}

// -----

// CHECK-LABEL: func.func @source_that_an_unknown_op_uses_stays
// CHECK:         memref.copy
func.func @source_that_an_unknown_op_uses_stays(%x: memref<3x16xf32>, %y: memref<5x16xf32>) {
  %a = memref.alloc() : memref<3x16xf32>
  linalg.exp ins(%x : memref<3x16xf32>) outs(%a : memref<3x16xf32>)
  memref.dealloc %a : memref<3x16xf32>
  %d = memref.alloc() : memref<5x16xf32>
  %s = memref.subview %d[2, 0] [3, 16] [1, 1] : memref<5x16xf32> to memref<3x16xf32, strided<[16, 1], offset: 32>>
  "memref.copy"(%a, %s) : (memref<3x16xf32>, memref<3x16xf32, strided<[16, 1], offset: 32>>) -> ()
  linalg.exp ins(%d : memref<5x16xf32>) outs(%y : memref<5x16xf32>)
  func.return
}

// -----

// Where %b and %c are, %d would be alive beside them: 1344 bytes, where there were 960.
// CHECK-LABEL: func.func @part_whose_whole_would_be_alive_for_too_long_stays
// CHECK:         "memref.copy"(%a
func.func @part_whose_whole_would_be_alive_for_too_long_stays(%x: memref<1x16xf32>, %w: memref<7x16xf32>, %y: memref<8x16xf32>) {
  %a = memref.alloc() : memref<1x16xf32>
  linalg.exp ins(%x : memref<1x16xf32>) outs(%a : memref<1x16xf32>)
  %b = memref.alloc() : memref<7x16xf32>
  linalg.exp ins(%w : memref<7x16xf32>) outs(%b : memref<7x16xf32>)
  %c = memref.alloc() : memref<7x16xf32>
  linalg.exp ins(%b : memref<7x16xf32>) outs(%c : memref<7x16xf32>)
  linalg.exp ins(%c : memref<7x16xf32>) outs(%w : memref<7x16xf32>)
  %d = memref.alloc() : memref<8x16xf32>
  %s = memref.subview %d[0, 0] [1, 16] [1, 1] : memref<8x16xf32> to memref<1x16xf32, strided<[16, 1]>>
  "memref.copy"(%a, %s) : (memref<1x16xf32>, memref<1x16xf32, strided<[16, 1]>>) -> ()
  %t = memref.subview %d[1, 0] [7, 16] [1, 1] : memref<8x16xf32> to memref<7x16xf32, strided<[16, 1], offset: 16>>
  "memref.copy"(%w, %t) : (memref<7x16xf32>, memref<7x16xf32, strided<[16, 1], offset: 16>>) -> ()
  linalg.exp ins(%d : memref<8x16xf32>) outs(%y : memref<8x16xf32>)
  func.return
}

// -----

// CHECK-LABEL: func.func public @parts_of_a_public_function
// CHECK-NOT:     memref.copy
// CHECK:         func.return
func.func public @parts_of_a_public_function(%x: memref<1x3x16xf32>, %y: memref<1x5x16xf32>) {
  %a = memref.alloc() : memref<1x3x16xf32>
  linalg.exp ins(%x : memref<1x3x16xf32>) outs(%a : memref<1x3x16xf32>)
  %d = memref.alloc() : memref<1x5x16xf32>
  %s = memref.subview %d[0, 2, 0] [1, 3, 16] [1, 1, 1] : memref<1x5x16xf32> to memref<1x3x16xf32, strided<[80, 16, 1], offset: 32>>
  "memref.copy"(%a, %s) : (memref<1x3x16xf32>, memref<1x3x16xf32, strided<[80, 16, 1], offset: 32>>) -> ()
  linalg.exp ins(%d : memref<1x5x16xf32>) outs(%y : memref<1x5x16xf32>)
  func.return
}

// -----

// Four bytes of a block of 8 channels are a word of a block of 2.
// CHECK-LABEL: func.func @words_of_bytes_that_lie_side_by_side_are_a_view
// CHECK-NEXT:    %[[BYTES:[^ ]*]] = memref.alloc() : memref<48xi8>
// CHECK-NEXT:    %[[ZERO:[^ ]*]] = arith.constant 0 : index
// CHECK-NEXT:    %a = memref.view %[[BYTES]][%[[ZERO]]][] : memref<48xi8> to memref<2x3x8xui8>
// CHECK-NEXT:    "memref.copy"(%x, %a)
// CHECK-NEXT:    %[[WORDS:[^ ]*]] = arith.constant 0 : index
// CHECK-NEXT:    %w = memref.view %[[BYTES]][%[[WORDS]]][] : memref<48xi8> to memref<2x3x2xi32>
// CHECK-NEXT:    "memref.copy"(%w, %y)
// CHECK-NEXT:    return
func.func @words_of_bytes_that_lie_side_by_side_are_a_view(%x: memref<2x3x8xui8>, %y: memref<2x3x2xi32>) {
  %a = memref.alloc() : memref<2x3x8xui8>
  "memref.copy"(%x, %a) : (memref<2x3x8xui8>, memref<2x3x8xui8>) -> ()
  %w = memref.alloc() : memref<2x3x2xi32>
  gawee.kernel parallel [4, 3] ins(%a, %a, %a, %a : memref<2x3x8xui8>, memref<2x3x8xui8>, memref<2x3x8xui8>, memref<2x3x8xui8>) outs(%w)
    maps [affine_map<(c, h) -> ((c * 4) floordiv 8, h, (c * 4) mod 8)>,
    affine_map<(c, h) -> ((c * 4 + 1) floordiv 8, h, (c * 4 + 1) mod 8)>,
    affine_map<(c, h) -> ((c * 4 + 2) floordiv 8, h, (c * 4 + 2) mod 8)>,
    affine_map<(c, h) -> ((c * 4 + 3) floordiv 8, h, (c * 4 + 3) mod 8)>,
    affine_map<(c, h) -> (c floordiv 2, h, c mod 2)>] finish {
  ^bb0(%0: ui8, %1: ui8, %2: ui8, %3: ui8):
    %b0 = builtin.unrealized_conversion_cast %0 : ui8 to i8
    %b1 = builtin.unrealized_conversion_cast %1 : ui8 to i8
    %b2 = builtin.unrealized_conversion_cast %2 : ui8 to i8
    %b3 = builtin.unrealized_conversion_cast %3 : ui8 to i8
    %w0 = arith.extui %b0 : i8 to i32
    %w1 = arith.extui %b1 : i8 to i32
    %w2 = arith.extui %b2 : i8 to i32
    %w3 = arith.extui %b3 : i8 to i32
    %c8 = arith.constant 8 : i32
    %c16 = arith.constant 16 : i32
    %c24 = arith.constant 24 : i32
    %s1 = arith.shli %w1, %c8 : i32
    %s2 = arith.shli %w2, %c16 : i32
    %s3 = arith.shli %w3, %c24 : i32
    %o1 = arith.ori %w0, %s1 : i32
    %o2 = arith.ori %o1, %s2 : i32
    %o3 = arith.ori %o2, %s3 : i32
    gawee.yield %o3 : i32
  } : memref<2x3x2xi32>
  "memref.copy"(%w, %y) : (memref<2x3x2xi32>, memref<2x3x2xi32>) -> ()
  func.return
}

// -----

// The bytes of a word are three apart.
// CHECK-LABEL: func.func @words_of_bytes_that_are_apart_are_computed
// CHECK:         gawee.kernel
func.func @words_of_bytes_that_are_apart_are_computed(%x: memref<4x3xi8>, %y: memref<3xi32>) {
  %a = memref.alloc() : memref<4x3xi8>
  "memref.copy"(%x, %a) : (memref<4x3xi8>, memref<4x3xi8>) -> ()
  %w = memref.alloc() : memref<3xi32>
  gawee.kernel parallel [3] ins(%a, %a, %a, %a : memref<4x3xi8>, memref<4x3xi8>, memref<4x3xi8>, memref<4x3xi8>) outs(%w)
    maps [affine_map<(h) -> (0, h)>, affine_map<(h) -> (1, h)>, affine_map<(h) -> (2, h)>, affine_map<(h) -> (3, h)>, affine_map<(h) -> (h)>] finish {
  ^bb0(%0: i8, %1: i8, %2: i8, %3: i8):
    %w0 = arith.extui %0 : i8 to i32
    %w1 = arith.extui %1 : i8 to i32
    %w2 = arith.extui %2 : i8 to i32
    %w3 = arith.extui %3 : i8 to i32
    %c8 = arith.constant 8 : i32
    %c16 = arith.constant 16 : i32
    %c24 = arith.constant 24 : i32
    %s1 = arith.shli %w1, %c8 : i32
    %s2 = arith.shli %w2, %c16 : i32
    %s3 = arith.shli %w3, %c24 : i32
    %o1 = arith.ori %w0, %s1 : i32
    %o2 = arith.ori %o1, %s2 : i32
    %o3 = arith.ori %o2, %s3 : i32
    gawee.yield %o3 : i32
  } : memref<3xi32>
  "memref.copy"(%w, %y) : (memref<3xi32>, memref<3xi32>) -> ()
  func.return
}

// -----

// CHECK-LABEL: func.func @words_with_the_zeros_around_their_bytes_are_these
// CHECK:         gawee.kernel parallel [2, 8]
// CHECK-NOT:     gawee.kernel
func.func @words_with_the_zeros_around_their_bytes_are_these(%x: memref<2x8xui8>, %y: memref<4x2xi32>) {
  %a = memref.alloc() : memref<4x8xui8>
  gawee.kernel parallel [2, 8] ins(%x : memref<2x8xui8>) outs(%a)
    maps [affine_map<(h, c) -> (h, c)>, affine_map<(h, c) -> (h + 1, c)>] finish {
  ^bb0(%0: ui8):
    gawee.yield %0 : ui8
  } : memref<4x8xui8>
  %w = memref.alloc() : memref<4x2xi32>
  gawee.kernel parallel [2, 2] ins(%a, %a, %a, %a : memref<4x8xui8>, memref<4x8xui8>, memref<4x8xui8>, memref<4x8xui8>) outs(%w)
    maps [affine_map<(h, c) -> (h + 1, c * 4)>, affine_map<(h, c) -> (h + 1, c * 4 + 1)>, affine_map<(h, c) -> (h + 1, c * 4 + 2)>, affine_map<(h, c) -> (h + 1, c * 4 + 3)>, affine_map<(h, c) -> (h + 1, c)>] finish {
  ^bb0(%0: ui8, %1: ui8, %2: ui8, %3: ui8):
    %b0 = builtin.unrealized_conversion_cast %0 : ui8 to i8
    %b1 = builtin.unrealized_conversion_cast %1 : ui8 to i8
    %b2 = builtin.unrealized_conversion_cast %2 : ui8 to i8
    %b3 = builtin.unrealized_conversion_cast %3 : ui8 to i8
    %w0 = arith.extui %b0 : i8 to i32
    %w1 = arith.extui %b1 : i8 to i32
    %w2 = arith.extui %b2 : i8 to i32
    %w3 = arith.extui %b3 : i8 to i32
    %c8 = arith.constant 8 : i32
    %c16 = arith.constant 16 : i32
    %c24 = arith.constant 24 : i32
    %s1 = arith.shli %w1, %c8 : i32
    %s2 = arith.shli %w2, %c16 : i32
    %s3 = arith.shli %w3, %c24 : i32
    %o1 = arith.ori %w0, %s1 : i32
    %o2 = arith.ori %o1, %s2 : i32
    %o3 = arith.ori %o2, %s3 : i32
    gawee.yield %o3 : i32
  } : memref<4x2xi32>
  "memref.copy"(%w, %y) : (memref<4x2xi32>, memref<4x2xi32>) -> ()
  func.return
}

// -----

// CHECK-LABEL: func.func @words_with_zeros_around_other_bytes_are_computed
// CHECK:         gawee.kernel parallel [2, 8]
// CHECK:         gawee.kernel parallel [2, 2]
func.func @words_with_zeros_around_other_bytes_are_computed(%x: memref<2x8xui8>, %y: memref<4x2xi32>) {
  %a = memref.alloc() : memref<4x8xui8>
  gawee.kernel parallel [2, 8] ins(%x : memref<2x8xui8>) outs(%a)
    maps [affine_map<(h, c) -> (h, c)>, affine_map<(h, c) -> (h + 1, c)>] outside 7 : ui8 finish {
  ^bb0(%0: ui8):
    gawee.yield %0 : ui8
  } : memref<4x8xui8>
  %w = memref.alloc() : memref<4x2xi32>
  gawee.kernel parallel [2, 2] ins(%a, %a, %a, %a : memref<4x8xui8>, memref<4x8xui8>, memref<4x8xui8>, memref<4x8xui8>) outs(%w)
    maps [affine_map<(h, c) -> (h + 1, c * 4)>, affine_map<(h, c) -> (h + 1, c * 4 + 1)>, affine_map<(h, c) -> (h + 1, c * 4 + 2)>, affine_map<(h, c) -> (h + 1, c * 4 + 3)>, affine_map<(h, c) -> (h + 1, c)>] finish {
  ^bb0(%0: ui8, %1: ui8, %2: ui8, %3: ui8):
    %b0 = builtin.unrealized_conversion_cast %0 : ui8 to i8
    %b1 = builtin.unrealized_conversion_cast %1 : ui8 to i8
    %b2 = builtin.unrealized_conversion_cast %2 : ui8 to i8
    %b3 = builtin.unrealized_conversion_cast %3 : ui8 to i8
    %w0 = arith.extui %b0 : i8 to i32
    %w1 = arith.extui %b1 : i8 to i32
    %w2 = arith.extui %b2 : i8 to i32
    %w3 = arith.extui %b3 : i8 to i32
    %c8 = arith.constant 8 : i32
    %c16 = arith.constant 16 : i32
    %c24 = arith.constant 24 : i32
    %s1 = arith.shli %w1, %c8 : i32
    %s2 = arith.shli %w2, %c16 : i32
    %s3 = arith.shli %w3, %c24 : i32
    %o1 = arith.ori %w0, %s1 : i32
    %o2 = arith.ori %o1, %s2 : i32
    %o3 = arith.ori %o2, %s3 : i32
    gawee.yield %o3 : i32
  } : memref<4x2xi32>
  "memref.copy"(%w, %y) : (memref<4x2xi32>, memref<4x2xi32>) -> ()
  func.return
}
