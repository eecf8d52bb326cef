// RUN: gawee-opt %s --convert-to-llvm | filecheck %s --check-prefix=STRICT
// RUN: gawee-opt %s --convert-to-llvm=fast-math=contract-nsz | filecheck %s --check-prefix=SOME
// RUN: gawee-opt %s --convert-to-llvm=fast-math=fast | filecheck %s --check-prefix=ALL

// STRICT-LABEL: llvm.func @flags_are_those_of_the_op_and_those_asked_for
// STRICT:         llvm.fmul %x, %x : f32
// STRICT-NEXT:    llvm.fadd %x, %x {fastmathFlags = #llvm.fastmath<nnan>} : f32
// STRICT-NEXT:    llvm.intr.exp(%x) : (f32) -> f32
// SOME:           llvm.fmul %x, %x {fastmathFlags = #llvm.fastmath<nsz,contract>} : f32
// SOME-NEXT:      llvm.fadd %x, %x {fastmathFlags = #llvm.fastmath<nnan,nsz,contract>} : f32
// SOME-NEXT:      llvm.intr.exp(%x) {fastmathFlags = #llvm.fastmath<nsz,contract>} : (f32) -> f32
// ALL:            llvm.fmul %x, %x {fastmathFlags = #llvm.fastmath<fast>} : f32
func.func @flags_are_those_of_the_op_and_those_asked_for(%x: f32) {
  %a = arith.mulf %x, %x : f32
  %b = arith.addf %x, %x fastmath<nnan> : f32
  %c = math.exp %x : f32
  return
}
