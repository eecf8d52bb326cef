// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// KernelOp C9: a name has no count.
// CHECK: error: expected counts of 'batch, n', got those of 'n'
func.func @c9_a_name_has_no_count(%x: tensor<?x?xf32>, %n: index) {
  %y = gawee.kernel parallel ["batch", "n"] counts(n = %n) ins(%x : tensor<?x?xf32>)
    maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] finish {
  ^bb0(%e: f32):
    gawee.yield %e : f32
  } : tensor<?x?xf32> shape ["batch", "n"]
  func.return
}

// -----

// KernelOp C9: a count has no name.
// CHECK: error: 'gawee.kernel' op expected one count for each of the names (none), got 1
func.func @c9_a_count_has_no_name(%x: tensor<3xf32>, %n: index) {
  %y = "gawee.kernel"(%x, %n) <{bounds = array<i64: 3>, reductions = 0 : i64,
      operandSegmentSizes = array<i32: 1, 0, 1>,
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>]}> ({
  }, {
  ^bb0(%e: f32):
    "gawee.yield"(%e) : (f32) -> ()
  }) : (tensor<3xf32>, index) -> tensor<3xf32>
  func.return
}

// -----

// KernelOp C9: an output of open sizes has no shape.
// CHECK: error: 'gawee.kernel' op expected the 'shape' of an output of open sizes
func.func @c9_an_open_output_has_no_shape(%x: tensor<?x5xf32>, %n: index) {
  %y = gawee.kernel parallel ["n", 5] counts(n = %n) ins(%x : tensor<?x5xf32>)
    maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] finish {
  ^bb0(%e: f32):
    gawee.yield %e : f32
  } : tensor<?x5xf32>
  func.return
}

// -----

// KernelOp C9: the shape is not that of the type.
// CHECK: error: 'gawee.kernel' op expected 'shape' to be of tensor<?x5xf32>, got [n, 6]
func.func @c9_the_shape_is_of_another_type(%x: tensor<?x5xf32>, %n: index) {
  %y = gawee.kernel parallel ["n", 5] counts(n = %n) ins(%x : tensor<?x5xf32>)
    maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] finish {
  ^bb0(%e: f32):
    gawee.yield %e : f32
  } : tensor<?x5xf32> shape ["n", 6]
  func.return
}

// -----

// KernelOp C2: a map leaves its open output.
// CHECK: error: 'gawee.kernel' op expected map of the output to stay in axis 0 of size n, got 1 to n
func.func @c2_a_map_leaves_its_open_output(%x: tensor<?x5xf32>, %n: index) {
  %y = gawee.kernel parallel ["n", 5] counts(n = %n) ins(%x : tensor<?x5xf32>)
    maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i + 1, j)>] finish {
  ^bb0(%e: f32):
    gawee.yield %e : f32
  } : tensor<?x5xf32> shape ["n", 5]
  func.return
}

// -----

// KernelOp C7: the register tile has an open size.
// CHECK: error: 'gawee.kernel' op schedule: expected a loop over d0 of open size 'n', got none
func.func @c7_an_open_size_is_in_the_register_tile(%x: tensor<?x5xf32>, %n: index) {
  %y = gawee.kernel parallel ["n", 5] counts(n = %n) ins(%x : tensor<?x5xf32>)
    maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] finish {
  ^bb0(%e: f32):
    gawee.yield %e : f32
  } schedule #gawee.schedule<loops = [d1]> : tensor<?x5xf32> shape ["n", 5]
  func.return
}

// -----

// KernelOp C7: a loop over an open size does not advance.
// CHECK: error: 'gawee.kernel' op schedule: expected a step of at least 1 in 'd0 by 0', got 0
func.func @c7_a_loop_over_an_open_size_does_not_advance(%x: tensor<?x5xf32>, %n: index) {
  %y = gawee.kernel parallel ["n", 5] counts(n = %n) ins(%x : tensor<?x5xf32>)
    maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] finish {
  ^bb0(%e: f32):
    gawee.yield %e : f32
  } schedule #gawee.schedule<loops = [d0 by 0]> : tensor<?x5xf32> shape ["n", 5]
  func.return
}

// -----

// KernelOp C7: a kernel prefetches along a loop whose end is open.
// CHECK: error: 'gawee.kernel' op schedule: expected a prefetch along the outermost loop, of a size that is a number, with one open loop inside, got d0
func.func @c7_a_kernel_prefetches_along_an_open_loop(%x: tensor<?x5xf32>, %n: index) {
  %y = gawee.kernel parallel ["n"] reduce [5] counts(n = %n) ins(%x : tensor<?x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%e: f32, %s: f32):
    %0 = arith.addf %s, %e : f32
    gawee.yield %0 : f32
  } finish {
  ^bb0(%e: f32, %s: f32):
    gawee.yield %s : f32
  } schedule #gawee.schedule<loops = [d0, d1], prefetch = input 0 along d0> : tensor<?xf32> shape ["n"]
  func.return
}

// -----

// KernelOp C10: a bound is no size.
// CHECK: error: 'gawee.kernel' op expected bounds of 0 or more, got -1
func.func @c10_a_negative_bound(%x: tensor<?x5xf32>, %n: index) {
  %y = gawee.kernel parallel ["n"] reduce [-1] counts(n = %n) ins(%x : tensor<?x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>] initial 0.0 : f32 accumulate {
  ^bb0(%e: f32, %s: f32):
    %0 = arith.addf %s, %e : f32
    gawee.yield %0 : f32
  } finish {
  ^bb0(%e: f32, %s: f32):
    gawee.yield %s : f32
  } : tensor<?xf32> shape ["n"]
  func.return
}
