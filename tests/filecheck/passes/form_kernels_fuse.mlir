// RUN: gawee-opt --form-kernels --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @elementwise_ops_fuse_behind_a_product
// CHECK-NEXT:    %[[Y:.*]] = gawee.kernel parallel [4, 5] reduce [7] ins(%a, %b, %r :
// CHECK-SAME:      (d0, d1, d2) -> (d1, d0)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
// CHECK:         } finish {
// CHECK:           arith.addf
// CHECK:           arith.maximumf
// CHECK:         } : tensor<4x5xf32>
// CHECK-NEXT:    func.return %[[Y]]
func.func @elementwise_ops_fuse_behind_a_product(%a: tensor<4x7xf32>, %b: tensor<7x5xf32>, %r: tensor<5x4xf32>) -> tensor<4x5xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5xf32>
  %i = linalg.fill ins(%c : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %p = linalg.matmul ins(%a, %b : tensor<4x7xf32>, tensor<7x5xf32>) outs(%i : tensor<4x5xf32>) -> tensor<4x5xf32>
  %t = tensor.empty() : tensor<4x5xf32>
  %rt = linalg.transpose ins(%r : tensor<5x4xf32>) outs(%t : tensor<4x5xf32>) permutation = [1, 0]
  %s = linalg.add ins(%p, %rt : tensor<4x5xf32>, tensor<4x5xf32>) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<4x5xf32>) outs(%e : tensor<4x5xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.maximumf %v, %c : f32
    linalg.yield %m : f32
  } -> tensor<4x5xf32>
  func.return %y : tensor<4x5xf32>
}

// -----

// The scale is computed once, when parameters are loaded.
// CHECK-LABEL: func.func @what_parameters_decide_stays_apart
// CHECK-NEXT:    %[[S:.*]] = gawee.kernel parallel [3] ins(%w, %w :
// CHECK:         gawee.kernel parallel [3] ins(%x, %[[S]] :
func.func @what_parameters_decide_stays_apart(%x: tensor<3xf32>, %w: tensor<3xf32> {gawee.parameter = "w"}) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %s = linalg.add ins(%w, %w : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %y = linalg.add ins(%x, %s : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// -----

// CHECK-LABEL: func.func @what_two_read_is_computed_once
// CHECK:         %[[S:.*]] = gawee.kernel parallel [3]
// CHECK:         %[[Y:.*]] = gawee.kernel parallel [3] ins(%[[S]] :
// CHECK:         func.return %[[S]], %[[Y]]
func.func @what_two_read_is_computed_once(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %e = tensor.empty() : tensor<3xf32>
  %s = linalg.exp ins(%x : tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %y = linalg.exp ins(%s : tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  func.return %s, %y : tensor<3xf32>, tensor<3xf32>
}

// -----

// exp is inlined into the sum, since it is read once; not into the product, which reads it often.
// CHECK-LABEL: func.func @what_a_reduction_reads_once_is_inlined
// CHECK:         gawee.kernel parallel [3] reduce [5] ins(%x :
// CHECK:           math.exp
// CHECK:         gawee.kernel parallel [3, 5] ins(%x :
// CHECK:           math.exp
// CHECK:         gawee.kernel parallel [3, 4] reduce [5]
func.func @what_a_reduction_reads_once_is_inlined(%x: tensor<3x5xf32>, %w: tensor<5x4xf32>) -> (tensor<3xf32>, tensor<3x4xf32>) {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x5xf32>
  %s = linalg.exp ins(%x : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %f = tensor.empty() : tensor<3xf32>
  %i = linalg.fill ins(%c : f32) outs(%f : tensor<3xf32>) -> tensor<3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%s : tensor<3x5xf32>) outs(%i : tensor<3xf32>) {
  ^bb0(%v: f32, %sum: f32):
    %q = arith.addf %v, %sum : f32
    linalg.yield %q : f32
  } -> tensor<3xf32>
  %t = linalg.exp ins(%x : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %g = tensor.empty() : tensor<3x4xf32>
  %h = linalg.fill ins(%c : f32) outs(%g : tensor<3x4xf32>) -> tensor<3x4xf32>
  %z = linalg.matmul ins(%t, %w : tensor<3x5xf32>, tensor<5x4xf32>) outs(%h : tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y, %z : tensor<3xf32>, tensor<3x4xf32>
}

// -----

// CHECK-LABEL: func.func @a_kernel_writes_into_the_padding_and_others_read_inside_of_it
// CHECK-NEXT:    %[[P:.*]] = gawee.kernel parallel [3, 5] ins(%x :
// CHECK-SAME:      ((d0 + 1), (d1 + 2))>] outside 1.000000e+00 : f32
// CHECK:         } : tensor<5x8xf32>
// CHECK:         %[[Z:.*]] = gawee.kernel parallel [3, 5] ins(%[[P]] :
// CHECK-SAME:      affine_map<(d0, d1) -> ((d0 + 1), (d1 + 2))>, affine_map<(d0, d1) -> (d0, d1)>]
// CHECK:         func.return %[[P]], %[[Z]]
func.func @a_kernel_writes_into_the_padding_and_others_read_inside_of_it(%x: tensor<3x5xf32>) -> (tensor<5x8xf32>, tensor<3x5xf32>) {
  %c = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<3x5xf32>
  %s = linalg.exp ins(%x : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %p = tensor.pad %s low[1, 2] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<3x5xf32> to tensor<5x8xf32>
  %z = linalg.exp ins(%s : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %p, %z : tensor<5x8xf32>, tensor<3x5xf32>
}

// -----

// What a product reads of them is half as many bytes.
// CHECK-LABEL: func.func @a_product_reads_weights_as_they_are_stored
// CHECK-NEXT:    gawee.kernel parallel [4, 5] reduce [7] ins(%x, %w : tensor<4x7xf32>, tensor<7x5xbf16>)
// CHECK:         ^bb0(%[[X:.*]]: f32, %[[W:.*]]: bf16, %[[SUM:.*]]: f32):
// CHECK-NEXT:      %[[WIDE:.*]] = arith.extf %[[W]] : bf16 to f32
// CHECK-NEXT:      arith.mulf %[[X]], %[[WIDE]] : f32
func.func @a_product_reads_weights_as_they_are_stored(%x: tensor<4x7xf32>, %w: tensor<7x5xbf16> {gawee.parameter = "w"}) -> tensor<4x5xf32> {
  %c = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<7x5xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<7x5xbf16>) outs(%f : tensor<7x5xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %m = arith.extf %a : bf16 to f32
    linalg.yield %m : f32
  } -> tensor<7x5xf32>
  %e = tensor.empty() : tensor<4x5xf32>
  %i = linalg.fill ins(%c : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %y = linalg.matmul ins(%x, %v : tensor<4x7xf32>, tensor<7x5xf32>) outs(%i : tensor<4x5xf32>) -> tensor<4x5xf32>
  func.return %y : tensor<4x5xf32>
}

// -----

// Each of two readers makes as many bytes as it reads, and both together twice as many.
// CHECK-LABEL: func.func @a_product_reads_the_bits_of_words
// CHECK-NEXT:    gawee.kernel parallel [4, 5] reduce [7] ins(%x, %z, %w : tensor<4x7xf32>, tensor<4x7xf32>, tensor<5x7xi32>)
// CHECK:         ^bb0(%{{.*}}: f32, %{{.*}}: f32, %[[W:.*]]: i32, %[[SUM:.*]]: f32):
// CHECK:           arith.andi %[[W]], %
// CHECK:           arith.andi %[[W]], %
// CHECK:           arith.addf %[[SUM]]
func.func @a_product_reads_the_bits_of_words(%x: tensor<4x7xf32>, %z: tensor<4x7xf32>, %w: tensor<5x7xi32> {gawee.parameter = "w"}) -> tensor<4x5xf32> {
  %c = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<5x7xf32>
  %low = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<5x7xi32>) outs(%f : tensor<5x7xf32>) {
  ^bb0(%a: i32, %o: f32):
    %mask = arith.constant 15 : i32
    %b = arith.andi %a, %mask : i32
    %m = arith.sitofp %b : i32 to f32
    linalg.yield %m : f32
  } -> tensor<5x7xf32>
  %high = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<5x7xi32>) outs(%f : tensor<5x7xf32>) {
  ^bb0(%a: i32, %o: f32):
    %mask = arith.constant 240 : i32
    %b = arith.andi %a, %mask : i32
    %m = arith.sitofp %b : i32 to f32
    linalg.yield %m : f32
  } -> tensor<5x7xf32>
  %e = tensor.empty() : tensor<4x5xf32>
  %i = linalg.fill ins(%c : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %low, %z, %high : tensor<4x7xf32>, tensor<5x7xf32>, tensor<4x7xf32>, tensor<5x7xf32>) outs(%i : tensor<4x5xf32>) {
  ^bb0(%a: f32, %b: f32, %c2: f32, %d: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.mulf %c2, %d : f32
    %r = arith.addf %p, %q : f32
    %one = arith.constant 0.5 : f32
    %t = arith.mulf %r, %one : f32
    %n = arith.addf %o, %t : f32
    linalg.yield %n : f32
  } -> tensor<4x5xf32>
  func.return %y : tensor<4x5xf32>
}

// -----

// CHECK-LABEL: func.func @a_product_reads_blocks_of_bytes_and_their_scales
// CHECK-NEXT:    gawee.kernel parallel [4, 5] reduce [2, 32] ins(%x, %q, %s : tensor<4x2x32xf32>, tensor<5x2x32xi8>, tensor<5x2xf16>)
// CHECK:         ^bb0(%[[X:.*]]: f32, %[[Q:.*]]: i8, %[[S:.*]]: f16, %[[SUM:.*]]: f32):
// CHECK-DAG:       %[[WIDE:.*]] = arith.sitofp %[[Q]] : i8 to f32
// CHECK-DAG:       %[[SCALE:.*]] = arith.extf %[[S]] : f16 to f32
// CHECK:           arith.mulf %[[WIDE]], %[[SCALE]] : f32
func.func @a_product_reads_blocks_of_bytes_and_their_scales(%x: tensor<4x2x32xf32>, %q: tensor<5x2x32xi8> {gawee.parameter = "q"}, %s: tensor<5x2xf16> {gawee.parameter = "s"}) -> tensor<4x5xf32> {
  %c = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<5x2x32xf32>
  %g = tensor.empty() : tensor<5x2xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<5x2xf16>) outs(%g : tensor<5x2xf32>) {
  ^bb0(%a: f16, %o: f32):
    %m = arith.extf %a : f16 to f32
    linalg.yield %m : f32
  } -> tensor<5x2xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%q, %t : tensor<5x2x32xi8>, tensor<5x2xf32>) outs(%f : tensor<5x2x32xf32>) {
  ^bb0(%a: i8, %b: f32, %o: f32):
    %w = arith.sitofp %a : i8 to f32
    %m = arith.mulf %w, %b : f32
    linalg.yield %m : f32
  } -> tensor<5x2x32xf32>
  %e = tensor.empty() : tensor<4x5xf32>
  %i = linalg.fill ins(%c : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, k, l)>, affine_map<(i, j, k, l) -> (j, k, l)>, affine_map<(i, j, k, l) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %v : tensor<4x2x32xf32>, tensor<5x2x32xf32>) outs(%i : tensor<4x5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %n = arith.addf %o, %p : f32
    linalg.yield %n : f32
  } -> tensor<4x5xf32>
  func.return %y : tensor<4x5xf32>
}
