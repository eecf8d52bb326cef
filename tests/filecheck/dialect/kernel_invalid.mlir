// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// KernelOp C1: a map is missing.
// CHECK: error: 'gawee.kernel' op expected 2 maps, one for each operand, got 1
func.func @c1_a_map_is_missing(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } : tensor<3xf32>
  func.return
}

// -----

// KernelOp C1: a map has too few results.
// CHECK: error: 'gawee.kernel' op expected map of input #0 to take 2 dimensions to 2 axes, got '(d0, d1) -> (d0)'
func.func @c1_a_map_has_too_few_results(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } : tensor<3xf32>
  func.return
}

// -----

// KernelOp C1: the map of the output is over other dimensions.
// CHECK: error: 'gawee.kernel' op expected map of the output to take 2 dimensions to 1 axes, got '(d0) -> (d0)'
func.func @c1_the_map_of_the_output_is_over_other_dimensions(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } : tensor<3xf32>
  func.return
}

// -----

// KernelOp C2: a map leaves its input.
// CHECK: error: 'gawee.kernel' op expected map of input #0 to stay in axis 1 of size 5, got 1 to 5
func.func @c2_a_map_leaves_its_input(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k + 1)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } : tensor<3xf32>
  func.return
}

// -----

// KernelOp C2: a map leaves its output.
// CHECK: error: 'gawee.kernel' op expected map of the output to stay in axis 0 of size 3, got 0 to 4
func.func @c2_a_map_leaves_its_output(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i * 2)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } : tensor<3xf32>
  func.return
}

// -----

// KernelOp C2: the range of a map is unknown.
// CHECK: error: 'gawee.kernel' op expected a positive constant divisor in a map
func.func @c2_the_range_of_a_map_is_unknown(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i mod 0, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } : tensor<3xf32>
  func.return
}

// -----

// KernelOp C3: the output lacks a dimension.
// CHECK: error: 'gawee.kernel' op expected d1 in the output's map '(d0, d1) -> (d0)'
func.func @c3_the_output_lacks_a_dimension(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3, 5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    finish {
    ^bb0(%e: f32):
      gawee.yield %e : f32
    } : tensor<3xf32>
  func.return
}

// -----

// KernelOp C3: the output depends on a reduction.
// CHECK: error: 'gawee.kernel' op expected no reduction in the output's map, got d1
func.func @c3_the_output_depends_on_a_reduction(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } : tensor<3x5xf32>
  func.return
}

// -----

// KernelOp C4: a reduction has no initial value.
// CHECK: error: 'gawee.kernel' op expected 'initial' and 'accumulate' exactly where there are reductions
func.func @c4_a_reduction_has_no_initial_value(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } : tensor<3xf32>
  func.return
}

// -----

// KernelOp C4: an initial value has no reduction.
// CHECK: error: 'gawee.kernel' op expected 'initial' and 'accumulate' exactly where there are reductions
func.func @c4_an_initial_value_has_no_reduction(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3, 5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } : tensor<3x5xf32>
  func.return
}

// -----

// KernelOp C4: the sum has two blocks.
// CHECK: error: 'gawee.kernel' op expected 'accumulate' to have one block, got 2
func.func @c4_the_sum_has_two_blocks(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    ^second(%f: f32, %t: f32):
      gawee.yield %t : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } : tensor<3xf32>
  func.return
}

// -----

// KernelOp C4: a region lacks the accumulator.
// CHECK: error: 'gawee.kernel' op expected 'finish' to take (f32, f32), got (f32)
func.func @c4_a_region_lacks_the_accumulator(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32):
      gawee.yield %e : f32
    } : tensor<3xf32>
  func.return
}

// -----

// KernelOp C5: a region yields another type.
// CHECK: error: 'gawee.kernel' op expected 'finish' to yield (f32), got (f64)
func.func @c5_a_region_yields_another_type(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      %d = arith.extf %s : f32 to f64
      gawee.yield %d : f64
    } : tensor<3xf32>
  func.return
}

// -----

// KernelOp C5: a region ends otherwise.
// CHECK: error: 'gawee.kernel' op expected 'accumulate' to end in gawee.yield
func.func @c5_a_region_ends_otherwise(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      linalg.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } : tensor<3xf32>
  func.return
}

// -----

// KernelOp C6: finish uses an input that a reduction walks.
// CHECK: error: 'gawee.kernel' op expected 'finish' to use no input that a reduction walks, got input #0
func.func @c6_finish_uses_an_input_that_a_reduction_walks(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } : tensor<3xf32>
  func.return
}

// -----

// KernelOp C7: a loop is over no dimension.
// CHECK: error: 'gawee.kernel' op schedule: expected a loop over one of 2 dimensions, got d2
func.func @c7_a_loop_is_over_no_dimension(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } schedule #gawee.schedule<loops = [d2]> : tensor<3xf32>
  func.return
}

// -----

// KernelOp C7: a step is longer than its dimension.
// CHECK: error: 'gawee.kernel' op schedule: expected a step of 1 to 3 in 'd0 by 4', got 4
func.func @c7_a_step_is_longer_than_its_dimension(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } schedule #gawee.schedule<loops = [d0 by 4, d1]> : tensor<3xf32>
  func.return
}

// -----

// KernelOp C7: an inner loop steps further than the one around it.
// CHECK: error: 'gawee.kernel' op schedule: expected a step of 1 to 2 in 'd0 by 3', got 3
func.func @c7_an_inner_loop_steps_further_than_the_one_around_it(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } schedule #gawee.schedule<loops = [d0 by 2, d0 by 3, d1]> : tensor<3xf32>
  func.return
}

// -----

// KernelOp C7: a parallel loop is inside of a reduction.
// CHECK: error: 'gawee.kernel' op schedule: expected loop 'd0' outside the reductions, got it inside
func.func @c7_a_parallel_loop_is_inside_of_a_reduction(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } schedule #gawee.schedule<loops = [d1, d0]> : tensor<3xf32>
  func.return
}

// -----

// KernelOp C7: a reduction is run by several threads.
// CHECK: error: 'gawee.kernel' op schedule: expected at most 1 parallel loops, got 2
func.func @c7_a_reduction_is_run_by_several_threads(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } schedule #gawee.schedule<loops = [d0, d1], parallel = 2> : tensor<3xf32>
  func.return
}

// -----

// KernelOp C7: a reduction is in the register tile.
// CHECK: error: 'gawee.kernel' op schedule: expected a loop by 1 over reduction d1, got a tile of 5
func.func @c7_a_reduction_is_in_the_register_tile(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } schedule #gawee.schedule<loops = [d0]> : tensor<3xf32>
  func.return
}

// -----

// KernelOp C7: a vector is along no dimension.
// CHECK: error: 'gawee.kernel' op schedule: expected a vector along one of 2 dimensions, got d2
func.func @c7_a_vector_is_along_no_dimension(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } schedule #gawee.schedule<loops = [d0, d1], vector = d2 by 4> : tensor<3xf32>
  func.return
}

// -----

// KernelOp C7: a vector has one lane.
// CHECK: error: 'gawee.kernel' op schedule: expected at least 2 lanes, got 1
func.func @c7_a_vector_has_one_lane(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } schedule #gawee.schedule<loops = [d0, d1], vector = d0> : tensor<3xf32>
  func.return
}

// -----

// KernelOp C7: a reduction has too many vectors.
// CHECK: error: 'gawee.kernel' op schedule: expected a tile of at most 64 along d1, got 99
func.func @c7_a_reduction_has_too_many_vectors(%x: tensor<3x99xf32>) {
  %y = gawee.kernel parallel [3] reduce [99] ins(%x : tensor<3x99xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } schedule #gawee.schedule<loops = [d0], vector = d1 by 2> : tensor<3xf32>
  func.return
}

// -----

// An output and a result.
// CHECK: error: 'gawee.kernel' op expected either a result or an output operand
func.func @an_output_and_a_result(%x: memref<3xf32>, %y: memref<3xf32>) {
  %z = "gawee.kernel"(%x, %y) <{bounds = array<i64: 3>, reductions = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0>,
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>]}> ({
  }, {
  ^bb0(%e: f32):
    "gawee.yield"(%e) : (f32) -> ()
  }) : (memref<3xf32>, memref<3xf32>) -> tensor<3xf32>
  func.return
}

// -----

// KernelOp C7: an input that there is not is prefetched.
// CHECK: error: 'gawee.kernel' op schedule: expected to prefetch one of 1 inputs, got input 1
func.func @c7_an_input_that_there_is_not_is_prefetched(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } schedule #gawee.schedule<loops = [d0, d1], prefetch = input 1 along d0> : tensor<3xf32>
  func.return
}

// -----

// KernelOp C7: no loop is prefetched along.
// CHECK: error: 'gawee.kernel' op schedule: expected one loop over d0 to prefetch along, got 0
func.func @c7_no_loop_is_prefetched_along(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } schedule #gawee.schedule<loops = [d1], vector = d0 by 4, prefetch = input 0 along d0> : tensor<3xf32>
  func.return
}

// -----

// KernelOp C7: a loop around is split inside.
// CHECK: error: 'gawee.kernel' op schedule: expected one loop over d0 to prefetch along, got 2
func.func @c7_the_loop_is_split(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } schedule #gawee.schedule<loops = [d0 by 2, d0, d1], prefetch = input 0 along d0> : tensor<3xf32>
  func.return
}

// -----

// KernelOp C7: a dimension is split around and inside of the loop.
// CHECK: error: 'gawee.kernel' op schedule: expected one loop over d1 inside of d0, got more
func.func @c7_a_dimension_is_split_around_the_loop(%x: tensor<3x4x5xf32>) {
  %y = gawee.kernel parallel [3, 4] reduce [5] ins(%x : tensor<3x4x5xf32>)
    maps [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } schedule #gawee.schedule<loops = [d1 by 2, d0, d1, d2], prefetch = input 0 along d0> : tensor<3x4xf32>
  func.return
}

// -----

// KernelOp C7: nothing is reduced while something is prefetched.
// CHECK: error: 'gawee.kernel' op schedule: expected a reduction whose steps prefetch, got none
func.func @c7_nothing_is_reduced(%x: tensor<3xf32>) {
  %y = gawee.kernel parallel [3] ins(%x : tensor<3xf32>)
    maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>]
    finish {
    ^bb0(%e: f32):
      gawee.yield %e : f32
    } schedule #gawee.schedule<loops = [d0], prefetch = input 0 along d0> : tensor<3xf32>
  func.return
}

// -----

// KernelOp C8: a region holds a loop.
// CHECK: error: 'gawee.kernel' op expected ops that compute a scalar in 'finish', got 'scf.for'
func.func @c8_a_region_holds_a_loop(%x: tensor<3xf32>, %low: index, %high: index, %step: index) {
  %y = gawee.kernel parallel [3] ins(%x : tensor<3xf32>)
    maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>]
    finish {
    ^bb0(%e: f32):
      %s = scf.for %i = %low to %high step %step iter_args(%a = %e) -> (f32) {
        scf.yield %a : f32
      }
      gawee.yield %s : f32
    } : tensor<3xf32>
  func.return
}

// -----

// A schedule names its loops d0, d1, ...
// CHECK: error: expected a dimension, such as d0, got 'x'
func.func @a_loop_is_not_a_dimension(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } schedule #gawee.schedule<loops = [x]> : tensor<3xf32>
  func.return
}

// -----

// A schedule is an attribute of its own.
// CHECK: error: expected a #gawee.schedule
func.func @a_schedule_is_a_number(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } schedule 3 : i64 : tensor<3xf32>
  func.return
}

// -----

// Maps are a list.
// CHECK: error: expected a list of affine maps
func.func @maps_are_a_number(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps 3
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } : tensor<3xf32>
  func.return
}

// -----

// What a sum starts with is a number.
// CHECK: error: expected a number
func.func @initial_is_a_string(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial "zero" accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } : tensor<3xf32>
  func.return
}

// -----

// What is computed is a tensor or a buffer.
// CHECK: error: expected a tensor or memref type
func.func @the_result_is_a_scalar(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } : f32
  func.return
}

// -----

// A result is a tensor.
// CHECK: error: expected a tensor type of the result
func.func @the_result_is_a_buffer(%x: tensor<3x5xf32>) {
  %y = gawee.kernel parallel [3] reduce [5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {
    ^bb0(%e: f32, %s: f32):
      %0 = arith.addf %e, %s : f32
      gawee.yield %0 : f32
    } finish {
    ^bb0(%e: f32, %s: f32):
      gawee.yield %s : f32
    } : memref<3xf32>
  func.return
}

// -----

// CHECK: error: 'gawee.kernel' op expected ops that compute a scalar in 'finish', got 'memref.store'
func.func @c8_an_op_has_no_result(%x: tensor<3xf32>, %y: memref<f32>) {
  %0 = gawee.kernel parallel [3] ins(%x : tensor<3xf32>) maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] finish {
  ^bb0(%a: f32):
    memref.store %a, %y[] : memref<f32>
    gawee.yield %a : f32
  } : tensor<3xf32>
  func.return
}

// -----

// KernelOp C7: schedule; tiles
// CHECK: error: 'gawee.kernel' op schedule: expected tiles along a vector of up to 16 parallel points, got none
func.func @tiles_without_a_vector(%x: tensor<35x22xf32>, %w: tensor<22x32xf32>) -> tensor<35x32xf32> {
  %y = gawee.kernel parallel [35, 32] reduce [22] ins(%x, %w : tensor<35x22xf32>, tensor<22x32xf32>)
    maps [affine_map<(m, n, k) -> (m, k)>,
    affine_map<(m, n, k) -> (k, n)>,
    affine_map<(m, n, k) -> (m, n)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %0 = arith.addf %s, %p : f32
    gawee.yield %0 : f32
  } finish {
  ^bb0(%a: f32, %b: f32, %s: f32):
    gawee.yield %s : f32
  } schedule #gawee.schedule<loops = [d1 by 16, d0, d2 by 11], tiles = d0 by 16> : tensor<35x32xf32>
  func.return %y : tensor<35x32xf32>
}

// -----

// KernelOp C7: schedule; tiles
// CHECK: error: 'gawee.kernel' op schedule: expected tiles along a vector of up to 16 parallel points, got none
func.func @tiles_along_a_vector_that_is_reduced(%x: tensor<35x22xf32>, %w: tensor<22x32xf32>) -> tensor<35x32xf32> {
  %y = gawee.kernel parallel [35, 32] reduce [22] ins(%x, %w : tensor<35x22xf32>, tensor<22x32xf32>)
    maps [affine_map<(m, n, k) -> (m, k)>,
    affine_map<(m, n, k) -> (k, n)>,
    affine_map<(m, n, k) -> (m, n)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %0 = arith.addf %s, %p : f32
    gawee.yield %0 : f32
  } finish {
  ^bb0(%a: f32, %b: f32, %s: f32):
    gawee.yield %s : f32
  } schedule #gawee.schedule<loops = [d0, d1], vector = d2 by 11, tiles = d0 by 16> : tensor<35x32xf32>
  func.return %y : tensor<35x32xf32>
}

// -----

// KernelOp C7: schedule; tiles
// CHECK: error: 'gawee.kernel' op schedule: expected tiles along another parallel dimension, got d1
func.func @rows_along_the_vector(%x: tensor<35x22xf32>, %w: tensor<22x32xf32>) -> tensor<35x32xf32> {
  %y = gawee.kernel parallel [35, 32] reduce [22] ins(%x, %w : tensor<35x22xf32>, tensor<22x32xf32>)
    maps [affine_map<(m, n, k) -> (m, k)>,
    affine_map<(m, n, k) -> (k, n)>,
    affine_map<(m, n, k) -> (m, n)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %0 = arith.addf %s, %p : f32
    gawee.yield %0 : f32
  } finish {
  ^bb0(%a: f32, %b: f32, %s: f32):
    gawee.yield %s : f32
  } schedule #gawee.schedule<loops = [d1 by 16, d0 by 16, d2 by 11], vector = d1 by 16, tiles = d1 by 16> : tensor<35x32xf32>
  func.return %y : tensor<35x32xf32>
}

// -----

// KernelOp C7: schedule; tiles
// CHECK: error: 'gawee.kernel' op schedule: expected tiles of 1 to 16 rows, got 17
func.func @a_row_too_many(%x: tensor<35x22xf32>, %w: tensor<22x32xf32>) -> tensor<35x32xf32> {
  %y = gawee.kernel parallel [35, 32] reduce [22] ins(%x, %w : tensor<35x22xf32>, tensor<22x32xf32>)
    maps [affine_map<(m, n, k) -> (m, k)>,
    affine_map<(m, n, k) -> (k, n)>,
    affine_map<(m, n, k) -> (m, n)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %0 = arith.addf %s, %p : f32
    gawee.yield %0 : f32
  } finish {
  ^bb0(%a: f32, %b: f32, %s: f32):
    gawee.yield %s : f32
  } schedule #gawee.schedule<loops = [d1 by 16, d0 by 17, d2 by 11], vector = d1 by 16, tiles = d0 by 17> : tensor<35x32xf32>
  func.return %y : tensor<35x32xf32>
}

// -----

// KernelOp C7: schedule; tiles
// CHECK: error: 'gawee.kernel' op schedule: expected tiles of 2 to 32 points of one reduction, got another step
func.func @one_point_at_a_time(%x: tensor<35x22xf32>, %w: tensor<22x32xf32>) -> tensor<35x32xf32> {
  %y = gawee.kernel parallel [35, 32] reduce [22] ins(%x, %w : tensor<35x22xf32>, tensor<22x32xf32>)
    maps [affine_map<(m, n, k) -> (m, k)>,
    affine_map<(m, n, k) -> (k, n)>,
    affine_map<(m, n, k) -> (m, n)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %0 = arith.addf %s, %p : f32
    gawee.yield %0 : f32
  } finish {
  ^bb0(%a: f32, %b: f32, %s: f32):
    gawee.yield %s : f32
  } schedule #gawee.schedule<loops = [d1 by 16, d0 by 16, d2], vector = d1 by 16, tiles = d0 by 16> : tensor<35x32xf32>
  func.return %y : tensor<35x32xf32>
}

// -----

// KernelOp C7: schedule; tiles
// CHECK: error: 'gawee.kernel' op schedule: expected at most 8 tile registers, got 9
func.func @more_tiles_than_registers(%x: tensor<35x22xf32>, %w: tensor<22x32xf32>) -> tensor<35x32xf32> {
  %y = gawee.kernel parallel [35, 32] reduce [22] ins(%x, %w : tensor<35x22xf32>, tensor<22x32xf32>)
    maps [affine_map<(m, n, k) -> (m, k)>,
    affine_map<(m, n, k) -> (k, n)>,
    affine_map<(m, n, k) -> (m, n)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %0 = arith.addf %s, %p : f32
    gawee.yield %0 : f32
  } finish {
  ^bb0(%a: f32, %b: f32, %s: f32):
    gawee.yield %s : f32
  } schedule #gawee.schedule<loops = [d0 by 35, d1 by 32, d2 by 11], vector = d1 by 16, tiles = d0 by 16> : tensor<35x32xf32>
  func.return %y : tensor<35x32xf32>
}
