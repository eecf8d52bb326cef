// RUN: gawee-opt --lower-linalg-to-loops --split-input-file %s | filecheck %s

// Along the columns of the output, output and input are contiguous: that loop (d3) is innermost.
// CHECK-LABEL: func.func @convolution_runs_along_output_columns_innermost
// CHECK:         scf.for %d0
// CHECK:           scf.for %d1
// CHECK:             scf.for %d2
// CHECK:               scf.for %d4
// CHECK:                 scf.for %d5
// CHECK:                   scf.for %d6
// CHECK:                     scf.for %d3
func.func @convolution_runs_along_output_columns_innermost(%x: memref<2x3x9x11xf32>, %w: memref<4x3x3x5xf32>, %y: memref<2x4x7x7xf32>) {
  linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %w : memref<2x3x9x11xf32>, memref<4x3x3x5xf32>) outs(%y : memref<2x4x7x7xf32>)
  func.return
}

// -----

// CHECK-LABEL: func.func @innermost_reduction_is_carried_in_a_register
// CHECK-SAME:  (%[[X:.*]]: memref<3x5xf32>, %[[Y:.*]]: memref<3xf32>)
// CHECK:         scf.for %[[I:.*]] =
// CHECK-NEXT:      %[[OLD:.*]] = memref.load %[[Y]][%[[I]]]
// CHECK-NEXT:      %[[NEW:.*]] = scf.for %[[J:.*]] = {{.*}} iter_args(%[[SUM:.*]] = %[[OLD]]) -> (f32) {
// CHECK-NEXT:        %[[V:.*]] = memref.load %[[X]][%[[I]], %[[J]]]
// CHECK-NEXT:        %[[S:.*]] = arith.addf %[[SUM]], %[[V]] : f32
// CHECK-NEXT:        scf.yield %[[S]] : f32
// CHECK:           memref.store %[[NEW]], %[[Y]][%[[I]]]
func.func @innermost_reduction_is_carried_in_a_register(%x: memref<3x5xf32>, %y: memref<3xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<3x5xf32>) outs(%y : memref<3xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    linalg.yield %s : f32
  }
  func.return
}

// -----

// CHECK-LABEL: func.func @loop_of_one_iteration_disappears
// CHECK-NOT:     scf.for %d0
// CHECK:         scf.for %[[J:.*]] =
// CHECK-NEXT:      memref.load %{{.*}}[%c0, %[[J]]]
func.func @loop_of_one_iteration_disappears(%x: memref<1x5xf32>, %y: memref<1x5xf32>) {
  linalg.exp ins(%x : memref<1x5xf32>) outs(%y : memref<1x5xf32>)
  func.return
}

// -----

// CHECK-LABEL: func.func @empty_iteration_space_leaves_nothing
// CHECK-NEXT:    func.return
func.func @empty_iteration_space_leaves_nothing(%x: memref<0x5xf32>, %y: memref<0x5xf32>) {
  linalg.exp ins(%x : memref<0x5xf32>) outs(%y : memref<0x5xf32>)
  func.return
}

// -----

// CHECK-LABEL: func.func @strided_access_becomes_index_arithmetic
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           %[[TWICE:.*]] = arith.muli %[[I]], %c2 : index
// CHECK:           memref.load %{{.*}}[%[[TWICE]]] : memref<7xf32>
func.func @strided_access_becomes_index_arithmetic(%x: memref<7xf32>, %y: memref<3xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 * 2)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<7xf32>) outs(%y : memref<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  func.return
}

// -----

// CHECK-LABEL: func.func @loop_counter_replaces_linalg_index
// CHECK:         scf.for %[[I:.*]] =
// CHECK-NEXT:      memref.store %[[I]], %{{.*}}[%[[I]]] : memref<3xindex>
func.func @loop_counter_replaces_linalg_index(%y: memref<3xindex>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%y : memref<3xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    linalg.yield %i : index
  }
  func.return
}

// -----

// CHECK-LABEL: func.func @copy_becomes_loops
// CHECK-SAME:  (%[[X:.*]]: memref<2x3xf32>, %[[Y:.*]]: memref<2x3xf32>)
// CHECK:         %[[V:.*]] = memref.load %[[X]][%[[I:.*]], %[[J:.*]]]
// CHECK-NEXT:    memref.store %[[V]], %[[Y]][%[[I]], %[[J]]]
func.func @copy_becomes_loops(%x: memref<2x3xf32>, %y: memref<2x3xf32>) {
  "memref.copy"(%x, %y) : (memref<2x3xf32>, memref<2x3xf32>) -> ()
  func.return
}

// -----

// CHECK-LABEL: func.func @results_that_a_reduction_moves_are_in_memory
// CHECK-SAME:  (%[[X:.*]]: memref<3x5xf32>, %[[Y:.*]]: memref<3x5xf32>, %[[S:.*]]: memref<3xf32>)
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           scf.for %[[J:.*]] =
// CHECK-NOT:       iter_args
// CHECK:             memref.store %{{.*}}, %[[Y]][%[[I]], %[[J]]]
// CHECK:             memref.store %{{.*}}, %[[S]][%[[I]]]
func.func @results_that_a_reduction_moves_are_in_memory(%x: memref<3x5xf32>, %y: memref<3x5xf32>, %s: memref<3xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%x : memref<3x5xf32>) outs(%y, %s : memref<3x5xf32>, memref<3xf32>) {
  ^bb0(%a: f32, %o: f32, %t: f32):
    %sum = arith.addf %t, %a : f32
    linalg.yield %a, %sum : f32, f32
  }
  func.return
}
