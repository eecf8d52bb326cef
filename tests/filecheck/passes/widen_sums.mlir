// RUN: gawee-opt --widen-sums --split-input-file %s | filecheck %s
// RUN: gawee-opt --widen-sums=to-f64=false --split-input-file %s | filecheck %s --check-prefix=HALF

// CHECK-LABEL: func.func @a_long_sum_of_products_is_taken_in_f64
// CHECK:         %[[ZEROS:.*]] = linalg.fill ins(%{{.*}} : f64) outs(%{{.*}} : tensor<3x5xf64>)
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} ins(%a, %b : tensor<3x9001xf32>, tensor<9001x5xf32>) outs(%[[ZEROS]] : tensor<3x5xf64>)
// CHECK-NEXT:    ^bb{{[0-9]+}}(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[TOTAL:.*]]: f64):
// CHECK-NEXT:      %[[WIDE_A:.*]] = arith.extf %[[A]] : f32 to f64
// CHECK-NEXT:      %[[WIDE_B:.*]] = arith.extf %[[B]] : f32 to f64
// CHECK-NEXT:      %[[PRODUCT:.*]] = arith.mulf %[[WIDE_A]], %[[WIDE_B]] : f64
// CHECK-NEXT:      arith.addf %[[TOTAL]], %[[PRODUCT]] : f64
// CHECK:         linalg.generic {{.*}} ins(%[[SUM]] : tensor<3x5xf64>) outs(%{{.*}} : tensor<3x5xf32>)
// CHECK:           arith.truncf %{{.*}} : f64 to f32
// HALF-LABEL: func.func @a_long_sum_of_products_is_taken_in_f64
// HALF-NOT:     f64
func.func @a_long_sum_of_products_is_taken_in_f64(%a: tensor<3x9001xf32>, %b: tensor<9001x5xf32>) -> tensor<3x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x5xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %1 = linalg.matmul ins(%a, %b : tensor<3x9001xf32>, tensor<9001x5xf32>) outs(%0 : tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %1 : tensor<3x5xf32>
}

// -----

// The terms stay what they were.
// CHECK-LABEL: func.func @a_long_sum_onto_a_tensor_starts_from_it
// CHECK:         %[[INIT:.*]] = linalg.generic {{.*}} ins(%init : tensor<5xf32>) outs(%{{.*}} : tensor<5xf64>)
// CHECK:           arith.extf
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]{{.*}} ins(%x : tensor<5x8193xf32>) outs(%[[INIT]] : tensor<5xf64>)
// CHECK:           %[[TERM:.*]] = math.exp %{{.*}} : f32
// CHECK-NEXT:      %[[WIDE:.*]] = arith.extf %[[TERM]] : f32 to f64
// CHECK-NEXT:      arith.addf %{{.*}}, %[[WIDE]] : f64
func.func @a_long_sum_onto_a_tensor_starts_from_it(%x: tensor<5x8193xf32>, %init: tensor<5xf32>) -> tensor<5xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<5x8193xf32>) outs(%init : tensor<5xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %1 = math.exp %a : f32
    %2 = arith.addf %1, %sum : f32
    linalg.yield %2 : f32
  } -> tensor<5xf32>
  func.return %0 : tensor<5xf32>
}

// -----

// CHECK-LABEL: func.func @a_sum_of_8192_is_not_long
// CHECK-NOT:     f64
func.func @a_sum_of_8192_is_not_long(%a: tensor<3x8192xf32>, %b: tensor<8192x5xf32>, %init: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %1 = linalg.matmul ins(%a, %b : tensor<3x8192xf32>, tensor<8192x5xf32>) outs(%init : tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %1 : tensor<3x5xf32>
}

// -----

// CHECK-LABEL: func.func @a_sum_of_f16_is_taken_in_f32
// CHECK:         linalg.generic {{.*}} ins(%a, %b : tensor<3x7xf16>, tensor<7x5xf16>) outs(%{{.*}} : tensor<3x5xf32>)
// CHECK:           arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK:           arith.truncf %{{.*}} : f32 to f16
// HALF-LABEL: func.func @a_sum_of_f16_is_taken_in_f32
// HALF:           arith.mulf %{{.*}}, %{{.*}} : f32
func.func @a_sum_of_f16_is_taken_in_f32(%a: tensor<3x7xf16>, %b: tensor<7x5xf16>, %init: tensor<3x5xf16>) -> tensor<3x5xf16> {
  %1 = linalg.matmul ins(%a, %b : tensor<3x7xf16>, tensor<7x5xf16>) outs(%init : tensor<3x5xf16>) -> tensor<3x5xf16>
  func.return %1 : tensor<3x5xf16>
}

// -----

// CHECK-LABEL: func.func @a_long_sum_of_f16_is_taken_in_f64
// CHECK:         linalg.generic {{.*}} ins(%a, %b : tensor<3x9001xf16>, tensor<9001x5xf16>) outs(%{{.*}} : tensor<3x5xf64>)
// CHECK:           arith.truncf %{{.*}} : f64 to f16
// HALF-LABEL: func.func @a_long_sum_of_f16_is_taken_in_f64
// HALF:         linalg.generic {{.*}} ins(%a, %b : tensor<3x9001xf16>, tensor<9001x5xf16>) outs(%{{.*}} : tensor<3x5xf32>)
func.func @a_long_sum_of_f16_is_taken_in_f64(%a: tensor<3x9001xf16>, %b: tensor<9001x5xf16>, %init: tensor<3x5xf16>) -> tensor<3x5xf16> {
  %1 = linalg.matmul ins(%a, %b : tensor<3x9001xf16>, tensor<9001x5xf16>) outs(%init : tensor<3x5xf16>) -> tensor<3x5xf16>
  func.return %1 : tensor<3x5xf16>
}

// -----

// CHECK-LABEL: func.func @integers_doubles_and_maxima_stay
// CHECK-NOT:     arith.ext
// CHECK-NOT:     arith.trunc
func.func @integers_doubles_and_maxima_stay(%x: tensor<9001xi32>, %y: tensor<9001xf64>, %z: tensor<9001xf32>, %i: tensor<i32>, %d: tensor<f64>, %f: tensor<f32>) -> (tensor<i32>, tensor<f64>, tensor<f32>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<9001xi32>) outs(%i : tensor<i32>) {
  ^bb0(%a: i32, %sum: i32):
    %1 = arith.addi %a, %sum : i32
    linalg.yield %1 : i32
  } -> tensor<i32>
  %2 = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]} ins(%y : tensor<9001xf64>) outs(%d : tensor<f64>) {
  ^bb0(%a: f64, %sum: f64):
    %3 = arith.addf %a, %sum : f64
    linalg.yield %3 : f64
  } -> tensor<f64>
  %4 = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]} ins(%z : tensor<9001xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %most: f32):
    %5 = arith.maximumf %a, %most : f32
    linalg.yield %5 : f32
  } -> tensor<f32>
  func.return %0, %2, %4 : tensor<i32>, tensor<f64>, tensor<f32>
}

// -----

// What is added to may be open too.
// CHECK-LABEL: func.func @an_open_sum_may_begin_with_an_argument
// CHECK:         %[[N:.*]] = tensor.dim %r, %{{.*}} : tensor<?xf32>
// CHECK-NEXT:    %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?xf64>
// CHECK-NEXT:    %[[R:.*]] = linalg.generic {{.*}} ins(%r : tensor<?xf32>) outs(%[[E]] : tensor<?xf64>)
// CHECK:         linalg.generic {{.*}} ins(%x : tensor<?x9000xf32>) outs(%[[R]] : tensor<?xf64>)
func.func @an_open_sum_may_begin_with_an_argument(%x: tensor<?x9000xf32> {gawee.sizes = ["batch", "-"]}, %r: tensor<?xf32> {gawee.sizes = ["batch"]})
    -> (tensor<?xf32> {gawee.sizes = ["batch"]}) {
  %rows = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x9000xf32>) outs(%r : tensor<?xf32>) {
  ^bb0(%e: f32, %s: f32):
    %0 = arith.addf %s, %e : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  func.return %rows : tensor<?xf32>
}

// -----

// A sum over a size that is open is as long as the names that it has: 512, and 32 times as many.
// CHECK-LABEL: func.func @an_open_sum_is_as_long_as_its_names_say
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%{{.*}} : tensor<?xf32>)
// CHECK:         linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%{{.*}} : tensor<?xf32>) outs(%{{.*}} : tensor<f64>)
func.func @an_open_sum_is_as_long_as_its_names_say(%x: tensor<?x?xf32> {gawee.sizes = ["batch", "length"]}, %r: tensor<?xf32> {gawee.sizes = ["batch"]}, %t: tensor<f32>)
    -> (tensor<?xf32> {gawee.sizes = ["batch"]}, tensor<f32>) attributes {gawee.ranges = {batch = "1 to 32", length = "1 to 512"}} {
  %rows = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%r : tensor<?xf32>) {
  ^bb0(%e: f32, %s: f32):
    %0 = arith.addf %s, %e : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  %all = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %total = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]} ins(%all : tensor<?xf32>) outs(%t : tensor<f32>) {
  ^bb0(%e: f32, %s: f32):
    %0 = arith.addf %s, %e : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  func.return %rows, %total : tensor<?xf32>, tensor<f32>
}

// -----

// The wider accumulator is as large as the one before, of whatever names its size is.
// CHECK-LABEL: func.func @a_wide_accumulator_of_open_size
// CHECK:         %[[SIZE:.*]] = tensor.dim %{{.*}}, %{{.*}} : tensor<?xf32>
// CHECK:         tensor.empty(%[[SIZE]]) : tensor<?xf64>
// CHECK:         linalg.generic {{.*}} ins(%x : tensor<?x?xf32>) outs(%{{.*}} : tensor<?xf64>)
func.func @a_wide_accumulator_of_open_size(%x: tensor<?x?xf32> {gawee.sizes = ["batch", "length"]}) -> (tensor<?xf32> {gawee.sizes = ["length"]}) {
  %zero = arith.constant 0.000000e+00 : f32
  %c1 = arith.constant 1 : index
  %length = tensor.dim {gawee.size = "length"} %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%length) : tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, k) -> (k, i)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%z : tensor<?xf32>) {
  ^bb0(%a: f32, %s: f32):
    %1 = arith.addf %s, %a : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @a_size_of_no_axis_is_unknown
// CHECK:         tensor.dim %x, %c
func.func @a_size_of_no_axis_is_unknown(%x: tensor<?x3xf32> {gawee.sizes = ["batch", "-"]}) -> tensor<?x3xf32> {
  %c = arith.constant 64 : index
  %n = tensor.dim %x, %c : tensor<?x3xf32>
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %y = linalg.exp ins(%x : tensor<?x3xf32>) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  func.return %y : tensor<?x3xf32>
}
