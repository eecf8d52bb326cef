// RUN: gawee-opt --canonicalize %s | filecheck %s
// RUN: gawee-opt %s --canonicalize | filecheck %s
// RUN: gawee-opt --split-input-file --canonicalize %s --verify-each=true | filecheck %s
// RUN: gawee-opt -p canonicalize %s | filecheck %s
// RUN: gawee-opt -pcanonicalize %s | filecheck %s
// RUN: gawee-opt %s -p=canonicalize | filecheck %s
// RUN: gawee-opt %s --passes=canonicalize | filecheck %s
// RUN: gawee-opt --pass-pipeline='builtin.module(canonicalize)' %s | filecheck %s
// RUN: gawee-opt %s --pass-pipeline 'builtin.module(cse,canonicalize)' | filecheck %s
// RUN: gawee-opt -p 'cse,canonicalize' %s | filecheck %s
// RUN: gawee-opt --canonicalize < %s | filecheck %s
// RUN: gawee-opt - --canonicalize < %s | filecheck %s

// CHECK-LABEL: func.func @canonicalize_runs_in_every_spelling_and_position
// CHECK-SAME:  (%[[X:.*]]: tensor<2x3xf32>)
// CHECK-NEXT:  return %[[X]]
func.func @canonicalize_runs_in_every_spelling_and_position(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.identity %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
