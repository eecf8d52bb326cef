// RUN: gawee-opt -p 'tile-scatter{target=skylake-avx512}' --split-input-file %s | filecheck %s
// RUN: gawee-opt -p 'gawee-to-kernels{target=skylake-avx512 num-threads=1},bufferize,outline-kernels' --split-input-file %s | filecheck %s --check-prefix OUTLINED

// 100 KB a row: of 33 rows, 3 at a time take less than half of 1 MB.
// CHECK-LABEL: func.func @rows_that_stay_in_the_cache
// CHECK-NEXT:    %[[X:.*]] = gawee.reshape %x shape [11, 3, 5, 1001]
// CHECK-NEXT:    %[[I:.*]] = gawee.reshape %i shape [11, 3, 5, 999]
// CHECK-NEXT:    %[[U:.*]] = gawee.reshape %u shape [11, 3, 5, 999]
// CHECK-NEXT:    %[[ALL:.*]] = gawee.scan steps 11 over(%[[X]], %[[I]], %[[U]] : {{.*}}) {
// CHECK-NEXT:    ^bb0(%[[A:.*]]: tensor<3x5x1001xf32>, %[[B:.*]]: tensor<3x5x999xi64>, %[[C:.*]]: tensor<3x5x999xf32>):
// CHECK-NEXT:      %[[MADE:.*]] = gawee.scatter_elements %[[A]], %[[B]], %[[C]] axis -1 reduction "add"
// CHECK-NEXT:      gawee.yield %[[MADE]]
// CHECK-NEXT:    } -> tensor<11x3x5x1001xf32> {gawee.batch}
// CHECK-NEXT:    %y = gawee.reshape %[[ALL]] shape [33, 5, 1001]
// CHECK-NEXT:    func.return %y

// What is written is copied where it ends up, part by part.
// OUTLINED-LABEL: func.func @rows_that_stay_in_the_cache
// OUTLINED:         scf.for %[[PART:.*]] = %{{.*}} to %{{.*}} step
// OUTLINED-NEXT:      func.call @reduce_0(%i, %[[PART]],
// OUTLINED-NEXT:      %[[AT:.*]] = memref.alloc() : memref<3x5x999xi32>
// OUTLINED-NEXT:      func.call @elementwise_0(%i, %[[PART]], %[[AT]])
// OUTLINED-NEXT:      func.call @loop_0(%x, %[[PART]], %output0, %[[AT]], %u)
// OUTLINED-NEXT:    } {gawee.scan, gawee.batch}
// OUTLINED-NEXT:    func.call @reduce_1(
// OUTLINED-NEXT:    func.return
func.func @rows_that_stay_in_the_cache(%x: tensor<33x5x1001xf32>, %i: tensor<33x5x999xi64>, %u: tensor<33x5x999xf32>) -> tensor<33x5x1001xf32> {
  %y = gawee.scatter_elements %x, %i, %u axis -1 reduction "add" : (tensor<33x5x1001xf32>, tensor<33x5x999xi64>, tensor<33x5x999xf32>) -> tensor<33x5x1001xf32>
  func.return %y : tensor<33x5x1001xf32>
}

// -----

// CHECK-LABEL: func.func @along_the_first_axis_there_are_no_rows
// CHECK-NOT:     gawee.scan
func.func @along_the_first_axis_there_are_no_rows(%x: tensor<165x1001xf32>, %i: tensor<165x1001xi64>, %u: tensor<165x1001xf32>) -> tensor<165x1001xf32> {
  %y = gawee.scatter_elements %x, %i, %u axis 0 reduction "none" : (tensor<165x1001xf32>, tensor<165x1001xi64>, tensor<165x1001xf32>) -> tensor<165x1001xf32>
  func.return %y : tensor<165x1001xf32>
}

// -----

// CHECK-LABEL: func.func @what_stays_in_the_cache_is_left
// CHECK-NOT:     gawee.scan
func.func @what_stays_in_the_cache_is_left(%x: tensor<15x1001xf32>, %i: tensor<15x1001xi64>, %u: tensor<15x1001xf32>) -> tensor<15x1001xf32> {
  %y = gawee.scatter_elements %x, %i, %u axis 1 reduction "none" : (tensor<15x1001xf32>, tensor<15x1001xi64>, tensor<15x1001xf32>) -> tensor<15x1001xf32>
  func.return %y : tensor<15x1001xf32>
}

// -----

// CHECK-LABEL: func.func @a_prime_number_of_short_rows_is_left
// CHECK-NOT:     gawee.scan
func.func @a_prime_number_of_short_rows_is_left(%x: tensor<10007x13xf32>, %i: tensor<10007x13xi64>, %u: tensor<10007x13xf32>) -> tensor<10007x13xf32> {
  %y = gawee.scatter_elements %x, %i, %u axis 1 reduction "none" : (tensor<10007x13xf32>, tensor<10007x13xi64>, tensor<10007x13xf32>) -> tensor<10007x13xf32>
  func.return %y : tensor<10007x13xf32>
}

// -----

// CHECK-LABEL: func.func @rows_that_are_not_all_written_are_left
// CHECK-NOT:     gawee.scan
func.func @rows_that_are_not_all_written_are_left(%x: tensor<170x1001xf32>, %i: tensor<165x1001xi64>, %u: tensor<165x1001xf32>) -> tensor<170x1001xf32> {
  %y = gawee.scatter_elements %x, %i, %u axis 1 reduction "none" : (tensor<170x1001xf32>, tensor<165x1001xi64>, tensor<165x1001xf32>) -> tensor<170x1001xf32>
  func.return %y : tensor<170x1001xf32>
}

// -----

// CHECK-LABEL: func.func @what_is_computed_before_is_written_in_place
// CHECK-NOT:     gawee.scan
func.func @what_is_computed_before_is_written_in_place(%x: tensor<165x1001xf32>, %i: tensor<165x1001xi64>, %u: tensor<165x1001xf32>) -> tensor<165x1001xf32> {
  %z = gawee.tanh %x : (tensor<165x1001xf32>) -> tensor<165x1001xf32>
  %y = gawee.scatter_elements %z, %i, %u axis 1 reduction "none" : (tensor<165x1001xf32>, tensor<165x1001xi64>, tensor<165x1001xf32>) -> tensor<165x1001xf32>
  func.return %y : tensor<165x1001xf32>
}
