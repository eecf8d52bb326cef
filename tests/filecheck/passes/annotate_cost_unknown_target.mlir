// RUN: gawee-opt --annotate-cost=target=hasswell --verify-diagnostics %s | filecheck %s

// CHECK:      error: unknown target 'hasswell'
// CHECK-NEXT: hint: did you mean 'haswell'?
func.func @f() {
  func.return
}
