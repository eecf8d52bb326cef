// RUN: gawee-opt --check-each --check-rtol=0 --check-atol=1 --load=%S/../../instruments/wrong_passes/wrong_constant.py --wrong-constant --verify-diagnostics %s 2>/dev/null | filecheck %s
// RUN: gawee-opt --check-each --check-atol=1e-9 --load=%S/../../instruments/wrong_passes/wrong_constant.py --wrong-constant --verify-diagnostics %s 2>/dev/null | filecheck %s --check-prefix=LITTLE

// LITTLE: error: pass 'wrong-constant' moved output 'output0' at {{.*}} allowed: approximates(2 ulp)

// CHECK:  func.func @a_reciprocal_of_three_digits
func.func @a_reciprocal_of_three_digits(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %c = gawee.constant dense<3.000000e+00> : tensor<f32>
  %y = gawee.div %x, %c : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}
