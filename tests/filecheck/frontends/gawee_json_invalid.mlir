// RUN: not gawee-translate %S/inputs/unsupported.json 2>&1 | filecheck %s --match-full-lines
// RUN: not gawee-translate %S/inputs/unsupported.json -o %t.mlir; not ls %t.mlir
// RUN: not gawee-translate %S/inputs/conv_relu.json --wieghts . 2>&1 | filecheck %s --check-prefix FLAG
// RUN: not gawee-translate %S/inputs/conv_relu.json --no-weights --weights . 2>&1 | filecheck %s --check-prefix BOTH
// RUN: not gawee-translate %S/inputs/conv_relu.json --weights nowhere 2>&1 | filecheck %s --check-prefix NOWHERE
// RUN: not gawee-translate %S/inputs/conv_relu.json --to gawee-json 2>&1 | filecheck %s --check-prefix STDOUT
// RUN: not gawee-translate %S/inputs/absent.json 2>&1 | filecheck %s --check-prefix ABSENT
// RUN: echo hello | not gawee-translate 2>&1 | filecheck %s --check-prefix FORMAT

// CHECK:      {{.*}}unsupported.json:8:5: error: unsupported op_type 'Sofmax'
// CHECK-NEXT:   node "head"
// CHECK-NEXT: hint: supported: Conv, MatMul,{{.*}}
// CHECK-NEXT: {{.*}}unsupported.json:9:5: error: unsupported op_type 'MaxPol'
// CHECK-NEXT:   node "pool"
// CHECK-NEXT: hint: did you mean 'MaxPool'?

// FLAG:       error: unknown argument '--wieghts'
// FLAG-NEXT:  hint: did you mean '--weights'?
// BOTH:       error: expected --weights or --no-weights, got both
// NOWHERE:    error: cannot read weights: there is no 'nowhere'
// STDOUT:     error: cannot write 1 weight files to standard output
// STDOUT-NEXT: hint: -o graph.json writes them beside it, --no-weights leaves them out
// ABSENT:     error: cannot open '{{.*}}absent.json'
// FORMAT:     error: cannot recognise the format of '<stdin>'; supported: npu-ir, xoc, gawee-json, onnx, invocations, mlir
