// RUN: gawee-opt %s --specialize-sizes='batch=4 length=16' | filecheck %s
// RUN: gawee-opt %s -p 'specialize-sizes{length=16},specialize-sizes{sizes="batch=4"}' | filecheck %s
// RUN: gawee-opt %s --specialize-sizes=batch=4 | filecheck %s --check-prefix=SOME
// RUN: not gawee-opt %s --specialize-sizes='batch=33 lenth=16' 2>&1 | filecheck %s --check-prefix=WRONG
// RUN: not gawee-opt %s --specialize-sizes=batch=many 2>&1 | filecheck %s --check-prefix=WORD
// RUN: gawee-opt %s --cse --dce | filecheck %s --check-prefix=CSE
// RUN: not gawee-opt %s --linalg-generalize-named-ops 2>&1 | filecheck %s --check-prefix=OPEN

// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%x: tensor<4x16x6xf32> {gawee.input = "x"}) -> tensor<4x8x12xf32> {
// CHECK-NEXT:    gawee.relu %x : (tensor<4x16x6xf32>) -> tensor<4x16x6xf32>
// CHECK-NEXT:    gawee.reshape {{.*}} shape [4, 8, 12] : (tensor<4x16x6xf32>) -> tensor<4x8x12xf32>
// SOME:          (%x: tensor<4x?x6xf32> {gawee.input = "x", gawee.sizes = ["-", "length", "-"]}) -> tensor<4x?x12xf32> attributes {gawee.ranges = {length = "8 to 512 step 8"}}
// SOME:          gawee.reshape {{.*}} shape [4, "length / 2", 12] : (tensor<4x?x6xf32>) -> tensor<4x?x12xf32>
// CSE:           gawee.relu
// CSE-NEXT:      gawee.reshape
// CSE-NEXT:      return
// WRONG:       error: unknown size 'lenth'
// WRONG-NEXT:  hint: sizes that are open: batch, length
// WRONG-NEXT:  error: expected size 'batch' of 1 to 32, got 33
// WORD:        error: expected a size such as batch=4, got 'batch=many'
// OPEN:        specialize_sizes.mlir:24:1: error: 'func.func' op has open sizes ('batch', 'length'), which pass 'linalg-generalize-named-ops' does not take
// OPEN-NEXT:   hint: numbers for open sizes: --shape batch=4, compile(sizes={'batch': 4}), or the pass specialize-sizes{batch=4}; one code for a range: compile(sizes={'batch': (1, 32)})
func.func @main(%x: tensor<?x?x6xf32> {gawee.input = "x", gawee.sizes = ["batch", "length", "-"]}) -> tensor<?x?x12xf32> attributes {gawee.ranges = {batch = "1 to 32", length = "8 to 512 step 8"}} {
  %0 = gawee.relu %x : (tensor<?x?x6xf32>) -> tensor<?x?x6xf32>
  %1 = gawee.reshape %0 shape ["batch", "length / 2", 12] : (tensor<?x?x6xf32>) -> tensor<?x?x12xf32>
  %2 = gawee.relu %x : (tensor<?x?x6xf32>) -> tensor<?x?x6xf32>
  %3 = gawee.reshape %2 shape ["batch", "length / 2", 12] : (tensor<?x?x6xf32>) -> tensor<?x?x12xf32>
  func.return %1 : tensor<?x?x12xf32>
}
