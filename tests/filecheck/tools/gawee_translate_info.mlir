// RUN: gawee-translate info %s | filecheck %s
// RUN: gawee-translate info --json %s | filecheck %s --check-prefix=JSON

// CHECK:      Model: gawee_translate_info
// CHECK-NEXT: Nodes: 3
// CHECK:      Total parameters: 1,024
// CHECK:      Output shapes:
// CHECK-NEXT:   y: 32x32 float32
// CHECK:      Op distribution:
// CHECK-NEXT:   gawee.relu  2
// CHECK-NEXT:   gawee.mul   1

// JSON: "total_parameters": 1024,
func.func @main(%x: tensor<32x32xf32> {gawee.input = "x"}, %w: tensor<32x32xf32> {gawee.parameter = "w"})
    -> (tensor<32x32xf32> {gawee.output = "y"}) {
  %0 = gawee.relu %x : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = gawee.mul %0, %w : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %2 = gawee.relu %1 : (tensor<32x32xf32>) -> tensor<32x32xf32>
  func.return %2 : tensor<32x32xf32>
}
