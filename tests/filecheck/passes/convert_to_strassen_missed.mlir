// RUN: gawee-opt %s -p 'convert-to-strassen{target=znver3 num-threads=1}' --explain-missed -o %t 2>&1 | filecheck %s
// RUN: filecheck --check-prefix KEPT %s < %t
// RUN: gawee-opt %s -p 'convert-to-strassen{target=znver3 num-threads=2}' --explain-missed -o %t 2>&1 | filecheck --check-prefix THREADS %s
// RUN: gawee-opt %s -p 'convert-to-strassen{target=znver4 num-threads=1}' --explain-missed -o %t 2>&1 | filecheck --check-prefix WIDE %s

// KEPT-NOT: tensor.insert_slice
// WIDE: ConvertProduct ({{.*}}): expected vectors of 256 bits at most, got 512
// THREADS: ConvertProduct ({{.*}}): expected a kernel that one thread runs, got 2 threads

// CHECK: ConvertProduct ({{.*}}): expected even sizes, got 133
func.func @a_half_has_whole_sizes(%x: tensor<133x358xf32> {gawee.input = "x"}, %w: tensor<288x358xf32> {gawee.parameter = "w"}) -> tensor<133x288xf32> {
  %y = gawee.kernel parallel [133, 288] reduce [358] ins(%x, %w : tensor<133x358xf32>, tensor<288x358xf32>)
    maps [affine_map<(r, c, k) -> (r, k)>, affine_map<(r, c, k) -> (c, k)>, affine_map<(r, c, k) -> (r, c)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%p: f32, %q: f32, %t: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %t, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%p: f32, %q: f32, %t: f32):
    gawee.yield %t : f32
  } : tensor<133x288xf32>
  func.return %y : tensor<133x288xf32>
}

// CHECK: ConvertProduct ({{.*}}): expected 64 rows, columns and terms or more, got 62
func.func @few_rows_wait_for_weights(%x: tensor<62x358xf32> {gawee.input = "x"}, %w: tensor<288x358xf32> {gawee.parameter = "w"}) -> tensor<62x288xf32> {
  %y = gawee.kernel parallel [62, 288] reduce [358] ins(%x, %w : tensor<62x358xf32>, tensor<288x358xf32>)
    maps [affine_map<(r, c, k) -> (r, k)>, affine_map<(r, c, k) -> (c, k)>, affine_map<(r, c, k) -> (r, c)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%p: f32, %q: f32, %t: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %t, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%p: f32, %q: f32, %t: f32):
    gawee.yield %t : f32
  } : tensor<62x288xf32>
  func.return %y : tensor<62x288xf32>
}

// CHECK: ConvertProduct ({{.*}}): expected fewer cycles than the kernel as it is written, got more
func.func @a_small_product_stays(%x: tensor<66x68xf32> {gawee.input = "x"}, %w: tensor<64x68xf32> {gawee.parameter = "w"}) -> tensor<66x64xf32> {
  %y = gawee.kernel parallel [66, 64] reduce [68] ins(%x, %w : tensor<66x68xf32>, tensor<64x68xf32>)
    maps [affine_map<(r, c, k) -> (r, k)>, affine_map<(r, c, k) -> (c, k)>, affine_map<(r, c, k) -> (r, c)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%p: f32, %q: f32, %t: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %t, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%p: f32, %q: f32, %t: f32):
    gawee.yield %t : f32
  } : tensor<66x64xf32>
  func.return %y : tensor<66x64xf32>
}

// CHECK: ConvertProduct ({{.*}}): expected sizes that are numbers, got open ones
func.func @open_sizes_stay(%x: tensor<?x358xf32> {gawee.input = "x", gawee.sizes = ["n", "-"]}, %w: tensor<288x358xf32> {gawee.parameter = "w"}) -> tensor<?x288xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x358xf32>
  %y = gawee.kernel parallel ["n", 288] reduce [358] counts(n = %n) ins(%x, %w : tensor<?x358xf32>, tensor<288x358xf32>)
    maps [affine_map<(r, c, k) -> (r, k)>, affine_map<(r, c, k) -> (c, k)>, affine_map<(r, c, k) -> (r, c)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%p: f32, %q: f32, %t: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %t, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%p: f32, %q: f32, %t: f32):
    gawee.yield %t : f32
  } : tensor<?x288xf32> shape ["n", 288]
  func.return %y : tensor<?x288xf32>
}

// CHECK: ConvertProduct ({{.*}}): expected one factor of weights, got 0
func.func @a_product_of_two_inputs_stays(%x: tensor<132x358xf32> {gawee.input = "x"}, %w: tensor<288x358xf32> {gawee.input = "w"}) -> tensor<132x288xf32> {
  %y = gawee.kernel parallel [132, 288] reduce [358] ins(%x, %w : tensor<132x358xf32>, tensor<288x358xf32>)
    maps [affine_map<(r, c, k) -> (r, k)>, affine_map<(r, c, k) -> (c, k)>, affine_map<(r, c, k) -> (r, c)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%p: f32, %q: f32, %t: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %t, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%p: f32, %q: f32, %t: f32):
    gawee.yield %t : f32
  } : tensor<132x288xf32>
  func.return %y : tensor<132x288xf32>
}

// CHECK: ConvertProduct ({{.*}}): expected a sum of products along one dimension, without a schedule
func.func @a_schedule_is_kept(%x: tensor<132x358xf32> {gawee.input = "x"}, %w: tensor<288x358xf32> {gawee.parameter = "w"}) -> tensor<132x288xf32> {
  %y = gawee.kernel parallel [132, 288] reduce [358] ins(%x, %w : tensor<132x358xf32>, tensor<288x358xf32>)
    maps [affine_map<(r, c, k) -> (r, k)>, affine_map<(r, c, k) -> (c, k)>, affine_map<(r, c, k) -> (r, c)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%p: f32, %q: f32, %t: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %t, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%p: f32, %q: f32, %t: f32):
    gawee.yield %t : f32
  } schedule #gawee.schedule<loops = [d1 by 16, d0 by 6, d2], vector = d1 by 8> : tensor<132x288xf32>
  func.return %y : tensor<132x288xf32>
}

// CHECK: ConvertProduct ({{.*}}): expected a sum of products along one dimension, without a schedule
func.func @two_reductions_stay(%x: tensor<132x2x358xf32> {gawee.input = "x"}, %w: tensor<288x2x358xf32> {gawee.parameter = "w"}) -> tensor<132x288xf32> {
  %y = gawee.kernel parallel [132, 288] reduce [2, 358] ins(%x, %w : tensor<132x2x358xf32>, tensor<288x2x358xf32>)
    maps [affine_map<(r, c, k, l) -> (r, k, l)>, affine_map<(r, c, k, l) -> (c, k, l)>, affine_map<(r, c, k, l) -> (r, c)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%p: f32, %q: f32, %t: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %t, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%p: f32, %q: f32, %t: f32):
    gawee.yield %t : f32
  } : tensor<132x288xf32>
  func.return %y : tensor<132x288xf32>
}

// CHECK: ConvertProduct ({{.*}}): expected factors, sums and results of f32
func.func @integers_stay(%x: tensor<132x358xi32> {gawee.input = "x"}, %w: tensor<288x358xi32> {gawee.parameter = "w"}) -> tensor<132x288xi32> {
  %y = gawee.kernel parallel [132, 288] reduce [358] ins(%x, %w : tensor<132x358xi32>, tensor<288x358xi32>)
    maps [affine_map<(r, c, k) -> (r, k)>, affine_map<(r, c, k) -> (c, k)>, affine_map<(r, c, k) -> (r, c)>]
    initial 0 : i32 accumulate {
  ^bb0(%p: i32, %q: i32, %t: i32):
    %0 = arith.muli %p, %q : i32
    %1 = arith.addi %t, %0 : i32
    gawee.yield %1 : i32
  } finish {
  ^bb0(%p: i32, %q: i32, %t: i32):
    gawee.yield %t : i32
  } : tensor<132x288xi32>
  func.return %y : tensor<132x288xi32>
}

// CHECK: ConvertProduct ({{.*}}): expected sums from zero
func.func @a_sum_from_one_stays(%x: tensor<132x358xf32> {gawee.input = "x"}, %w: tensor<288x358xf32> {gawee.parameter = "w"}) -> tensor<132x288xf32> {
  %y = gawee.kernel parallel [132, 288] reduce [358] ins(%x, %w : tensor<132x358xf32>, tensor<288x358xf32>)
    maps [affine_map<(r, c, k) -> (r, k)>, affine_map<(r, c, k) -> (c, k)>, affine_map<(r, c, k) -> (r, c)>]
    initial 1.0 : f32 accumulate {
  ^bb0(%p: f32, %q: f32, %t: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %t, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%p: f32, %q: f32, %t: f32):
    gawee.yield %t : f32
  } : tensor<132x288xf32>
  func.return %y : tensor<132x288xf32>
}

// CHECK: ConvertProduct ({{.*}}): expected 'finish' to use no factor
func.func @a_factor_that_is_read_again_stays(%x: tensor<132x358xf32> {gawee.input = "x"}, %w: tensor<288x358xf32> {gawee.parameter = "w"}) -> tensor<132x288xf32> {
  %y = gawee.kernel parallel [132, 288] reduce [358] ins(%x, %w : tensor<132x358xf32>, tensor<288x358xf32>)
    maps [affine_map<(r, c, k) -> (r, 0)>, affine_map<(r, c, k) -> (c, k)>, affine_map<(r, c, k) -> (r, c)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%p: f32, %q: f32, %t: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %t, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%p: f32, %q: f32, %t: f32):
    %0 = arith.addf %t, %p : f32
    gawee.yield %0 : f32
  } : tensor<132x288xf32>
  func.return %y : tensor<132x288xf32>
}

// CHECK: ConvertProduct ({{.*}}): expected rows of one factor and columns of the other
func.func @products_side_by_side_stay(%x: tensor<2x132x358xf32> {gawee.input = "x"}, %w: tensor<2x288x358xf32> {gawee.parameter = "w"}) -> tensor<2x132x288xf32> {
  %y = gawee.kernel parallel [2, 132, 288] reduce [358] ins(%x, %w : tensor<2x132x358xf32>, tensor<2x288x358xf32>)
    maps [affine_map<(b, r, c, k) -> (b, r, k)>, affine_map<(b, r, c, k) -> (b, c, k)>, affine_map<(b, r, c, k) -> (b, r, c)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%p: f32, %q: f32, %t: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %t, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%p: f32, %q: f32, %t: f32):
    gawee.yield %t : f32
  } : tensor<2x132x288xf32>
  func.return %y : tensor<2x132x288xf32>
}

// CHECK: ConvertProduct ({{.*}}): expected an output of these rows and columns
func.func @blocks_stay(%x: tensor<132x358xf32> {gawee.input = "x"}, %w: tensor<288x358xf32> {gawee.parameter = "w"}) -> tensor<18x132x16xf32> {
  %y = gawee.kernel parallel [132, 288] reduce [358] ins(%x, %w : tensor<132x358xf32>, tensor<288x358xf32>)
    maps [affine_map<(r, c, k) -> (r, k)>, affine_map<(r, c, k) -> (c, k)>, affine_map<(r, c, k) -> (c floordiv 16, r, c mod 16)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%p: f32, %q: f32, %t: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %t, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%p: f32, %q: f32, %t: f32):
    gawee.yield %t : f32
  } : tensor<18x132x16xf32>
  func.return %y : tensor<18x132x16xf32>
}
