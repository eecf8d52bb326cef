// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @a_parallel_loop_has_a_text_of_its_own
// CHECK:         scf.parallel (%i, %j) = (%a, %a) to (%b, %c) step (%d, %d) {
// CHECK-NEXT:      scf.reduce
// CHECK-NEXT:    }
func.func @a_parallel_loop_has_a_text_of_its_own(%a: index, %b: index, %c: index, %d: index) {
  scf.parallel (%i, %j) = (%a, %a) to (%b, %c) step (%d, %d) {
    scf.reduce
  }
  return
}

// CHECK-LABEL: func.func @a_terminator_and_attributes_may_be_left_out_or_given
// CHECK:         scf.parallel (%i) = (%a) to (%b) step (%c) {
// CHECK-NEXT:      scf.reduce
// CHECK-NEXT:    } {tile = 4 : i64}
func.func @a_terminator_and_attributes_may_be_left_out_or_given(%a: index, %b: index, %c: index) {
  scf.parallel (%i) = (%a) to (%b) step (%c) {
  } {tile = 4 : i64}
  return
}

// CHECK-LABEL: func.func @a_reduction_has_an_initial_value
// CHECK:         %r = scf.parallel (%i) = (%a) to (%b) step (%c) init (%x) -> f32 {
// CHECK-NEXT:      scf.reduce(%x : f32) {
func.func @a_reduction_has_an_initial_value(%a: index, %b: index, %c: index, %x: f32) {
  %r = scf.parallel (%i) = (%a) to (%b) step (%c) init (%x) -> f32 {
    scf.reduce(%x : f32) {
    ^bb0(%l: f32, %m: f32):
      %t = arith.addf %l, %m : f32
      scf.reduce.return %t : f32
    }
  }
  return
}
