// RUN: gawee-opt --annotate-cost=target=haswell --verify-diagnostics %s

// expected-error @+1 {{'llvm.func' op has no cost: its loops have no bounds}}
llvm.func @f() {
  llvm.return
}
