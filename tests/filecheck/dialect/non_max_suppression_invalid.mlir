// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// NonMaxSuppressionOp C1: candidates are numbers.
// CHECK: error: 'gawee.non_max_suppression' op unsupported element type 'f32' of candidates; supported: i1
func.func @non_max_suppression_c1_candidates_are_numbers(%c: tensor<5xf32>, %o: tensor<5x5xi1>) {
  %r = gawee.non_max_suppression %c, %o : (tensor<5xf32>, tensor<5x5xi1>) -> tensor<5xf32>
  func.return
}

// -----

// NonMaxSuppressionOp C1: overlaps are numbers.
// CHECK: error: 'gawee.non_max_suppression' op unsupported element type 'i64' of overlaps; supported: i1
func.func @non_max_suppression_c1_overlaps_are_numbers(%c: tensor<5xi1>, %o: tensor<5x5xi64>) {
  %r = gawee.non_max_suppression %c, %o : (tensor<5xi1>, tensor<5x5xi64>) -> tensor<5xi1>
  func.return
}

// -----

// NonMaxSuppressionOp C2: a single candidate has no order.
// CHECK: error: 'gawee.non_max_suppression' op expected candidates of rank 1 or more, got rank 0
func.func @non_max_suppression_c2_no_order(%c: tensor<i1>, %o: tensor<i1>) {
  %r = gawee.non_max_suppression %c, %o : (tensor<i1>, tensor<i1>) -> tensor<i1>
  func.return
}

// -----

// NonMaxSuppressionOp C3: overlaps are of other candidates.
// CHECK: error: 'gawee.non_max_suppression' op expected overlaps of shape 2x5x5, got 2x5x3
func.func @non_max_suppression_c3_overlaps_are_of_others(%c: tensor<2x5xi1>, %o: tensor<2x5x3xi1>) {
  %r = gawee.non_max_suppression %c, %o : (tensor<2x5xi1>, tensor<2x5x3xi1>) -> tensor<2x5xi1>
  func.return
}
