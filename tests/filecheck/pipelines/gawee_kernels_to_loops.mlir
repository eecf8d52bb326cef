// RUN: gawee-opt --gawee-kernels-to-loops %s | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME:  %[[X:x]]: memref<3x19xf32>{{.*}}, %[[Y:y]]: memref<3x19xf32> {gawee.output = "y"}, %[[SPACE:[a-z]+]]: memref<256xi8> {gawee.workspace}
// CHECK:       %[[T:.*]] = memref.view %[[SPACE]]{{.*}} to memref<3x19xf32>
// CHECK:       call @[[K:elementwise_0]](%[[X]], %[[T]])
// CHECK:       call @[[K]](%[[T]], %[[Y]])
// CHECK:       func.func private @[[K]]
// CHECK:       scf.for
// CHECK:       math.exp %{{.*}} : vector<8xf32>
// CHECK-NOT:   {{(gawee.kernel|tensor\.|linalg\.)}}
func.func @main(%x: tensor<3x19xf32> {gawee.input = "x"}) -> (tensor<3x19xf32> {gawee.output = "y"}) {
  %t = gawee.kernel parallel [3, 19] ins(%x : tensor<3x19xf32>) maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>] finish {
  ^bb0(%a: f32):
    %b = math.exp %a : f32
    gawee.yield %b : f32
  } schedule #gawee.schedule<loops = [d0, d1 by 8], vector = d1 by 8> : tensor<3x19xf32>
  %y = gawee.kernel parallel [3, 19] ins(%t : tensor<3x19xf32>) maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>] finish {
  ^bb0(%c: f32):
    %d = math.exp %c : f32
    gawee.yield %d : f32
  } schedule #gawee.schedule<loops = [d0, d1 by 8], vector = d1 by 8> : tensor<3x19xf32>
  return %y : tensor<3x19xf32>
}
