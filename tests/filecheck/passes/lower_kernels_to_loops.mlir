// RUN: gawee-opt --lower-kernels-to-loops --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @without_a_schedule_points_follow_one_another
// CHECK:         scf.for %[[I:.*]] = 
// CHECK:         scf.for %[[J:.*]] = 
// CHECK:         memref.load %a[%[[I]], %[[J]]]
// CHECK-NEXT:        %{{.*}} = memref.load %b[%[[J]]]
// CHECK:         arith.addf
// CHECK-NEXT:        memref.store %{{.*}}, %y[%[[I]], %[[J]]]
func.func @without_a_schedule_points_follow_one_another(%a: memref<3x5xf32>, %b: memref<5xf32>, %y: memref<3x5xf32>) {
  gawee.kernel parallel [3, 5] ins(%a, %b : memref<3x5xf32>, memref<5xf32>) outs(%y)
    maps [affine_map<(i, j) -> (i, j)>,
    affine_map<(i, j) -> (j)>,
    affine_map<(i, j) -> (i, j)>] finish {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    gawee.yield %0 : f32
  } : memref<3x5xf32>
  func.return
}

// -----

// Two whole vectors, which LLVM unrolls, and five lanes of a third.
// CHECK-LABEL: func.func @the_rest_of_a_row_is_a_masked_vector
// CHECK:         vector.load %a
// CHECK:         } {gawee.unroll = "full"}
// CHECK:         arith.constant dense<[true, true, true, true, true, false, false, false]>
// CHECK:         vector.maskedload %a
// CHECK:         vector.maskedstore %y
func.func @the_rest_of_a_row_is_a_masked_vector(%a: memref<3x21xf32>, %b: memref<21xf32>, %y: memref<3x21xf32>) {
  gawee.kernel parallel [3, 21] ins(%a, %b : memref<3x21xf32>, memref<21xf32>) outs(%y)
    maps [affine_map<(i, j) -> (i, j)>,
    affine_map<(i, j) -> (j)>,
    affine_map<(i, j) -> (i, j)>] finish {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    gawee.yield %0 : f32
  } schedule #gawee.schedule<loops = [d0], vector = d1 by 8> : memref<3x21xf32>
  func.return
}

// -----

// The last of three iterations has one row.
// CHECK-LABEL: func.func @a_rest_of_tiles_is_built_on_its_own
// CHECK:         %[[LAST:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : index
// CHECK-NEXT:      scf.if %[[LAST]] {
// CHECK:         vector.load %a
// CHECK:         } else {
// CHECK:         scf.for %{{.*}} = %{{.*}} to %{{.*}} step
// CHECK:         vector.load %a
func.func @a_rest_of_tiles_is_built_on_its_own(%a: memref<5x8xf32>, %b: memref<8xf32>, %y: memref<5x8xf32>) {
  gawee.kernel parallel [5, 8] ins(%a, %b : memref<5x8xf32>, memref<8xf32>) outs(%y)
    maps [affine_map<(i, j) -> (i, j)>,
    affine_map<(i, j) -> (j)>,
    affine_map<(i, j) -> (i, j)>] finish {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    gawee.yield %0 : f32
  } schedule #gawee.schedule<loops = [d0 by 2], vector = d1 by 8> : memref<5x8xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @parallel_loops_become_one
// CHECK:         "scf.parallel"(
// CHECK-NEXT:    ^bb0(%[[T:.*]]: index):
// CHECK-DAG:       arith.divui %[[T]]
// CHECK-DAG:       arith.remui %[[T]]
// CHECK:         scf.reduce
func.func @parallel_loops_become_one(%a: memref<6x16xf32>, %b: memref<16xf32>, %y: memref<6x16xf32>) {
  gawee.kernel parallel [6, 16] ins(%a, %b : memref<6x16xf32>, memref<16xf32>) outs(%y)
    maps [affine_map<(i, j) -> (i, j)>,
    affine_map<(i, j) -> (j)>,
    affine_map<(i, j) -> (i, j)>] finish {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    gawee.yield %0 : f32
  } schedule #gawee.schedule<loops = [d0, d1 by 8], vector = d1 by 8, parallel = 2> : memref<6x16xf32>
  func.return
}

// -----

// Ten rows: two of the second eight, where only the first half is there.
// CHECK-LABEL: func.func @two_parallel_loops_of_a_dimension_skip_what_its_rest_lacks
// CHECK:         scf.parallel
// CHECK:         arith.cmpi ult,
// CHECK-NEXT:        scf.if
func.func @two_parallel_loops_of_a_dimension_skip_what_its_rest_lacks(%a: memref<10x8xf32>, %b: memref<8xf32>, %y: memref<10x8xf32>) {
  gawee.kernel parallel [10, 8] ins(%a, %b : memref<10x8xf32>, memref<8xf32>) outs(%y)
    maps [affine_map<(i, j) -> (i, j)>,
    affine_map<(i, j) -> (j)>,
    affine_map<(i, j) -> (i, j)>] finish {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    gawee.yield %0 : f32
  } schedule #gawee.schedule<loops = [d0 by 8, d0 by 4], vector = d1 by 8, parallel = 2> : memref<10x8xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @a_vector_of_what_lies_apart_is_loaded_lane_by_lane
// CHECK:         memref.load %a[%c0
// CHECK:         vector.insert
// CHECK:         memref.load %a[
// CHECK:         vector.insert
// CHECK:         vector.store %{{.*}}, %y
func.func @a_vector_of_what_lies_apart_is_loaded_lane_by_lane(%a: memref<4x4xf32>, %b: memref<4xf32>, %y: memref<4x4xf32>) {
  gawee.kernel parallel [4, 4] ins(%a, %b : memref<4x4xf32>, memref<4xf32>) outs(%y)
    maps [affine_map<(i, j) -> (j, i)>,
    affine_map<(i, j) -> (j)>,
    affine_map<(i, j) -> (i, j)>] finish {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    gawee.yield %0 : f32
  } schedule #gawee.schedule<loops = [d0], vector = d1 by 4> : memref<4x4xf32>
  func.return
}

// -----

// Of 24 channels in blocks of 8, 16 are in two blocks, and the lanes of the last 8 in one.
// CHECK-LABEL: func.func @a_vector_of_two_blocks_is_loaded_and_stored_in_halves
// CHECK:         %[[LO:.*]] = vector.load %a[{{.*}}] : memref<3x5x8xf32>, vector<8xf32>
// CHECK:         %[[HI:.*]] = vector.load %a[{{.*}}] : memref<3x5x8xf32>, vector<8xf32>
// CHECK-NEXT:      %[[WHOLE:.*]] = vector.shuffle %[[LO]], %[[HI]] [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
// CHECK:         %[[SUM:.*]] = arith.addf %[[WHOLE]], %{{.*}} : vector<16xf32>
// CHECK:         vector.shuffle %[[SUM]], %[[SUM]] [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK:         vector.store
// CHECK:         vector.shuffle %[[SUM]], %[[SUM]] [8, 9, 10, 11, 12, 13, 14, 15]
// CHECK:         vector.store
// CHECK:         vector.load %a[{{.*}}] : memref<3x5x8xf32>, vector<8xf32>
// CHECK-NOT:     vector.load %a
// CHECK:         vector.maskedload %b
// CHECK:         vector.store
// CHECK-NOT:     vector.store
func.func @a_vector_of_two_blocks_is_loaded_and_stored_in_halves(%a: memref<3x5x8xf32>, %b: memref<24xf32>, %y: memref<3x5x8xf32>) {
  gawee.kernel parallel [24, 5] ins(%a, %b : memref<3x5x8xf32>, memref<24xf32>) outs(%y)
    maps [affine_map<(c, w) -> (c floordiv 8, w, c mod 8)>,
    affine_map<(c, w) -> (c)>,
    affine_map<(c, w) -> (c floordiv 8, w, c mod 8)>] finish {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    gawee.yield %0 : f32
  } schedule #gawee.schedule<loops = [d1], vector = d0 by 16> : memref<3x5x8xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @what_is_around_the_points_is_filled_first
// CHECK:         %[[C:.*]] = arith.constant -3.000000e+00 : f32
// CHECK:         %[[V:.*]] = vector.broadcast %[[C]] : f32 to vector<4xf32>
// CHECK:         vector.store %[[V]], %y
// CHECK:         arith.addf
func.func @what_is_around_the_points_is_filled_first(%a: memref<3x5xf32>, %b: memref<5xf32>, %y: memref<4x6xf32>) {
  gawee.kernel parallel [3, 5] ins(%a, %b : memref<3x5xf32>, memref<5xf32>) outs(%y)
    maps [affine_map<(i, j) -> (i, j)>,
    affine_map<(i, j) -> (j)>,
    affine_map<(i, j) -> (i + 1, j)>] outside -3.0 : f32 finish {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    gawee.yield %0 : f32
  } : memref<4x6xf32>
  func.return
}

// -----

// Products are added by math.fma. The loop over fewer of them is inside: what it reads stays in registers.
// CHECK-LABEL: func.func @a_register_tile_is_an_array_of_accumulators
// CHECK:         %[[ACC:.*]] = memref.alloca() : memref<4x2xvector<8xf32>>
// CHECK:         memref.store %{{.*}}, %[[ACC]]
// CHECK:         scf.for %{{.*}} = 
// CHECK:         math.fma
// CHECK:         } {gawee.unroll = 1 : i64}
// CHECK:         memref.load %[[ACC]]
// CHECK:         vector.store %{{.*}}, %y
func.func @a_register_tile_is_an_array_of_accumulators(%a: memref<4x7xf32>, %b: memref<7x16xf32>, %y: memref<4x16xf32>) {
  gawee.kernel parallel [4, 16] reduce [7] ins(%a, %b : memref<4x7xf32>, memref<7x16xf32>) outs(%y)
    maps [affine_map<(m, n, k) -> (m, k)>,
    affine_map<(m, n, k) -> (k, n)>,
    affine_map<(m, n, k) -> (m, n)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%l: f32, %r: f32, %s: f32):
    gawee.yield %s : f32
  } schedule #gawee.schedule<loops = [d2], vector = d1 by 8> : memref<4x16xf32>
  func.return
}

// -----

// Lanes behind the last element keep what they have.
// CHECK-LABEL: func.func @lanes_that_share_a_sum_are_added_at_the_end
// CHECK:         memref.alloca() : memref<vector<8xf32>>
// CHECK:         vector.maskedload %x
// CHECK:         arith.select %{{.*}}, %{{.*}}, %{{.*}} : vector<8xi1>, vector<8xf32>
// CHECK:         vector.reduction <add>
// CHECK:         memref.store %{{.*}}, %y
func.func @lanes_that_share_a_sum_are_added_at_the_end(%x: memref<3x21xf32>, %y: memref<3xf32>) {
  gawee.kernel parallel [3] reduce [21] ins(%x : memref<3x21xf32>) outs(%y)
    maps [affine_map<(m, k) -> (m, k)>,
    affine_map<(m, k) -> (m)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%e0: f32, %s: f32):
    %0 = arith.addf %s, %e0 : f32
    gawee.yield %0 : f32
  } finish {
  ^bb0(%e0: f32, %s: f32):
    gawee.yield %s : f32
  } schedule #gawee.schedule<loops = [d0, d1 by 8], vector = d1 by 8> : memref<3xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @an_initial_value_that_is_not_neutral_counts_once
// CHECK-DAG:     arith.constant 0.000000e+00 : f32
// CHECK:         %[[R:.*]] = vector.reduction <add>
// CHECK-NEXT:      %[[I:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-NEXT:      %{{.*}} = arith.addf %[[I]], %[[R]]
func.func @an_initial_value_that_is_not_neutral_counts_once(%x: memref<3x16xf32>, %y: memref<3xf32>) {
  gawee.kernel parallel [3] reduce [16] ins(%x : memref<3x16xf32>) outs(%y)
    maps [affine_map<(m, k) -> (m, k)>,
    affine_map<(m, k) -> (m)>]
    initial 2.0 : f32 accumulate {
  ^bb0(%e0: f32, %s: f32):
    %0 = arith.addf %s, %e0 : f32
    gawee.yield %0 : f32
  } finish {
  ^bb0(%e0: f32, %s: f32):
    gawee.yield %s : f32
  } schedule #gawee.schedule<loops = [d0, d1 by 8], vector = d1 by 8> : memref<3xf32>
  func.return
}

// -----

// They would be divided by zero: the last two are scalars.
// CHECK-LABEL: func.func @integers_are_not_divided_in_idle_lanes
// CHECK:         arith.divsi %{{.*}}, %{{.*}} : vector<8xi32>
// CHECK-NOT:     maskedload
// CHECK:         arith.divsi %{{.*}}, %{{.*}} : i32
func.func @integers_are_not_divided_in_idle_lanes(%a: memref<10xi32>, %b: memref<10xi32>, %y: memref<10xi32>) {
  gawee.kernel parallel [10] ins(%a, %b : memref<10xi32>, memref<10xi32>) outs(%y)
    maps [affine_map<(i) -> (i)>,
    affine_map<(i) -> (i)>,
    affine_map<(i) -> (i)>] finish {
  ^bb0(%p: i32, %q: i32):
    %0 = arith.divsi %p, %q : i32
    gawee.yield %0 : i32
  } schedule #gawee.schedule<loops = [], vector = d0 by 8> : memref<10xi32>
  func.return
}

// -----

// Blocks of 16 steps of 8 lanes; the last block is one step, of 7 lanes.
// CHECK-LABEL: func.func @a_long_sum_adds_up_blocks_in_f64
// CHECK:         %accumulators = memref.alloca() : memref<vector<8xf32>>
// CHECK-NEXT:    %totals = memref.alloca() : memref<vector<8xf64>>
// CHECK:         scf.for %{{.*}} = %c0 to %c65 step
// CHECK-NEXT:      %[[LAST:.*]] = arith.cmpi eq
// CHECK-NEXT:      scf.if %[[LAST]]
// CHECK:           vector.maskedload
// CHECK:         } else {
// CHECK-NEXT:    scf.for %{{.*}} = %c0 to %c16 step
// CHECK:           math.exp %{{.*}} : vector<8xf32>
// CHECK:         } {gawee.unroll = 1 : i64}
// CHECK-NEXT:    %[[BLOCK:.*]] = memref.load %accumulators[]
// CHECK-NEXT:    %[[TOTAL:.*]] = memref.load %totals[]
// CHECK-NEXT:    %[[WIDE:.*]] = arith.extf %[[BLOCK]] : vector<8xf32> to vector<8xf64>
// CHECK-NEXT:    %[[SUM:.*]] = arith.addf %[[TOTAL]], %[[WIDE]] : vector<8xf64>
// CHECK-NEXT:    memref.store %[[SUM]], %totals[]
// CHECK:         arith.addf %{{.*}}, %{{.*}} : vector<4xf64>
// CHECK:         arith.addf %{{.*}}, %{{.*}} : vector<2xf64>
// CHECK:         vector.reduction <add>, %{{.*}} : vector<2xf64> into f64
// CHECK-NEXT:    arith.truncf %{{.*}} : f64 to f32
func.func @a_long_sum_adds_up_blocks_in_f64(%x: memref<8199xf32>, %y: memref<1xf32>) {
  gawee.kernel parallel [1] reduce [8199] ins(%x : memref<8199xf32>) outs(%y)
    maps [affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>] initial 0.0 : f32 accumulate {
  ^bb0(%p: f32, %sum: f32):
    %0 = math.exp %p : f32
    %1 = arith.addf %sum, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%p: f32, %sum: f32):
    gawee.yield %sum : f32
  } schedule #gawee.schedule<loops = [d1 by 8], vector = d1 by 8> : memref<1xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @a_sum_of_8192_has_one_accumulator
// CHECK-NOT:     f64
func.func @a_sum_of_8192_has_one_accumulator(%x: memref<8192xf32>, %y: memref<1xf32>) {
  gawee.kernel parallel [1] reduce [8192] ins(%x : memref<8192xf32>) outs(%y)
    maps [affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>] initial 0.0 : f32 accumulate {
  ^bb0(%p: f32, %sum: f32):
    %1 = arith.addf %sum, %p : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%p: f32, %sum: f32):
    gawee.yield %sum : f32
  } schedule #gawee.schedule<loops = [d1 by 8], vector = d1 by 8> : memref<1xf32>
  func.return
}

// -----

// Quarters change places, then single lanes: four vectors of four lanes take two times four shuffles.
// CHECK-LABEL: func.func @a_square_of_what_lies_along_another_dimension_is_turned
// CHECK:         %[[SQUARE:.*]] = memref.alloca() : memref<4xvector<4xf32>>
// CHECK-COUNT-4: vector.load %x[{{.*}}] : memref<8x4xf32>, vector<4xf32>
// CHECK:         vector.shuffle {{.*}} [0, 1, 4, 5]
// CHECK:         vector.shuffle {{.*}} [2, 3, 6, 7]
// CHECK:         vector.shuffle {{.*}} [0, 4, 2, 6]
// CHECK:         vector.shuffle {{.*}} [1, 5, 3, 7]
// CHECK-COUNT-4: memref.store %{{.*}}, %[[SQUARE]]
// CHECK-NOT:     vector.insert
// CHECK:         %[[ROW:.*]] = memref.load %[[SQUARE]]
// CHECK:         vector.store %[[ROW]], %y
func.func @a_square_of_what_lies_along_another_dimension_is_turned(%x: memref<8x4xf32>, %y: memref<4x8xf32>) {
  gawee.kernel parallel [4, 8] ins(%x : memref<8x4xf32>) outs(%y)
    maps [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>]
    finish {
  ^bb0(%e: f32):
    gawee.yield %e : f32
  } schedule #gawee.schedule<loops = [d1 by 4], vector = d1 by 4> : memref<4x8xf32>
  func.return
}

// -----

// Of 37 numbers the last step has one vector and 5 lanes.
// CHECK-LABEL: func.func @each_vector_of_a_tile_has_a_sum_of_its_own
// CHECK:         memref.alloca() : memref<3xvector<8xf32>>
// CHECK:         vector.maskedload %x
// CHECK:         } {gawee.unroll = 1 : i64}
// CHECK-NEXT:    %[[A:.*]] = memref.load %accumulators[%c0] : memref<3xvector<8xf32>>
// CHECK-NEXT:    %[[B:.*]] = memref.load %accumulators[%c1] : memref<3xvector<8xf32>>
// CHECK-NEXT:    %[[C:.*]] = memref.load %accumulators[%c2] : memref<3xvector<8xf32>>
// CHECK-NEXT:    %[[D:.*]] = arith.addf %[[A]], %[[B]] : vector<8xf32>
// CHECK-NEXT:    %[[E:.*]] = arith.addf %[[D]], %[[C]] : vector<8xf32>
// CHECK-NEXT:    %[[F:.*]] = vector.shuffle %[[E]], %[[E]] [0, 1, 2, 3] : vector<8xf32>, vector<8xf32>
// CHECK-NEXT:    %[[G:.*]] = vector.shuffle %[[E]], %[[E]] [4, 5, 6, 7] : vector<8xf32>, vector<8xf32>
// CHECK-NEXT:    arith.addf %[[F]], %[[G]] : vector<4xf32>
// CHECK:         arith.addf %{{.*}}, %{{.*}} : vector<2xf32>
// CHECK-NEXT:    vector.reduction <add>, %{{.*}} : vector<2xf32> into f32
func.func @each_vector_of_a_tile_has_a_sum_of_its_own(%x: memref<5x37xf32>, %y: memref<5xf32>) {
  gawee.kernel parallel [5] reduce [37] ins(%x : memref<5x37xf32>) outs(%y)
    maps [affine_map<(m, k) -> (m, k)>,
    affine_map<(m, k) -> (m)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%e0: f32, %s: f32):
    %0 = arith.addf %s, %e0 : f32
    gawee.yield %0 : f32
  } finish {
  ^bb0(%e0: f32, %s: f32):
    gawee.yield %s : f32
  } schedule #gawee.schedule<loops = [d0, d1 by 24], vector = d1 by 8> : memref<5xf32>
  func.return
}

// -----

// Which of two zeros is the greater takes longer to tell than which of two numbers.
// CHECK-LABEL: func.func @zeros_are_alike_to_a_maximum
// CHECK:         arith.maximumf %{{.*}}, %{{.*}} fastmath<nsz> : vector<8xf32>
func.func @zeros_are_alike_to_a_maximum(%x: memref<5x37xf32>, %y: memref<5xf32>) {
  gawee.kernel parallel [5] reduce [37] ins(%x : memref<5x37xf32>) outs(%y)
    maps [affine_map<(m, k) -> (m, k)>,
    affine_map<(m, k) -> (m)>]
    initial 0xFF800000 : f32 accumulate {
  ^bb0(%e0: f32, %s: f32):
    %0 = arith.maximumf %s, %e0 : f32
    gawee.yield %0 : f32
  } finish {
  ^bb0(%e0: f32, %s: f32):
    gawee.yield %s : f32
  } schedule #gawee.schedule<loops = [d0, d1 by 8], vector = d1 by 8> : memref<5xf32>
  func.return
}

// -----

// Three passes over 5 x 32 weights: each of 15 steps fetches 11 of the next 160 elements.
// CHECK-LABEL: func.func @steps_share_what_the_next_iteration_reads
// CHECK:         %[[PASS:.*]] = arith.constant 55 : index
// CHECK:         %[[SHARE:.*]] = arith.constant 11 : index
// CHECK:         scf.for %[[B:.*]] = %{{.*}} to %{{.*}} step
// CHECK:         scf.for %[[M:.*]] = %{{.*}} to %{{.*}} step
// CHECK:         scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step
// CHECK:         scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step
// CHECK:         scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step
// CHECK-NEXT:    %[[NEXT:.*]] = arith.addi %[[B]], %{{.*}} : index
// CHECK-NEXT:    %[[STEP:.*]] = arith.muli %[[K]], %[[SHARE]] : index
// CHECK-NEXT:    %[[FIRST:.*]] = arith.muli %[[M]], %[[PASS]] : index
// CHECK-NEXT:    %[[AT:.*]] = arith.addi %[[STEP]], %[[FIRST]] : index
// CHECK-NEXT:    memref.prefetch %w[%[[NEXT]], %{{.*}}, %[[AT]]], read, locality<2>, data : memref<4x5x32xf32>
// CHECK-NOT:     memref.prefetch
// CHECK:         vector.load %w
func.func @steps_share_what_the_next_iteration_reads(%x: memref<4x6x5xf32>, %w: memref<4x5x32xf32>, %y: memref<4x6x32xf32>) {
  gawee.kernel parallel [4, 6, 32] reduce [5] ins(%x, %w : memref<4x6x5xf32>, memref<4x5x32xf32>) outs(%y)
    maps [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%p: f32, %q: f32, %s: f32):
    gawee.yield %s : f32
  } schedule #gawee.schedule<loops = [d0, d1 by 2, d3], vector = d2 by 16, prefetch = input 1 along d0> : memref<4x6x32xf32>
  func.return
}

// -----

// 24 elements a step are two lines.
// CHECK-LABEL: func.func @a_step_fetches_as_many_lines_as_its_share_has
// CHECK-COUNT-2: memref.prefetch %w[%{{.*}}, %{{.*}}, %{{.*}}], read, locality<2>, data
// CHECK-NOT:     memref.prefetch
func.func @a_step_fetches_as_many_lines_as_its_share_has(%x: memref<4x6x5xf32>, %w: memref<4x5x24xf32>, %y: memref<4x6x24xf32>) {
  gawee.kernel parallel [4, 6, 24] reduce [5] ins(%x, %w : memref<4x6x5xf32>, memref<4x5x24xf32>) outs(%y)
    maps [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%p: f32, %q: f32, %s: f32):
    gawee.yield %s : f32
  } schedule #gawee.schedule<loops = [d0, d3], vector = d2 by 8, prefetch = input 1 along d0> : memref<4x6x24xf32>
  func.return
}

// -----

// Of rows in blocks of 8 channels, 3 places are 24 floats: each of the 8 steps of a block fetches the line 3 floats further.
// CHECK-LABEL: func.func @rows_in_blocks_are_fetched_block_by_block
// CHECK:         scf.for %d0 =
// CHECK:           scf.for %[[B:d2]] =
// CHECK:             scf.for %[[C:d2_[0-9]+]] =
// CHECK:               %[[T:[0-9]+]] = arith.muli %[[C]], %c3
// CHECK:               memref.prefetch %x[%[[B]], %{{.*}}, %[[T]]], read, locality<2>, data : memref<5x12x8xf32>
func.func @rows_in_blocks_are_fetched_block_by_block(%x: memref<5x12x8xf32>, %w: memref<40x8xf32>, %y: memref<12x8xf32>) {
  gawee.kernel parallel [12, 8] reduce [40] ins(%x, %w : memref<5x12x8xf32>, memref<40x8xf32>) outs(%y)
    maps [affine_map<(i, j, k) -> (k floordiv 8, i, k mod 8)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%a: f32, %b: f32, %t: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %t, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%a: f32, %b: f32, %t: f32):
    gawee.yield %t : f32
  } schedule #gawee.schedule<loops = [d0 by 3, d2 by 8, d2], vector = d1 by 8, prefetch = input 0 along d0> : memref<12x8xf32>
  func.return
}

// -----

// The 16 lanes are in one block of 32, whichever it is.
// CHECK-LABEL: func.func @lanes_in_one_part_of_an_axis_are_a_row_there
// CHECK:         %[[SUM:.*]] = arith.addf
// CHECK-COUNT-2: %[[BLOCK:.*]] = arith.divui %d0, %c2
// CHECK-NEXT:    %[[HALF:.*]] = arith.remui %d0, %c2
// CHECK-NEXT:    %[[FIRST:.*]] = arith.muli %[[HALF]], %c16
// CHECK-NEXT:    vector.store %[[SUM]], %y[%[[BLOCK]], %d1, %[[FIRST]]] : memref<3x5x32xf32>, vector<16xf32>
// CHECK-NOT:     store
func.func @lanes_in_one_part_of_an_axis_are_a_row_there(%a: memref<5x96xf32>, %b: memref<96xf32>, %y: memref<3x5x32xf32>) {
  gawee.kernel parallel [96, 5] ins(%a, %b : memref<5x96xf32>, memref<96xf32>) outs(%y)
    maps [affine_map<(c, w) -> (w, c)>,
    affine_map<(c, w) -> (c)>,
    affine_map<(c, w) -> (c floordiv 32, w, c mod 32)>] finish {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    gawee.yield %0 : f32
  } schedule #gawee.schedule<loops = [d0 by 16, d1], vector = d0 by 16> : memref<3x5x32xf32>
  func.return
}

// -----

// (4 * d0 + 3) mod 8 is 4 * (d0 mod 2) + 3: what lanes that lie apart have in common is divided.
// CHECK-LABEL: func.func @lanes_that_lie_apart_are_a_number_behind_one_quotient
// CHECK:         vector.extract %{{.*}}[3]
// CHECK-NEXT:    %[[BLOCK:.*]] = arith.divui %d0, %c2
// CHECK-NEXT:    %[[HALF:.*]] = arith.remui %d0, %c2
// CHECK-NEXT:    %[[FIRST:.*]] = arith.muli %[[HALF]], %c4
// CHECK-NEXT:    %[[LAST:.*]] = arith.addi %[[FIRST]], %c3
// CHECK-NEXT:    memref.store %{{.*}}, %y[%[[BLOCK]], %[[LAST]], %d1]
func.func @lanes_that_lie_apart_are_a_number_behind_one_quotient(%a: memref<5x24xf32>, %b: memref<24xf32>, %y: memref<3x8x5xf32>) {
  gawee.kernel parallel [24, 5] ins(%a, %b : memref<5x24xf32>, memref<24xf32>) outs(%y)
    maps [affine_map<(c, w) -> (w, c)>,
    affine_map<(c, w) -> (c)>,
    affine_map<(c, w) -> (c floordiv 8, c mod 8, w)>] finish {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    gawee.yield %0 : f32
  } schedule #gawee.schedule<loops = [d0 by 4, d1], vector = d0 by 4> : memref<3x8x5xf32>
  func.return
}

// -----

// Three rows of two vectors: each vector of the bias is loaded once, for all rows.
// CHECK-LABEL: func.func @a_bias_is_loaded_in_front_of_the_points_that_share_it
// CHECK:         scf.for %[[V:.*]] = %{{.*}} to %c2
// CHECK-NEXT:      %[[J:.*]] = arith.muli %[[V]], %c8
// CHECK-NEXT:      vector.load %b[%[[J]]]
// CHECK-NEXT:      scf.for %[[I:.*]] = %{{.*}} to %c3
// CHECK:             vector.load %a[%[[I]], 
// CHECK:             vector.store
func.func @a_bias_is_loaded_in_front_of_the_points_that_share_it(%a: memref<3x16xf32>, %b: memref<16xf32>, %y: memref<3x16xf32>) {
  gawee.kernel parallel [3, 16] ins(%a, %b : memref<3x16xf32>, memref<16xf32>) outs(%y)
    maps [affine_map<(i, j) -> (i, j)>,
    affine_map<(i, j) -> (j)>,
    affine_map<(i, j) -> (i, j)>] finish {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    gawee.yield %0 : f32
  } schedule #gawee.schedule<loops = [], vector = d1 by 8> : memref<3x16xf32>
  func.return
}
