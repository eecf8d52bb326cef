// RUN: gawee-opt %s --verify-roundtrip | filecheck %s

// CHECK-LABEL: @bounds_are_forms_of_names
// CHECK: gawee.kernel parallel ["batch * length", 5] reduce [7] counts(batch = %b, length = %l) ins(%x
// CHECK: tensor<?x5xf32> shape ["batch * length", 5]
func.func @bounds_are_forms_of_names(%x: tensor<?x7xf32>, %b: index, %l: index) -> tensor<?x5xf32>
    attributes {gawee.ranges = {batch = "1 to 9"}} {
  %y = gawee.kernel parallel ["batch * length", 5] reduce [7] counts(batch = %b, length = %l)
    ins(%x : tensor<?x7xf32>)
    maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i, j)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%e: f32, %s: f32):
    %0 = arith.addf %s, %e : f32
    gawee.yield %0 : f32
  } finish {
  ^bb0(%e: f32, %s: f32):
    gawee.yield %s : f32
  } schedule #gawee.schedule<loops = [d0 by 6, d1, d2]> : tensor<?x5xf32> shape ["batch * length", 5]
  func.return %y : tensor<?x5xf32>
}

// CHECK-LABEL: @an_open_output_is_larger_than_its_points
// CHECK: outs(%y)
// CHECK: memref<?x5xf32> shape ["n + 2", 5]
func.func @an_open_output_is_larger_than_its_points(%x: memref<?x5xf32>, %n: index, %y: memref<?x5xf32>) {
  gawee.kernel parallel ["n", 5] counts(n = %n) ins(%x : memref<?x5xf32>) outs(%y)
    maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i + 1, j)>] finish {
  ^bb0(%e: f32):
    gawee.yield %e : f32
  } : memref<?x5xf32> shape ["n + 2", 5]
  func.return
}

// CHECK-LABEL: @a_static_output_of_an_open_reduction
// CHECK: parallel [3] reduce ["n"] counts(n = %n)
// CHECK: : tensor<3xf32>{{$}}
func.func @a_static_output_of_an_open_reduction(%x: tensor<3x?xf32>, %n: index) -> tensor<3xf32> {
  %y = gawee.kernel parallel [3] reduce ["n"] counts(n = %n) ins(%x : tensor<3x?xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%e: f32, %s: f32):
    %0 = arith.addf %s, %e : f32
    gawee.yield %0 : f32
  } finish {
  ^bb0(%e: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<3xf32>
  func.return %y : tensor<3xf32>
}
