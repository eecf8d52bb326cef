// RUN: gawee-opt %s --split-input-file --verify-diagnostics | filecheck %s

// AttentionOp C1: queries are a vector.
// CHECK: error: 'gawee.attention' op expected q of rank 2 or more, got rank 1 ('tensor<4xf32>')
func.func @attention_c1_queries_are_a_vector(%q: tensor<4xf32>, %k: tensor<4xf32>, %v: tensor<4xf32>) {
  %y = gawee.attention %q, %k, %v scale 5.000000e-01 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// AttentionOp C1: ranks differ.
// CHECK: error: 'gawee.attention' op expected k of rank 4, got rank 3 ('tensor<2x7x4xf32>')
func.func @attention_c1_ranks_differ(%q: tensor<2x6x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x3x7x8xf32>) {
  %y = gawee.attention %q, %k, %v scale 5.000000e-01 : (tensor<2x6x5x4xf32>, tensor<2x7x4xf32>, tensor<2x3x7x8xf32>) -> tensor<2x6x5x8xf32>
  func.return
}

// -----

// AttentionOp C2: element type is not float.
// CHECK: error: 'gawee.attention' op expected q of element type f16, f32 or f64, got 'i32'
func.func @attention_c2_element_type_is_not_float(%q: tensor<5x4xi32>, %k: tensor<7x4xi32>, %v: tensor<7x8xi32>) {
  %y = gawee.attention %q, %k, %v scale 5.000000e-01 : (tensor<5x4xi32>, tensor<7x4xi32>, tensor<7x8xi32>) -> tensor<5x8xi32>
  func.return
}

// -----

// AttentionOp C2: element types differ.
// CHECK: error: 'gawee.attention' op expected v element type 'f64' to match q element type 'f32'
func.func @attention_c2_element_types_differ(%q: tensor<2x6x5x4xf32>, %k: tensor<2x3x7x4xf32>, %v: tensor<2x3x7x8xf64>) {
  %y = gawee.attention %q, %k, %v scale 5.000000e-01 : (tensor<2x6x5x4xf32>, tensor<2x3x7x4xf32>, tensor<2x3x7x8xf64>) -> tensor<2x6x5x8xf32>
  func.return
}

// -----

// AttentionOp C3: widths differ.
// CHECK: error: 'gawee.attention' op expected width of q (4) to equal that of k (5)
func.func @attention_c3_widths_differ(%q: tensor<2x6x5x4xf32>, %k: tensor<2x3x7x5xf32>, %v: tensor<2x3x7x8xf32>) {
  %y = gawee.attention %q, %k, %v scale 5.000000e-01 : (tensor<2x6x5x4xf32>, tensor<2x3x7x5xf32>, tensor<2x3x7x8xf32>) -> tensor<2x6x5x8xf32>
  func.return
}

// -----

// AttentionOp C3: numbers of keys differ.
// CHECK: error: 'gawee.attention' op expected v of shape 2x3x7x8, got 2x3x6x8
func.func @attention_c3_numbers_of_keys_differ(%q: tensor<2x6x5x4xf32>, %k: tensor<2x3x7x4xf32>, %v: tensor<2x3x6x8xf32>) {
  %y = gawee.attention %q, %k, %v scale 5.000000e-01 : (tensor<2x6x5x4xf32>, tensor<2x3x7x4xf32>, tensor<2x3x6x8xf32>) -> tensor<2x6x5x8xf32>
  func.return
}

// -----

// AttentionOp C4: batches differ.
// CHECK: error: 'gawee.attention' op expected leading axes of k (3) to equal those of q (2)
func.func @attention_c4_batches_differ(%q: tensor<2x6x5x4xf32>, %k: tensor<3x3x7x4xf32>, %v: tensor<3x3x7x8xf32>) {
  %y = gawee.attention %q, %k, %v scale 5.000000e-01 : (tensor<2x6x5x4xf32>, tensor<3x3x7x4xf32>, tensor<3x3x7x8xf32>) -> tensor<2x6x5x8xf32>
  func.return
}

// -----

// AttentionOp C4: heads do not divide.
// CHECK: error: 'gawee.attention' op expected heads of k (4) to divide heads of q (6)
func.func @attention_c4_heads_do_not_divide(%q: tensor<2x6x5x4xf32>, %k: tensor<2x4x7x4xf32>, %v: tensor<2x4x7x8xf32>) {
  %y = gawee.attention %q, %k, %v scale 5.000000e-01 : (tensor<2x6x5x4xf32>, tensor<2x4x7x4xf32>, tensor<2x4x7x8xf32>) -> tensor<2x6x5x8xf32>
  func.return
}

// -----

// AttentionOp C5: mask has a row too many.
// CHECK: error: 'gawee.attention' op expected shapes to broadcast, got 6x7 and 2x6x5x7
func.func @attention_c5_mask_has_a_row_too_many(%q: tensor<2x6x5x4xf32>, %k: tensor<2x3x7x4xf32>, %v: tensor<2x3x7x8xf32>, %m: tensor<6x7xf32>) {
  %y = gawee.attention %q, %k, %v mask %m scale 5.000000e-01 : (tensor<2x6x5x4xf32>, tensor<2x3x7x4xf32>, tensor<2x3x7x8xf32>, tensor<6x7xf32>) -> tensor<2x6x5x8xf32>
  func.return
}

// -----

// AttentionOp C5: mask is larger.
// CHECK: error: 'gawee.attention' op expected mask (3x2x6x5x7) to broadcast to 2x6x5x7
func.func @attention_c5_mask_is_larger(%q: tensor<2x6x5x4xf32>, %k: tensor<2x3x7x4xf32>, %v: tensor<2x3x7x8xf32>, %m: tensor<3x2x6x5x7xf32>) {
  %y = gawee.attention %q, %k, %v mask %m scale 5.000000e-01 : (tensor<2x6x5x4xf32>, tensor<2x3x7x4xf32>, tensor<2x3x7x8xf32>, tensor<3x2x6x5x7xf32>) -> tensor<2x6x5x8xf32>
  func.return
}

// -----

// AttentionOp C6: mask of another element type.
// CHECK: error: 'gawee.attention' op expected mask element type 'f64' to match q element type 'f32'
func.func @attention_c6_mask_of_another_element_type(%q: tensor<2x6x5x4xf32>, %k: tensor<2x3x7x4xf32>, %v: tensor<2x3x7x8xf32>, %m: tensor<5x7xf64>) {
  %y = gawee.attention %q, %k, %v mask %m scale 5.000000e-01 : (tensor<2x6x5x4xf32>, tensor<2x3x7x4xf32>, tensor<2x3x7x8xf32>, tensor<5x7xf64>) -> tensor<2x6x5x8xf32>
  func.return
}
