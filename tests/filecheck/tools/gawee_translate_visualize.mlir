// RUN: gawee-translate visualize %s --max-nodes=2 | filecheck %s
// RUN: gawee-translate visualize --no-weights %s | filecheck %s --check-prefix=BARE
// RUN: gawee-translate visualize --pie %s | filecheck %s --check-prefix=PIE

// CHECK:      flowchart TD
// CHECK:      w_w[/"w"/]
// CHECK-NEXT: more_nodes["… 1 more node …"]
// CHECK:      w_w -.->|"32x32"| op_scaled
// CHECK:      more_nodes -->|"32x32"| output_0

// BARE-NOT: w_w
// BARE:     op_last -->|"32x32"| output_0

// PIE:      pie showData
// PIE-NEXT: title Operator Distribution
// PIE-NEXT: "gawee.relu" : 2
func.func @main(%x: tensor<32x32xf32> {gawee.input = "x"}, %w: tensor<32x32xf32> {gawee.parameter = "w"})
    -> (tensor<32x32xf32> {gawee.output = "y"}) {
  %first = gawee.relu %x : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %scaled = gawee.mul %first, %w : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %last = gawee.relu %scaled : (tensor<32x32xf32>) -> tensor<32x32xf32>
  func.return %last : tensor<32x32xf32>
}
