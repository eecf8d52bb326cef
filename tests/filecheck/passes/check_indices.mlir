// RUN: gawee-opt --check-indices --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @indices_are_clamped_and_the_worst_returned
// CHECK-SAME:    -> (tensor<4x3xf32> {gawee.output = "y"}, tensor<i64> {gawee.indices = {op = "gawee.gather", axes = array<i64: 0>, sizes = array<i64: 5>, place = "{{.*}}check_indices.mlir:{{[0-9]+}}:3"}})
// CHECK-NEXT:    %[[LEAST:.*]] = gawee.constant dense<-5> : tensor<i64>
// CHECK-NEXT:    %[[GREATEST:.*]] = gawee.constant dense<4> : tensor<i64>
// CHECK-NEXT:    %[[ABOVE:.*]] = gawee.maximum %i, %[[LEAST]]
// CHECK-NEXT:    %[[INSIDE:.*]] = gawee.minimum %[[ABOVE]], %[[GREATEST]]
// CHECK-NEXT:    %[[SHIFT:.*]] = gawee.constant dense<-9223372036854775803> : tensor<i64>
// CHECK-NEXT:    %[[SHIFTED:.*]] = gawee.add %i, %[[SHIFT]]
// CHECK-NEXT:    %[[WORST:.*]] = gawee.reduce_max %[[SHIFTED]] axes [0]
// CHECK-NEXT:    %y = gawee.gather %x, %[[INSIDE]] axis 0
// CHECK-NEXT:    func.return %y, %[[WORST]]
func.func @indices_are_clamped_and_the_worst_returned(%x: tensor<5x3xf32>, %i: tensor<4xi64>) -> (tensor<4x3xf32> {gawee.output = "y"}) {
  %y = gawee.gather %x, %i axis 0 : (tensor<5x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}

// -----

// CHECK-LABEL: func.func @each_column_has_bounds_of_its_own
// CHECK-SAME:    tensor<2xi64> {gawee.indices = {op = "gawee.scatter_nd", axes = array<i64: 0, 1>, sizes = array<i64: 5, 7>
// CHECK:         gawee.constant dense<[-5, -7]> : tensor<2xi32>
// CHECK-NEXT:    gawee.constant dense<[4, 6]> : tensor<2xi32>
// CHECK:         gawee.cast %i : (tensor<4x2xi32>) -> tensor<4x2xi64>
// CHECK:         gawee.reduce_max %{{.*}} axes [0] : (tensor<4x2xi64>) -> tensor<2xi64>
func.func @each_column_has_bounds_of_its_own(%x: tensor<5x7x3xf32>, %i: tensor<4x2xi32>, %u: tensor<4x3xf32>) -> tensor<5x7x3xf32> {
  %y = gawee.scatter_nd %x, %i, %u reduction "add" : (tensor<5x7x3xf32>, tensor<4x2xi32>, tensor<4x3xf32>) -> tensor<5x7x3xf32>
  func.return %y : tensor<5x7x3xf32>
}

// -----

// CHECK-LABEL: func.func @indices_of_several_ops_are_checked_once
// CHECK-COUNT-1: gawee.reduce_max
// CHECK-NOT:     gawee.reduce_max
func.func @indices_of_several_ops_are_checked_once(%x: tensor<5x3xf32>, %z: tensor<5x2xf32>, %i: tensor<4xi64>) -> (tensor<4x3xf32>, tensor<4x2xf32>) {
  %y = gawee.gather %x, %i axis 0 : (tensor<5x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  %w = gawee.gather %z, %i axis 0 : (tensor<5x2xf32>, tensor<4xi64>) -> tensor<4x2xf32>
  func.return %y, %w : tensor<4x3xf32>, tensor<4x2xf32>
}

// -----

// CHECK-LABEL: func.func @what_the_graph_knows_to_be_in_range_is_not_checked
// CHECK-NOT:     gawee.minimum
// CHECK:         func.return %{{[a-z]+}}, %{{[a-z]+}}, %{{[a-z]+}}, %{{[a-z]+}} :
func.func @what_the_graph_knows_to_be_in_range_is_not_checked(%x: tensor<5x3xf32>, %l: tensor<4x5xf32>, %u: tensor<4xui8>, %big: tensor<256xf32>) -> (tensor<2x3xf32>, tensor<3x3xf32>, tensor<4x3xf32>, tensor<4xf32>) {
  %c = gawee.constant dense<[4, -5]> : tensor<2xi64>
  %a = gawee.gather %x, %c axis 0 : (tensor<5x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %p = gawee.iota axis 0 : tensor<3xi64>
  %b = gawee.gather %x, %p axis 0 : (tensor<5x3xf32>, tensor<3xi64>) -> tensor<3x3xf32>
  %m = gawee.arg_max %l axis 1 : (tensor<4x5xf32>) -> tensor<4xi64>
  %d = gawee.gather %x, %m axis 0 : (tensor<5x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  %n = gawee.cast %u : (tensor<4xui8>) -> tensor<4xi64>
  %e = gawee.gather %big, %n axis 0 : (tensor<256xf32>, tensor<4xi64>) -> tensor<4xf32>
  func.return %a, %b, %d, %e : tensor<2x3xf32>, tensor<3x3xf32>, tensor<4x3xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @no_indices_need_no_check
// CHECK-NOT:     gawee.minimum
func.func @no_indices_need_no_check(%x: tensor<0x3xf32>, %i: tensor<0xi64>) -> tensor<0x3xf32> {
  %y = gawee.gather %x, %i axis 0 : (tensor<0x3xf32>, tensor<0xi64>) -> tensor<0x3xf32>
  func.return %y : tensor<0x3xf32>
}

// -----

// CHECK-LABEL: func.func @who_calls_a_function_gets_what_it_returned
// CHECK-SAME:    -> tensor<4xf32> {
// CHECK:         gawee.minimum
// CHECK:         func.return %y : tensor<4xf32>
func.func @who_calls_a_function_gets_what_it_returned(%x: tensor<5xf32>, %i: tensor<4xi64>) -> tensor<4xf32> {
  %y = gawee.gather %x, %i axis 0 : (tensor<5xf32>, tensor<4xi64>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @caller(%x: tensor<5xf32>, %i: tensor<4xi64>) -> tensor<4xf32> {
  %y = func.call @who_calls_a_function_gets_what_it_returned(%x, %i) : (tensor<5xf32>, tensor<4xi64>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @an_index_in_a_body_is_checked_at_all_points_of_its_loops
// CHECK-SAME:    tensor<i64> {gawee.indices = {op = "tensor.extract", axes = array<i64: 0>, sizes = array<i64: 5>, place = "{{.*}}", from_start}}
// CHECK:         %[[WORST:.*]] = linalg.generic {{.*}}iterator_types = ["reduction", "reduction"]
// CHECK:           arith.addi
// CHECK-NEXT:      arith.maxsi
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:           %[[ABOVE:.*]] = arith.maxsi
// CHECK:           %[[INSIDE:.*]] = arith.minsi %[[ABOVE]]
// CHECK-NEXT:      tensor.extract %x[%[[INSIDE]], %c]
// CHECK:         func.return %y, %[[WORST]]
func.func @an_index_in_a_body_is_checked_at_all_points_of_its_loops(%x: tensor<5x3xf32>, %i: tensor<4xi64>) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<4xi64>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%n: i64, %o: f32):
    %r = arith.index_cast %n : i64 to index
    %c = linalg.index 1 : index
    %v = tensor.extract %x[%r, %c] : tensor<5x3xf32>
    linalg.yield %v : f32
  } -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}

// -----

// CHECK-LABEL: func.func @the_worst_index_of_all_steps_is_told
// CHECK-SAME:    -> (tensor<7x3xf32> {{.*}}, tensor<i64> {gawee.indices = {op = "gawee.gather", axes = array<i64: 0>, sizes = array<i64: 5>
// CHECK-NEXT:    %y, %[[EACH:.*]] = gawee.scan steps 7
// CHECK-NEXT:    ^bb0(%now: tensor<i64>):
// CHECK:           %[[INSIDE:.*]] = gawee.minimum
// CHECK:           %[[STEP:.*]] = gawee.reduce_max
// CHECK-NEXT:      %row = gawee.gather %x, %[[INSIDE]] axis 0
// CHECK-NEXT:      gawee.yield %row, %[[STEP]]
// CHECK-NEXT:    } -> tensor<7x3xf32>, tensor<7xi64>
// CHECK-NEXT:    %[[WORST:.*]] = gawee.reduce_max %[[EACH]] axes [0]
// CHECK-NEXT:    func.return %y, %[[WORST]]
func.func @the_worst_index_of_all_steps_is_told(%x: tensor<5x3xf32>, %i: tensor<7xi64>) -> tensor<7x3xf32> {
  %y = gawee.scan steps 7 over(%i : tensor<7xi64>) {
  ^bb0(%now: tensor<i64>):
    %row = gawee.gather %x, %now axis 0 : (tensor<5x3xf32>, tensor<i64>) -> tensor<3xf32>
    gawee.yield %row : tensor<3xf32>
  } -> tensor<7x3xf32>
  func.return %y : tensor<7x3xf32>
}

// -----

// CHECK-LABEL: func.func @several_ops_of_a_step_have_a_result_each
// CHECK:         %[[LAST:.*]], %[[ALL:.*]], %[[FIRST:.*]], %[[SECOND:.*]] = gawee.scan steps 7 reverse initial
// CHECK:           gawee.yield %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<3xf32>, tensor<2xf32>, tensor<i64>, tensor<i64>
// CHECK:         gawee.reduce_max %[[SECOND]] axes [0]
// CHECK:         gawee.reduce_max %[[FIRST]] axes [0]
// CHECK:         func.return %[[LAST]], %[[ALL]],
func.func @several_ops_of_a_step_have_a_result_each(%s: tensor<3xf32>, %x: tensor<5x3xf32>, %z: tensor<4x2xf32>, %i: tensor<7xi64>) -> (tensor<3xf32>, tensor<7x2xf32>) {
  %last, %all = gawee.scan steps 7 reverse initial(%s : tensor<3xf32>) over(%i : tensor<7xi64>) {
  ^bb0(%state: tensor<3xf32>, %now: tensor<i64>):
    %row = gawee.gather %x, %now axis 0 : (tensor<5x3xf32>, tensor<i64>) -> tensor<3xf32>
    %other = gawee.gather %z, %now axis 0 : (tensor<4x2xf32>, tensor<i64>) -> tensor<2xf32>
    %next = gawee.add %state, %row : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    gawee.yield %next, %other : tensor<3xf32>, tensor<2xf32>
  } -> tensor<3xf32>, tensor<7x2xf32>
  func.return %last, %all : tensor<3xf32>, tensor<7x2xf32>
}

// -----

// CHECK-LABEL: func.func @indices_of_a_scan_in_a_scan_are_clamped
// CHECK-SAME:    -> tensor<7x2x3xf32> {
// CHECK:           %[[INSIDE:.*]] = gawee.minimum
// CHECK:           gawee.gather %x, %[[INSIDE]] axis 0
func.func @indices_of_a_scan_in_a_scan_are_clamped(%x: tensor<5x3xf32>, %i: tensor<7x2xi64>) -> tensor<7x2x3xf32> {
  %y = gawee.scan steps 7 over(%i : tensor<7x2xi64>) {
  ^bb0(%pair: tensor<2xi64>):
    %rows = gawee.scan steps 2 over(%pair : tensor<2xi64>) {
    ^bb1(%now: tensor<i64>):
      %row = gawee.gather %x, %now axis 0 : (tensor<5x3xf32>, tensor<i64>) -> tensor<3xf32>
      gawee.yield %row : tensor<3xf32>
    } -> tensor<2x3xf32>
    gawee.yield %rows : tensor<2x3xf32>
  } -> tensor<7x2x3xf32>
  func.return %y : tensor<7x2x3xf32>
}

// -----

// Each column of the indices counts the axis that it names: the first one two rows, the second one all columns.
// CHECK-LABEL: func.func @places_that_count_open_axes_are_in_range
// CHECK-NOT:     gawee.minimum
// CHECK:         gawee.gather_nd
// CHECK-NEXT:    func.return
func.func @places_that_count_open_axes_are_in_range(%x: tensor<2x?xf32> {gawee.sizes = ["-", "n"]}) -> tensor<2x?xf32> {
  %rows = gawee.iota axis 0 {shape = #gawee.sizes<[2, "n", 1]>} : tensor<2x?x1xi64>
  %columns = gawee.iota axis 1 {shape = #gawee.sizes<[2, "n", 1]>} : tensor<2x?x1xi64>
  %places = gawee.cat %rows, %columns dim 2 : (tensor<2x?x1xi64>, tensor<2x?x1xi64>) -> tensor<2x?x2xi64>
  %y = gawee.gather_nd %x, %places batch_dims 0 : (tensor<2x?xf32>, tensor<2x?x2xi64>) -> tensor<2x?xf32>
  func.return %y : tensor<2x?xf32>
}

// -----

// CHECK-LABEL: func.func @a_branch_returns_the_worst_of_its_indices
// CHECK:         %y, %[[WORST:.*]] = scf.if %c -> (tensor<4x3xf32>, tensor<i64>) {
// CHECK:           %[[W:.*]] = gawee.reduce_max
// CHECK:           %g = gawee.gather %x
// CHECK:           scf.yield %g, %[[W]]
// CHECK:         } else {
// CHECK-NEXT:      %[[LEAST:.*]] = gawee.constant dense<-9223372036854775808> : tensor<i64>
// CHECK-NEXT:      scf.yield %z, %[[LEAST]]
// CHECK:         func.return %y, %[[WORST]]
func.func @a_branch_returns_the_worst_of_its_indices(%x: tensor<5x3xf32>, %i: tensor<4xi64>, %z: tensor<4x3xf32>, %c: i1) -> tensor<4x3xf32> {
  %y = scf.if %c -> (tensor<4x3xf32>) {
    %g = gawee.gather %x, %i axis 0 : (tensor<5x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
    scf.yield %g : tensor<4x3xf32>
  } else {
    scf.yield %z : tensor<4x3xf32>
  }
  func.return %y : tensor<4x3xf32>
}
