// RUN: gawee-opt -p share-kernels --split-input-file %s | filecheck %s
// RUN: gawee-opt -p share-kernels,bufferize,outline-kernels --split-input-file %s | filecheck %s --check-prefix=OUTLINED

// CHECK-LABEL: func.func @numbers_that_differ_are_read
// CHECK-DAG:     %[[A:.*]] = arith.constant dense<2.500000e-01> : tensor<f32>
// CHECK:         gawee.kernel parallel [7] ins(%x, %[[A]] : tensor<7xf32>, tensor<f32>) maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>] finish {
// CHECK-NEXT:    ^bb0(%[[X:.*]]: f32, %[[S:.*]]: f32):
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[X]], %[[S]] : f32
// CHECK-NEXT:      %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:      arith.addf %[[P]], %[[ONE]] : f32
// CHECK:         %[[B:.*]] = arith.constant dense<5.000000e-01> : tensor<f32>
// CHECK:         gawee.kernel parallel [7] ins(%{{.*}}, %[[B]] : tensor<7xf32>, tensor<f32>)

// OUTLINED-LABEL: func.func @numbers_that_differ_are_read
// OUTLINED:         func.call @elementwise_0(%x, %{{.*}}, %{{.*}}) : (memref<7xf32>, memref<f32>, memref<7xf32>) -> ()
// OUTLINED:         func.call @elementwise_0(%{{.*}}, %{{.*}}, %{{.*}}) : (memref<7xf32>, memref<f32>, memref<7xf32>) -> ()
func.func @numbers_that_differ_are_read(%x: tensor<7xf32>) -> tensor<7xf32> {
  %0 = gawee.kernel parallel [7] ins(%x : tensor<7xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] finish {
  ^bb0(%a: f32):
    %s = arith.constant 0.25 : f32
    %p = arith.mulf %a, %s : f32
    %one = arith.constant 1.0 : f32
    %r = arith.addf %p, %one : f32
    gawee.yield %r : f32
  } : tensor<7xf32>
  %1 = gawee.kernel parallel [7] ins(%0 : tensor<7xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] finish {
  ^bb0(%a: f32):
    %s = arith.constant 0.5 : f32
    %p = arith.mulf %a, %s : f32
    %one = arith.constant 1.0 : f32
    %r = arith.addf %p, %one : f32
    gawee.yield %r : f32
  } : tensor<7xf32>
  func.return %1 : tensor<7xf32>
}

// -----

// A maximum with a known number is one instruction, since that is no NaN.
// CHECK-LABEL: func.func @bounds_stay_in_the_kernel
// CHECK-NOT:     tensor<f32>
func.func @bounds_stay_in_the_kernel(%x: tensor<7xf32>) -> tensor<7xf32> {
  %0 = gawee.kernel parallel [7] ins(%x : tensor<7xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] finish {
  ^bb0(%a: f32):
    %s = arith.constant 0.25 : f32
    %p = arith.maximumf %a, %s : f32
    gawee.yield %p : f32
  } : tensor<7xf32>
  %1 = gawee.kernel parallel [7] ins(%0 : tensor<7xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] finish {
  ^bb0(%a: f32):
    %s = arith.constant 0.5 : f32
    %p = arith.maximumf %a, %s : f32
    gawee.yield %p : f32
  } : tensor<7xf32>
  func.return %1 : tensor<7xf32>
}

// -----

// CHECK-LABEL: func.func @a_kernel_that_no_other_is_like_keeps_its_numbers
// CHECK-NOT:     tensor<f32>
func.func @a_kernel_that_no_other_is_like_keeps_its_numbers(%x: tensor<7xf32>) -> tensor<5xf32> {
  %0 = gawee.kernel parallel [7] ins(%x : tensor<7xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] finish {
  ^bb0(%a: f32):
    %s = arith.constant 0.25 : f32
    %p = arith.mulf %a, %s : f32
    gawee.yield %p : f32
  } : tensor<7xf32>
  %1 = gawee.kernel parallel [5] ins(%0 : tensor<7xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] finish {
  ^bb0(%a: f32):
    %s = arith.constant 0.5 : f32
    %p = arith.mulf %a, %s : f32
    gawee.yield %p : f32
  } : tensor<5xf32>
  func.return %1 : tensor<5xf32>
}
