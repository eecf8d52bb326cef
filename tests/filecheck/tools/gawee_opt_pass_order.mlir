// RUN: gawee-opt --canonicalize --convert-scf-to-cf %s | filecheck %s
// RUN: gawee-opt -p canonicalize --convert-scf-to-cf %s | filecheck %s
// RUN: gawee-opt --canonicalize %s -p convert-scf-to-cf | filecheck %s
// RUN: gawee-opt --convert-scf-to-cf --canonicalize %s | filecheck %s --check-prefix=LATE

// The canonicalizer removes a loop without iterations; branches it leaves alone.
// CHECK-LABEL: func.func @passes_run_in_the_order_given
// CHECK-NOT:   cf.
// LATE-LABEL:  func.func @passes_run_in_the_order_given
// LATE:        cf.cond_br
func.func @passes_run_in_the_order_given(%x: memref<3xf32>, %v: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %zero step %one {
    memref.store %v, %x[%i] : memref<3xf32>
  }
  return
}
