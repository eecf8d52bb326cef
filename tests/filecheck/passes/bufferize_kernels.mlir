// RUN: gawee-opt --bufferize --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @a_kernel_writes_a_fresh_buffer_or_the_output
// CHECK-SAME:  (%[[X:.*]]: memref<3x5xf32>{{.*}}, %[[OUT:.*]]: memref<5x3xf32>
// CHECK-NEXT:    %[[T:.*]] = memref.alloc() : memref<5x3xf32>
// CHECK-NEXT:    gawee.kernel parallel [3, 5] ins(%[[X]] : memref<3x5xf32>) outs(%[[T]])
// CHECK:         gawee.kernel parallel [5, 3] ins(%[[T]] : memref<5x3xf32>) outs(%[[OUT]])
// CHECK:           schedule #gawee.schedule<loops = [d0], vector = d1 by 3> : memref<5x3xf32>
// CHECK-NEXT:    func.return
func.func @a_kernel_writes_a_fresh_buffer_or_the_output(%x: tensor<3x5xf32>) -> tensor<5x3xf32> {
  %t = gawee.kernel parallel [3, 5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>]
    finish {
    ^bb0(%e: f32):
      gawee.yield %e : f32
    } : tensor<5x3xf32>
  %y = gawee.kernel parallel [5, 3] ins(%t : tensor<5x3xf32>)
    maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>]
    finish {
    ^bb0(%e: f32):
      %s = arith.addf %e, %e : f32
      gawee.yield %s : f32
    } schedule #gawee.schedule<loops = [d0], vector = d1 by 3> : tensor<5x3xf32>
  func.return %y : tensor<5x3xf32>
}

// -----

// A body may read what is computed outside of it.
// CHECK-LABEL: func.func @a_reduction_keeps_both_regions
// CHECK:         %[[C:.*]] = arith.constant
// CHECK-NEXT:    gawee.kernel parallel [2] reduce [3] ins(%{{.*}} : memref<2x3xf32>) outs(%{{.*}})
// CHECK-SAME:      initial 1.000000e+00 : f32 outside 2.000000e+00 : f32 accumulate {
// CHECK:             arith.mulf
// CHECK:         } finish {
// CHECK:             arith.addf %{{.*}}, %[[C]] : f32
func.func @a_reduction_keeps_both_regions(%x: tensor<2x3xf32>) -> tensor<4xf32> {
  %c = arith.constant 5.0 : f32
  %y = gawee.kernel parallel [2] reduce [3] ins(%x : tensor<2x3xf32>)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i + 1)>]
    initial 1.0 : f32 outside 2.0 : f32
    accumulate {
    ^bb0(%e: f32, %p: f32):
      %q = arith.mulf %e, %p : f32
      gawee.yield %q : f32
    } finish {
    ^bb0(%e: f32, %p: f32):
      %s = arith.addf %p, %c : f32
      gawee.yield %s : f32
    } : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @kernels_whose_results_interleave_write_there_at_once
// CHECK-SAME:  (%[[X:.*]]: memref<5xf32>{{.*}}, %[[OUT:.*]]: memref<10xf32>
// CHECK-NEXT:    %[[EVEN:.*]] = memref.subview %[[OUT]][0] [5] [2]
// CHECK-NEXT:    gawee.kernel parallel [5] ins(%[[X]] : memref<5xf32>) outs(%[[EVEN]])
// CHECK:         %[[ODD:.*]] = memref.subview %[[OUT]][1] [5] [2]
// CHECK-NEXT:    gawee.kernel parallel [5] ins(%[[X]] : memref<5xf32>) outs(%[[ODD]])
// CHECK-NOT:     memref.copy
func.func @kernels_whose_results_interleave_write_there_at_once(%x: tensor<5xf32>) -> tensor<10xf32> {
  %a = gawee.kernel parallel [5] ins(%x : tensor<5xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>]
    finish {
    ^bb0(%e: f32):
      gawee.yield %e : f32
    } : tensor<5xf32>
  %b = gawee.kernel parallel [5] ins(%x : tensor<5xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>]
    finish {
    ^bb0(%e: f32):
      %s = arith.addf %e, %e : f32
      gawee.yield %s : f32
    } : tensor<5xf32>
  %e = tensor.empty() : tensor<10xf32>
  %i = tensor.insert_slice %a into %e[0] [5] [2] : tensor<5xf32> into tensor<10xf32>
  %y = tensor.insert_slice %b into %i[1] [5] [2] : tensor<5xf32> into tensor<10xf32>
  func.return %y : tensor<10xf32>
}

// -----

// An empty tensor that others start from too is no memory.
// CHECK-LABEL: func.func @kernels_whose_results_are_side_by_side_write_there_at_once
// CHECK-SAME:  (%[[X:.*]]: memref<3x5xf32>{{.*}}, %[[OUT:.*]]: memref<3x12xf32>{{.*}}, %[[OTHER:.*]]: memref<3x12xf32>
// CHECK-NEXT:    %[[LEFT:.*]] = memref.subview %[[OUT]][0, 0] [3, 5] [1, 1]
// CHECK-NEXT:    gawee.kernel parallel [3, 5] ins(%[[X]] : memref<3x5xf32>) outs(%[[LEFT]])
// CHECK:         %[[RIGHT:.*]] = memref.subview %[[OUT]][0, 5] [3, 7] [1, 1]
// CHECK-NEXT:    gawee.kernel parallel [3, 7] ins() outs(%[[RIGHT]])
// CHECK-NOT:     "memref.copy"(%{{.*}}, %[[OUT]])
// CHECK:         %[[PLACE:.*]] = memref.subview %[[OTHER]][0, 0] [3, 5] [1, 1]
// CHECK-NEXT:    "memref.copy"(%[[X]], %[[PLACE]])
func.func @kernels_whose_results_are_side_by_side_write_there_at_once(%x: tensor<3x5xf32>) -> (tensor<3x12xf32>, tensor<3x12xf32>) {
  %a = gawee.kernel parallel [3, 5] ins(%x : tensor<3x5xf32>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>]
    finish {
    ^bb0(%e: f32):
      %s = arith.addf %e, %e : f32
      gawee.yield %s : f32
    } : tensor<3x5xf32>
  %b = gawee.kernel parallel [3, 7] ins() maps [affine_map<(i, j) -> (i, j)>]
    finish {
      %c = arith.constant 2.0 : f32
      gawee.yield %c : f32
    } : tensor<3x7xf32>
  %e = tensor.empty() : tensor<3x12xf32>
  %i = tensor.insert_slice %a into %e[0, 0] [3, 5] [1, 1] : tensor<3x5xf32> into tensor<3x12xf32>
  %y = tensor.insert_slice %b into %i[0, 5] [3, 7] [1, 1] : tensor<3x7xf32> into tensor<3x12xf32>
  %z = tensor.insert_slice %x into %e[0, 0] [3, 5] [1, 1] : tensor<3x5xf32> into tensor<3x12xf32>
  func.return %y, %z : tensor<3x12xf32>, tensor<3x12xf32>
}

// -----

// Those of one run of memory are for coalesce-copies.
// CHECK-LABEL: func.func @kernels_whose_results_are_one_behind_the_other_are_copied
// CHECK:         gawee.kernel parallel [3, 5] {{.*}} outs(%[[PART:.*]]) maps
// CHECK:         "memref.copy"(%[[PART]], %{{.*}})
func.func @kernels_whose_results_are_one_behind_the_other_are_copied(%x: tensor<3x5xf32>) -> tensor<7x5xf32> {
  %a = gawee.kernel parallel [3, 5] ins(%x : tensor<3x5xf32>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>]
    finish {
    ^bb0(%e: f32):
      %s = arith.addf %e, %e : f32
      gawee.yield %s : f32
    } : tensor<3x5xf32>
  %e = tensor.empty() : tensor<7x5xf32>
  %i = tensor.insert_slice %x into %e[3, 0] [3, 5] [1, 1] : tensor<3x5xf32> into tensor<7x5xf32>
  %y = tensor.insert_slice %a into %i[0, 0] [3, 5] [1, 1] : tensor<3x5xf32> into tensor<7x5xf32>
  func.return %y : tensor<7x5xf32>
}

// -----

// What overlaps has an order, and what has another reader is there when it is read.
// CHECK-LABEL: func.func @kernels_whose_results_overlap_are_copied_in_their_order
// CHECK:         gawee.kernel parallel [5] {{.*}} outs(%[[A:.*]]) maps
// CHECK:         gawee.kernel parallel [5] {{.*}} outs(%[[B:.*]]) maps
// CHECK:         "memref.copy"(%[[B]], %{{.*}})
// CHECK:         "memref.copy"(%[[A]], %{{.*}})
func.func @kernels_whose_results_overlap_are_copied_in_their_order(%x: tensor<5xf32>) -> tensor<10xf32> {
  %a = gawee.kernel parallel [5] ins(%x : tensor<5xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>]
    finish {
    ^bb0(%e: f32):
      gawee.yield %e : f32
    } : tensor<5xf32>
  %b = gawee.kernel parallel [5] ins(%x : tensor<5xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>]
    finish {
    ^bb0(%e: f32):
      %s = arith.addf %e, %e : f32
      gawee.yield %s : f32
    } : tensor<5xf32>
  %e = tensor.empty() : tensor<10xf32>
  %i = tensor.insert_slice %b into %e[0] [5] [2] : tensor<5xf32> into tensor<10xf32>
  %y = tensor.insert_slice %a into %i[0] [5] [2] : tensor<5xf32> into tensor<10xf32>
  func.return %y : tensor<10xf32>
}

// -----

// The first part is in its place before the kernel of the second one runs.
// CHECK-LABEL: func.func @a_part_that_was_inserted_before_stays
// CHECK:         "memref.copy"(%{{.*}}, %[[FIRST:.*]])
// CHECK:         gawee.kernel parallel [5]
// CHECK:         "memref.copy"
func.func @a_part_that_was_inserted_before_stays(%x: tensor<5xf32>) -> tensor<10xf32> {
  %e = tensor.empty() : tensor<10xf32>
  %i = tensor.insert_slice %x into %e[0] [5] [2] : tensor<5xf32> into tensor<10xf32>
  %b = gawee.kernel parallel [5] ins(%x : tensor<5xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>]
    finish {
    ^bb0(%e2: f32):
      %s = arith.addf %e2, %e2 : f32
      gawee.yield %s : f32
    } : tensor<5xf32>
  %y = tensor.insert_slice %b into %i[1] [5] [2] : tensor<5xf32> into tensor<10xf32>
  func.return %y : tensor<10xf32>
}

// -----

// All parts start from it, and threads compute them at once.
// CHECK-LABEL: func.func @a_part_of_a_batch_is_not_written_into_a_tensor_from_outside
// CHECK-SAME:  (%{{.*}}, %[[START:.*]]: memref<5x3xf32> {gawee.parameter = "start"}
// CHECK:         scf.for
// CHECK:           %[[PART:.*]] = memref.alloc() : memref<4x3xf32>
// CHECK-NEXT:      gawee.kernel {{.*}} outs(%[[PART]]) maps
// CHECK:           %[[OWN:.*]] = memref.alloc() : memref<5x3xf32>
// CHECK-NEXT:      "memref.copy"(%[[START]], %[[OWN]])
// CHECK-NEXT:      %[[PLACE:.*]] = memref.subview %[[OWN]][1, 0]
// CHECK-NEXT:      "memref.copy"(%[[PART]], %[[PLACE]])
func.func @a_part_of_a_batch_is_not_written_into_a_tensor_from_outside(%x: tensor<2x4x3xf32>, %start: tensor<5x3xf32> {gawee.parameter = "start"}) -> tensor<2x5x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<2x5x3xf32>
  %y = scf.for %n = %c0 to %c2 step %c1 iter_args(%all = %e) -> (tensor<2x5x3xf32>) {
    %image = tensor.extract_slice %x[%n, 0, 0] [1, 4, 3] [1, 1, 1] : tensor<2x4x3xf32> to tensor<4x3xf32>
    %part = gawee.kernel parallel [4, 3] ins(%image : tensor<4x3xf32>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>]
      finish {
      ^bb0(%a: f32):
        %s = arith.addf %a, %a : f32
        gawee.yield %s : f32
      } : tensor<4x3xf32>
    %own = tensor.insert_slice %part into %start[1, 0] [4, 3] [1, 1] : tensor<4x3xf32> into tensor<5x3xf32>
    %next = tensor.insert_slice %own into %all[%n, 0, 0] [1, 5, 3] [1, 1, 1] : tensor<5x3xf32> into tensor<2x5x3xf32>
    scf.yield %next : tensor<2x5x3xf32>
  } {gawee.scan, gawee.batch, gawee.threads = 2 : i64}
  func.return %y : tensor<2x5x3xf32>
}
