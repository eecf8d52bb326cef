// RUN: gawee-opt %s --split-input-file | filecheck %s
// RUN: gawee-opt %s --split-input-file | gawee-opt --split-input-file | filecheck %s
// RUN: gawee-opt %s --split-input-file --canonicalize | filecheck %s --check-prefix=CANONICAL

// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%x: tensor<?x?x6xf32> {gawee.input = "x", gawee.sizes = ["batch", "length", "-"]}
// CHECK-SAME:    attributes {gawee.ranges = {batch = "1 to 32", length = "8 to 512 step 8"}}
// CHECK-NEXT:    gawee.reshape %x shape ["batch * length", 6] : (tensor<?x?x6xf32>) -> tensor<?x6xf32>
// CHECK-NEXT:    gawee.matmul {{.*}} -> tensor<?x5xf32>
// CHECK-NEXT:    gawee.reshape {{.*}} shape ["batch", "length / 2", 10] : (tensor<?x5xf32>) -> tensor<?x?x10xf32>
func.func @main(%x: tensor<?x?x6xf32> {gawee.input = "x", gawee.sizes = ["batch", "length", "-"]}, %w: tensor<5x6xf32> {gawee.parameter = "w"}) -> (tensor<?x?x10xf32> {gawee.output = "y"}) attributes {gawee.ranges = {batch = "1 to 32", length = "8 to 512 step 8"}} {
  %0 = gawee.reshape %x shape ["batch * length", 6] : (tensor<?x?x6xf32>) -> tensor<?x6xf32>
  %1 = gawee.matmul %0, %w : (tensor<?x6xf32>, tensor<5x6xf32>) -> tensor<?x5xf32>
  %2 = gawee.reshape %1 shape ["batch", "length / 2", 10] : (tensor<?x5xf32>) -> tensor<?x?x10xf32>
  func.return %2 : tensor<?x?x10xf32>
}

// -----

// A size of an argument may be a sum; the other argument says its name.
// CHECK-LABEL: func.func @main
// CHECK:         gawee.cat %past, %x dim 1 : (tensor<3x?xf32>, tensor<3x?xf32>) -> tensor<3x?xf32>
// CHECK-NEXT:    gawee.add %{{.*}}, %mask : (tensor<3x?xf32>, tensor<?xf32>) -> tensor<3x?xf32>
func.func @main(%past: tensor<3x?xf32> {gawee.sizes = ["-", "past"]}, %x: tensor<3x?xf32> {gawee.sizes = ["-", "2 * new"]}, %mask: tensor<?xf32> {gawee.sizes = ["past + 2 * new"]}) -> tensor<3x?xf32> {
  %0 = gawee.cat %past, %x dim 1 : (tensor<3x?xf32>, tensor<3x?xf32>) -> tensor<3x?xf32>
  %1 = gawee.add %0, %mask : (tensor<3x?xf32>, tensor<?xf32>) -> tensor<3x?xf32>
  func.return %1 : tensor<3x?xf32>
}

// -----

// What changes nothing is found by the forms of sizes.
// CHECK-LABEL: func.func @main
// CANONICAL-LABEL: func.func @main(%x: tensor<?x3xf32>
// CANONICAL-NEXT:    gawee.relu %x
// CANONICAL-NEXT:    func.return
func.func @main(%x: tensor<?x3xf32> {gawee.sizes = ["rows", "-"]}) -> tensor<?x3xf32> {
  %0 = gawee.reshape %x shape ["3 * rows"] : (tensor<?x3xf32>) -> tensor<?xf32>
  %1 = gawee.reshape %0 shape ["rows", 3] : (tensor<?xf32>) -> tensor<?x3xf32>
  %2 = gawee.slice %1 offsets [0, 0] sizes ["rows", 3] strides [1, 1] : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %3 = gawee.relu %2 : (tensor<?x3xf32>) -> tensor<?x3xf32>
  func.return %3 : tensor<?x3xf32>
}

// -----

// A declaration computes nothing of its sizes.
// CHECK: func.func private @elsewhere(tensor<?x3xf32>)
func.func private @elsewhere(tensor<?x3xf32> {gawee.sizes = ["rows", "-"]})

// -----

// How many steps there are may be open.
// CHECK-LABEL: func.func @main
// CHECK:         gawee.scan steps "rows" over(%x : tensor<?x3xf32>) {
// CHECK:         } -> tensor<?x3xf32>
func.func @main(%x: tensor<?x3xf32> {gawee.sizes = ["rows", "-"]}) -> tensor<?x3xf32> {
  %0 = gawee.scan steps "rows" over(%x : tensor<?x3xf32>) {
  ^bb0(%now: tensor<3xf32>):
    %1 = gawee.relu %now : (tensor<3xf32>) -> tensor<3xf32>
    gawee.yield %1 : tensor<3xf32>
  } -> tensor<?x3xf32>
  func.return %0 : tensor<?x3xf32>
}
