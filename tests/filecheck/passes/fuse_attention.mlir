// RUN: gawee-opt %s --split-input-file --fuse-attention --canonicalize | filecheck %s

// CHECK-LABEL: func.func @a_softmax_between_two_products_is_attention
// CHECK-NEXT:  %[[Y:.*]] = gawee.attention %q, %k, %v scale 5.000000e-01 :
// CHECK-NEXT:  func.return %[[Y]]
func.func @a_softmax_between_two_products_is_attention(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x7x4xf32>, %v: tensor<2x3x7x6xf32>) -> (tensor<2x3x5x6xf32>) {
  %s = gawee.batch_matmul %q, %k transpose_b : (tensor<2x3x5x4xf32>, tensor<2x3x7x4xf32>) -> tensor<2x3x5x7xf32>
  %c = gawee.constant dense<0.5> : tensor<f32>
  %t = gawee.mul %s, %c : (tensor<2x3x5x7xf32>, tensor<f32>) -> tensor<2x3x5x7xf32>
  %w = gawee.softmax %t axis -1 : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %y = gawee.batch_matmul %w, %v : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  func.return %y : tensor<2x3x5x6xf32>
}

// -----

// CHECK-LABEL: func.func @scales_of_queries_and_keys_are_multiplied
// CHECK-NEXT:  %[[Y:.*]] = gawee.attention %q, %k, %v scale 1.500000e+00 :
// CHECK-NEXT:  func.return %[[Y]]
func.func @scales_of_queries_and_keys_are_multiplied(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x7x4xf32>, %v: tensor<2x3x7x6xf32>) -> (tensor<2x3x5x6xf32>) {
  %a = gawee.constant dense<3.0> : tensor<1xf32>
  %b = gawee.constant dense<2.0> : tensor<f32>
  %p = gawee.mul %a, %q : (tensor<1xf32>, tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  %n = gawee.transpose %k permutation [0, 1, 3, 2] : (tensor<2x3x7x4xf32>) -> tensor<2x3x4x7xf32>
  %o = gawee.div %n, %b : (tensor<2x3x4x7xf32>, tensor<f32>) -> tensor<2x3x4x7xf32>
  %t = gawee.batch_matmul %p, %o : (tensor<2x3x5x4xf32>, tensor<2x3x4x7xf32>) -> tensor<2x3x5x7xf32>
  %w = gawee.softmax %t axis -1 : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %y = gawee.batch_matmul %w, %v : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  func.return %y : tensor<2x3x5x6xf32>
}

// -----

// CHECK-LABEL: func.func @heads_that_were_joined_with_the_batch_are_axes_again
// CHECK-NEXT:  %[[K:.*]] = gawee.transpose %k permutation [0, 2, 1, 3]
// CHECK-NEXT:  %[[Y:.*]] = gawee.attention %q, %[[K]], %v scale 1.000000e+00 :
// CHECK-NEXT:  func.return %[[Y]]
func.func @heads_that_were_joined_with_the_batch_are_axes_again(%q: tensor<2x3x5x4xf32>, %k: tensor<2x7x3x4xf32>, %v: tensor<2x3x7x6xf32>) -> (tensor<2x3x5x6xf32>) {
  %n = gawee.transpose %k permutation [0, 2, 3, 1] : (tensor<2x7x3x4xf32>) -> tensor<2x3x4x7xf32>
  %a = gawee.reshape %q shape [6, 5, 4] : (tensor<2x3x5x4xf32>) -> tensor<6x5x4xf32>
  %b = gawee.reshape %n shape [6, 4, 7] : (tensor<2x3x4x7xf32>) -> tensor<6x4x7xf32>
  %s = gawee.batch_matmul %a, %b : (tensor<6x5x4xf32>, tensor<6x4x7xf32>) -> tensor<6x5x7xf32>
  %t = gawee.reshape %s shape [2, 3, 5, 7] : (tensor<6x5x7xf32>) -> tensor<2x3x5x7xf32>
  %w = gawee.softmax %t axis -1 : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %u = gawee.reshape %w shape [6, 5, 7] : (tensor<2x3x5x7xf32>) -> tensor<6x5x7xf32>
  %c = gawee.reshape %v shape [6, 7, 6] : (tensor<2x3x7x6xf32>) -> tensor<6x7x6xf32>
  %d = gawee.batch_matmul %u, %c : (tensor<6x5x7xf32>, tensor<6x7x6xf32>) -> tensor<6x5x6xf32>
  %y = gawee.reshape %d shape [2, 3, 5, 6] : (tensor<6x5x6xf32>) -> tensor<2x3x5x6xf32>
  func.return %y : tensor<2x3x5x6xf32>
}

// -----

// CHECK-LABEL: func.func @zeros_in_the_place_of_nan_are_what_attention_has
// CHECK-NEXT:  %[[Y:.*]] = gawee.attention %q, %k, %v mask %m scale 1.000000e+00 :
// CHECK-NEXT:  func.return %[[Y]]
func.func @zeros_in_the_place_of_nan_are_what_attention_has(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x7x4xf32>, %v: tensor<2x3x7x6xf32>, %m: tensor<5x7xf32>) -> (tensor<2x3x5x6xf32>) {
  %s = gawee.batch_matmul %q, %k transpose_b : (tensor<2x3x5x4xf32>, tensor<2x3x7x4xf32>) -> tensor<2x3x5x7xf32>
  %t = gawee.add %s, %m : (tensor<2x3x5x7xf32>, tensor<5x7xf32>) -> tensor<2x3x5x7xf32>
  %w = gawee.softmax %t axis -1 : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %f = gawee.isnan %w : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xi1>
  %z = gawee.constant dense<0.0> : tensor<f32>
  %g = gawee.where %f, %z, %w : (tensor<2x3x5x7xi1>, tensor<f32>, tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %y = gawee.batch_matmul %g, %v : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  func.return %y : tensor<2x3x5x6xf32>
}

// -----

// CHECK-LABEL: func.func @zeros_where_all_scores_are_hidden_are_what_attention_has
// CHECK-NEXT:  %[[Y:.*]] = gawee.attention %q, %k, %v mask %m scale 1.000000e+00 :
// CHECK-NEXT:  func.return %[[Y]]
func.func @zeros_where_all_scores_are_hidden_are_what_attention_has(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x7x4xf32>, %v: tensor<2x3x7x6xf32>, %m: tensor<5x7xf32>) -> (tensor<2x3x5x6xf32>) {
  %s = gawee.batch_matmul %q, %k transpose_b : (tensor<2x3x5x4xf32>, tensor<2x3x7x4xf32>) -> tensor<2x3x5x7xf32>
  %t = gawee.add %s, %m : (tensor<2x3x5x7xf32>, tensor<5x7xf32>) -> tensor<2x3x5x7xf32>
  %w = gawee.softmax %t axis -1 : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %l = gawee.constant dense<0xff800000> : tensor<f32>
  %e = gawee.compare %t, %l predicate "eq" : (tensor<2x3x5x7xf32>, tensor<f32>) -> tensor<2x3x5x7xi1>
  %n = gawee.logical_not %e : (tensor<2x3x5x7xi1>) -> tensor<2x3x5x7xi1>
  %a = gawee.reduce_any %n axes [3] keep_dims : (tensor<2x3x5x7xi1>) -> tensor<2x3x5x1xi1>
  %f = gawee.logical_not %a : (tensor<2x3x5x1xi1>) -> tensor<2x3x5x1xi1>
  %z = gawee.constant dense<0.0> : tensor<2x3x5x7xf32>
  %g = gawee.where %f, %z, %w : (tensor<2x3x5x1xi1>, tensor<2x3x5x7xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %y = gawee.batch_matmul %g, %v : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  func.return %y : tensor<2x3x5x6xf32>
}

// -----

// CHECK-LABEL: func.func @zeros_may_be_one_that_is_repeated
// CHECK-NEXT:  %[[Y:.*]] = gawee.attention %q, %k, %v scale 1.000000e+00 :
// CHECK-NEXT:  func.return %[[Y]]
func.func @zeros_may_be_one_that_is_repeated(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x7x4xf32>, %v: tensor<2x3x7x6xf32>) -> (tensor<2x3x5x6xf32>) {
  %s = gawee.batch_matmul %q, %k transpose_b : (tensor<2x3x5x4xf32>, tensor<2x3x7x4xf32>) -> tensor<2x3x5x7xf32>
  %w = gawee.softmax %s axis -1 : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %l = gawee.constant dense<0xff800000> : tensor<f32>
  %e = gawee.compare %s, %l predicate "eq" : (tensor<2x3x5x7xf32>, tensor<f32>) -> tensor<2x3x5x7xi1>
  %n = gawee.logical_not %e : (tensor<2x3x5x7xi1>) -> tensor<2x3x5x7xi1>
  %a = gawee.reduce_any %n axes [3] keep_dims : (tensor<2x3x5x7xi1>) -> tensor<2x3x5x1xi1>
  %f = gawee.logical_not %a : (tensor<2x3x5x1xi1>) -> tensor<2x3x5x1xi1>
  %c = gawee.constant dense<0.0> : tensor<f32>
  %z = gawee.broadcast_to %c shape [2, 3, 5, 7] : (tensor<f32>) -> tensor<2x3x5x7xf32>
  %g = gawee.where %f, %z, %w : (tensor<2x3x5x1xi1>, tensor<2x3x5x7xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %y = gawee.batch_matmul %g, %v : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  func.return %y : tensor<2x3x5x6xf32>
}

// -----

// CHECK-LABEL: func.func @ones_that_are_repeated_are_no_zeros
// CHECK-NOT:   gawee.attention
func.func @ones_that_are_repeated_are_no_zeros(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x7x4xf32>, %v: tensor<2x3x7x6xf32>) -> (tensor<2x3x5x6xf32>) {
  %s = gawee.batch_matmul %q, %k transpose_b : (tensor<2x3x5x4xf32>, tensor<2x3x7x4xf32>) -> tensor<2x3x5x7xf32>
  %w = gawee.softmax %s axis -1 : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %b = gawee.isnan %w : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xi1>
  %c = gawee.constant dense<1.0> : tensor<f32>
  %z = gawee.broadcast_to %c shape [2, 3, 5, 7] : (tensor<f32>) -> tensor<2x3x5x7xf32>
  %g = gawee.where %b, %z, %w : (tensor<2x3x5x7xi1>, tensor<2x3x5x7xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %y = gawee.batch_matmul %g, %v : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  func.return %y : tensor<2x3x5x6xf32>
}

// -----

// CHECK-LABEL: func.func @masks_of_windows_and_of_heads_are_added_up
// CHECK:       %[[M:.*]] = gawee.add %b, %m : (tensor<3x5x7xf32>, tensor<2x1x5x7xf32>) -> tensor<2x3x5x7xf32>
// CHECK-NEXT:  %[[Y:.*]] = gawee.attention %{{.*}}, %{{.*}}, %{{.*}} mask %[[M]] scale 1.000000e+00 : (tensor<1x2x3x5x4xf32>, tensor<1x2x3x7x4xf32>, tensor<1x2x3x7x6xf32>, tensor<2x3x5x7xf32>)
// CHECK-NEXT:  %[[Z:.*]] = gawee.reshape %[[Y]] shape [2, 3, 5, 6]
// CHECK-NEXT:  func.return %[[Z]]
func.func @masks_of_windows_and_of_heads_are_added_up(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x7x4xf32>, %v: tensor<2x3x7x6xf32>, %b: tensor<3x5x7xf32> {gawee.parameter = "b"}, %m: tensor<2x1x5x7xf32> {gawee.constant = "m"}) -> (tensor<2x3x5x6xf32>) {
  %s = gawee.batch_matmul %q, %k transpose_b : (tensor<2x3x5x4xf32>, tensor<2x3x7x4xf32>) -> tensor<2x3x5x7xf32>
  %n = gawee.add %s, %b : (tensor<2x3x5x7xf32>, tensor<3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %o = gawee.reshape %n shape [1, 2, 3, 5, 7] : (tensor<2x3x5x7xf32>) -> tensor<1x2x3x5x7xf32>
  %p = gawee.add %o, %m : (tensor<1x2x3x5x7xf32>, tensor<2x1x5x7xf32>) -> tensor<1x2x3x5x7xf32>
  %t = gawee.reshape %p shape [2, 3, 5, 7] : (tensor<1x2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %w = gawee.softmax %t axis -1 : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %y = gawee.batch_matmul %w, %v : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  func.return %y : tensor<2x3x5x6xf32>
}

// -----

// CHECK-LABEL: func.func @a_mask_that_may_hide_all_keys_stays_apart
// CHECK-NOT:   gawee.attention
// CHECK:       func.return
func.func @a_mask_that_may_hide_all_keys_stays_apart(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x7x4xf32>, %v: tensor<2x3x7x6xf32>, %m: tensor<5x7xf32>) -> (tensor<2x3x5x6xf32>) {
  %s = gawee.batch_matmul %q, %k transpose_b : (tensor<2x3x5x4xf32>, tensor<2x3x7x4xf32>) -> tensor<2x3x5x7xf32>
  %t = gawee.add %s, %m : (tensor<2x3x5x7xf32>, tensor<5x7xf32>) -> tensor<2x3x5x7xf32>
  %w = gawee.softmax %t axis -1 : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %y = gawee.batch_matmul %w, %v : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  func.return %y : tensor<2x3x5x6xf32>
}

// -----

// CHECK-LABEL: func.func @a_mask_of_finite_numbers_is_attention_s
// CHECK:       %[[M:.*]] = gawee.where %h,
// CHECK-NEXT:  gawee.attention %q, %k, %v mask %[[M]] scale 1.000000e+00 :
func.func @a_mask_of_finite_numbers_is_attention_s(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x7x4xf32>, %v: tensor<2x3x7x6xf32>, %h: tensor<5x7xi1>) -> (tensor<2x3x5x6xf32>) {
  %s = gawee.batch_matmul %q, %k transpose_b : (tensor<2x3x5x4xf32>, tensor<2x3x7x4xf32>) -> tensor<2x3x5x7xf32>
  %z = gawee.constant dense<0.0> : tensor<f32>
  %l = gawee.constant dense<-3.0e+38> : tensor<f32>
  %m = gawee.where %h, %z, %l : (tensor<5x7xi1>, tensor<f32>, tensor<f32>) -> tensor<5x7xf32>
  %t = gawee.add %s, %m : (tensor<2x3x5x7xf32>, tensor<5x7xf32>) -> tensor<2x3x5x7xf32>
  %w = gawee.softmax %t axis -1 : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %y = gawee.batch_matmul %w, %v : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  func.return %y : tensor<2x3x5x6xf32>
}

// -----

// CHECK-LABEL: func.func @weights_that_are_read_elsewhere_stay
// CHECK-NOT:   gawee.attention
// CHECK:       func.return
func.func @weights_that_are_read_elsewhere_stay(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x7x4xf32>, %v: tensor<2x3x7x6xf32>) -> (tensor<2x3x5x6xf32>, tensor<2x3x5x7xf32>) {
  %s = gawee.batch_matmul %q, %k transpose_b : (tensor<2x3x5x4xf32>, tensor<2x3x7x4xf32>) -> tensor<2x3x5x7xf32>
  %c = gawee.constant dense<0.5> : tensor<f32>
  %t = gawee.mul %s, %c : (tensor<2x3x5x7xf32>, tensor<f32>) -> tensor<2x3x5x7xf32>
  %w = gawee.softmax %t axis -1 : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %y = gawee.batch_matmul %w, %v : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  func.return %y, %w : tensor<2x3x5x6xf32>, tensor<2x3x5x7xf32>
}

// -----

// CHECK-LABEL: func.func @a_softmax_along_the_queries_stays
// CHECK-NOT:   gawee.attention
// CHECK:       func.return
func.func @a_softmax_along_the_queries_stays(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x7x4xf32>, %v: tensor<2x3x7x6xf32>) -> (tensor<2x3x5x6xf32>) {
  %s = gawee.batch_matmul %q, %k transpose_b : (tensor<2x3x5x4xf32>, tensor<2x3x7x4xf32>) -> tensor<2x3x5x7xf32>
  %c = gawee.constant dense<0.5> : tensor<f32>
  %t = gawee.mul %s, %c : (tensor<2x3x5x7xf32>, tensor<f32>) -> tensor<2x3x5x7xf32>
  %w = gawee.softmax %t axis 2 : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %y = gawee.batch_matmul %w, %v : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  func.return %y : tensor<2x3x5x6xf32>
}

// -----

// CHECK-LABEL: func.func @a_scale_of_scores_and_mask_stays
// CHECK-NOT:   gawee.attention
// CHECK:       func.return
func.func @a_scale_of_scores_and_mask_stays(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x7x4xf32>, %v: tensor<2x3x7x6xf32>, %m: tensor<5x7xf32> {gawee.parameter = "m"}) -> (tensor<2x3x5x6xf32>) {
  %s = gawee.batch_matmul %q, %k transpose_b : (tensor<2x3x5x4xf32>, tensor<2x3x7x4xf32>) -> tensor<2x3x5x7xf32>
  %u = gawee.add %s, %m : (tensor<2x3x5x7xf32>, tensor<5x7xf32>) -> tensor<2x3x5x7xf32>
  %c = gawee.constant dense<0.5> : tensor<f32>
  %t = gawee.mul %u, %c : (tensor<2x3x5x7xf32>, tensor<f32>) -> tensor<2x3x5x7xf32>
  %w = gawee.softmax %t axis -1 : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %y = gawee.batch_matmul %w, %v : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  func.return %y : tensor<2x3x5x6xf32>
}

// -----

// CHECK-LABEL: func.func @keys_that_several_batches_share_stay
// CHECK-NOT:   gawee.attention
// CHECK:       func.return
func.func @keys_that_several_batches_share_stay(%q: tensor<2x3x5x4xf32>, %k: tensor<3x7x4xf32>, %v: tensor<2x3x7x6xf32>) -> (tensor<2x3x5x6xf32>) {
  %t = gawee.batch_matmul %q, %k transpose_b : (tensor<2x3x5x4xf32>, tensor<3x7x4xf32>) -> tensor<2x3x5x7xf32>
  %w = gawee.softmax %t axis -1 : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %y = gawee.batch_matmul %w, %v : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  func.return %y : tensor<2x3x5x6xf32>
}
