// RUN: gawee-opt %s --canonicalize --mlir-print-debuginfo | filecheck %s

// CHECK-LABEL: func.func @what_replaces_an_op_has_its_place
// CHECK-NEXT:  gawee.constant dense<3.000000e+00> : tensor<2xf32> loc("sum"("net.json":7:3))
// CHECK:       gawee.reshape %{{.*}} shape [6] {{.*}} loc("net.json":9:1)
func.func @what_replaces_an_op_has_its_place(%x: tensor<2x3xf32>) -> (tensor<2xf32>, tensor<6xf32>) {
  %a = gawee.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = gawee.constant dense<[2.0, 1.0]> : tensor<2xf32>
  %c = gawee.add %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("sum"("net.json":7:3))
  %d = gawee.reshape %x shape [3, 2] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %e = gawee.flatten %d start_dim 0 end_dim 1 : (tensor<3x2xf32>) -> tensor<6xf32> loc("net.json":9:1)
  func.return %c, %e : tensor<2xf32>, tensor<6xf32>
}
