// RUN: gawee-opt %s --convert-to-llvm=fast-math=quick --verify-diagnostics | filecheck %s

// CHECK: error: unsupported fast-math flag 'quick'; supported: none, fast, reassoc, nnan
// CHECK: hint: several flags are joined by '-': fast-math=contract-nsz
func.func @unknown_flags_are_named() {
  return
}
