// RUN: gawee-opt %s -p 'assign-layouts{target=haswell},assign-schedules{target=haswell}' | filecheck %s

// Rows of an open number are taken by a few; lanes, packed weights and the sum's length are numbers.
// CHECK-LABEL: func.func @main
// CHECK:       %[[W:.*]] = gawee.kernel parallel [20, 12] ins(%w : tensor<12x20xf32>)
// CHECK:       } schedule #gawee.schedule<{{.*}}> : tensor<2x12x16xf32>
// CHECK:       gawee.kernel parallel ["n", 20] reduce [12] counts(n = %n) ins(%x, %[[W]] : tensor<?x12xf32>, tensor<2x12x16xf32>)
// CHECK:       } schedule #gawee.schedule<loops = [d1 by 16, d0 by {{[468]}}, d2], vector = d1 by 8, prefetch = input 1 along d1> : tensor<?x20xf32> shape ["n", 20]
// Where nothing but an open length lies side by side, the vector is along it.
// CHECK:       gawee.kernel parallel ["n"] reduce ["n"]
// CHECK:       } schedule #gawee.schedule<loops = [d0{{.*}}, d1 by {{8|16}}], vector = d1 by 8{{.*}}> : tensor<?xf32> shape ["n"]
func.func @main(%x: tensor<?x12xf32> {gawee.input = "x", gawee.sizes = ["n", "-"]},
                %w: tensor<12x20xf32> {gawee.parameter = "w"},
                %s: tensor<?x?xf32> {gawee.input = "s", gawee.sizes = ["n", "n"]})
    -> (tensor<?x20xf32> {gawee.output = "y"}, tensor<?xf32> {gawee.output = "z"})
    attributes {gawee.ranges = {n = "1 to 300"}} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x12xf32>
  %y = gawee.kernel parallel ["n", 20] reduce [12] counts(n = %n) ins(%x, %w : tensor<?x12xf32>, tensor<12x20xf32>)
    maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%a: f32, %b: f32, %t: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %t, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%a: f32, %b: f32, %t: f32):
    gawee.yield %t : f32
  } : tensor<?x20xf32> shape ["n", 20]
  %z = gawee.kernel parallel ["n"] reduce ["n"] counts(n = %n) ins(%s : tensor<?x?xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%a: f32, %t: f32):
    %0 = arith.addf %t, %a : f32
    gawee.yield %0 : f32
  } finish {
  ^bb0(%a: f32, %t: f32):
    gawee.yield %t : f32
  } : tensor<?xf32> shape ["n"]
  func.return %y, %z : tensor<?x20xf32>, tensor<?xf32>
}

// An input whose lanes are apart, since they are along its open rows, is transposed once.
// CHECK-LABEL: func.func @scores
// CHECK:       %[[KEYS:.*]] = gawee.kernel parallel [64, "n"] counts(n = %n) ins(%k : tensor<?x64xf32>) maps [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>]
// CHECK:       } schedule #gawee.schedule<{{.*}}> : tensor<64x?xf32> shape [64, "n"]
// CHECK:       gawee.kernel parallel ["n", "n"] reduce [64] counts(n = %n) ins(%q, %[[KEYS]] : tensor<?x64xf32>, tensor<64x?xf32>)
// CHECK:       } schedule #gawee.schedule<loops = [d1 by {{8|16}}, d0 by {{[468]}}, d2], vector = d1 by 8> : tensor<?x?xf32> shape ["n", "n"]
func.func @scores(%q: tensor<?x64xf32> {gawee.input = "q", gawee.sizes = ["n", "-"]},
                  %k: tensor<?x64xf32> {gawee.input = "k", gawee.sizes = ["n", "-"]})
    -> (tensor<?x?xf32> {gawee.output = "y"})
    attributes {gawee.ranges = {n = "1 to 300"}} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %q, %c0 : tensor<?x64xf32>
  %y = gawee.kernel parallel ["n", "n"] reduce [64] counts(n = %n) ins(%q, %k : tensor<?x64xf32>, tensor<?x64xf32>)
    maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%a: f32, %b: f32, %t: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %t, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%a: f32, %b: f32, %t: f32):
    gawee.yield %t : f32
  } : tensor<?x?xf32> shape ["n", "n"]
  func.return %y : tensor<?x?xf32>
}
