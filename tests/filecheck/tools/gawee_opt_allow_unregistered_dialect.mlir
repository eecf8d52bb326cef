// RUN: gawee-opt --allow-unregistered-dialect %s | filecheck %s
// RUN: gawee-opt --verify-diagnostics %s | filecheck %s --check-prefix=STRICT

// STRICT: error: 'mine.op' op is not registered
// CHECK-LABEL: func.func @unknown_ops_go_through
// CHECK:       "mine.op"() : () -> ()
func.func @unknown_ops_go_through() {
  "mine.op"() : () -> ()
  return
}
