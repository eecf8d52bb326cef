// RUN: gawee-opt %s --lower-to-linalg --split-input-file | filecheck %s
// RUN: gawee-opt %s --lower-to-linalg --split-input-file | gawee-opt --split-input-file | filecheck %s

// CHECK-LABEL: func.func @products_of_any_number_of_rows
// CHECK-SAME:    {gawee.sizes = ["batch", "length", "-"]}, %w: tensor<5x6xf32>) -> (tensor<?x?x5xf32> {gawee.sizes = ["batch", "length", "-"]})
// CHECK:         %length = tensor.dim {gawee.size = "length"} %x, %{{.*}} : tensor<?x?x6xf32>
// CHECK:         %batch = tensor.dim {gawee.size = "batch"} %x, %{{.*}} : tensor<?x?x6xf32>
// CHECK:         tensor.collapse_shape %x {{\[\[0 : i64, 1 : i64\], \[2 : i64\]\]}} : tensor<?x?x6xf32> into tensor<?x6xf32>
// CHECK:         [[ROWS:%[0-9]+]] = arith.muli %batch, %length : index
// CHECK:         tensor.empty([[ROWS]]) : tensor<?x5xf32>
// CHECK:         linalg.matmul
// CHECK:         tensor.expand_shape {{.*}} output_shape [%batch, %length, 5] : tensor<?x5xf32> into tensor<?x?x5xf32>
func.func @products_of_any_number_of_rows(%x: tensor<?x?x6xf32> {gawee.sizes = ["batch", "length", "-"]}, %w: tensor<5x6xf32>) -> tensor<?x?x5xf32> {
  %0 = gawee.matmul %x, %w : (tensor<?x?x6xf32>, tensor<5x6xf32>) -> tensor<?x?x5xf32>
  func.return %0 : tensor<?x?x5xf32>
}

// -----

// A mean divides by what the run counts.
// CHECK-LABEL: func.func @a_mean_over_an_open_axis
// CHECK:         linalg.generic
// CHECK:         [[WHOLE:%[0-9]+]] = arith.index_cast %length : index to i64
// CHECK:         [[COUNT:%[0-9]+]] = arith.sitofp [[WHOLE]] : i64 to f32
// CHECK:         arith.divf %{{.*}}, [[COUNT]] : f32
func.func @a_mean_over_an_open_axis(%x: tensor<3x?xf32> {gawee.sizes = ["-", "length"]}) -> tensor<3xf32> {
  %0 = gawee.reduce_mean %x axes [1] : (tensor<3x?xf32>) -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}

// -----

// Where a part goes is computed of names.
// CHECK-LABEL: func.func @parts_of_open_sizes
// CHECK:         tensor.insert_slice %past into %{{.*}}[0, 0] [3, %past_1] [1, 1] : tensor<3x?xf32> into tensor<3x?xf32>
// CHECK:         tensor.insert_slice %x into %{{.*}}[0, %past_1] [3, 2] [1, 1] : tensor<3x2xf32> into tensor<3x?xf32>
// CHECK:         tensor.extract_slice %{{.*}}[0, 2] [3, %past_1] [1, 1] : tensor<3x?xf32> to tensor<3x?xf32>
func.func @parts_of_open_sizes(%past: tensor<3x?xf32> {gawee.sizes = ["-", "past"]}, %x: tensor<3x2xf32>) -> tensor<3x?xf32> {
  %0 = gawee.cat %past, %x dim 1 : (tensor<3x?xf32>, tensor<3x2xf32>) -> tensor<3x?xf32>
  %1 = gawee.slice %0 offsets [0, 2] sizes [3, "past"] strides [1, 1] : (tensor<3x?xf32>) -> tensor<3x?xf32>
  func.return %1 : tensor<3x?xf32>
}

// -----

// The number of an argument's elements says the name, if it is a multiple of it and a number more.
// CHECK-LABEL: func.func @a_name_that_a_sum_says
// CHECK:         [[SIZE:%[0-9]+]] = tensor.dim %x
// CHECK:         [[REST:%[0-9]+]] = arith.subi [[SIZE]], %{{.*}} : index
// CHECK:         %n = arith.divui [[REST]], %{{.*}} {gawee.size = "n"} : index
func.func @a_name_that_a_sum_says(%x: tensor<?xf32> {gawee.sizes = ["2 * n + 1"]}) -> tensor<?xf32> {
  %0 = gawee.slice %x offsets [0] sizes ["n"] strides [1] : (tensor<?xf32>) -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}

// -----

// What a branch makes has the sizes that both ways of it have; an attribute keeps them.
// CHECK-LABEL: func.func @a_branch_of_open_sizes
// CHECK:         %y, %m = scf.if %taken -> (tensor<?x8xf32>, tensor<i64>) {
// CHECK:         } else {
// CHECK:         }{gawee.sizes = {{\[\["batch", "-"\], \[\]\]}}}
func.func @a_branch_of_open_sizes(%x: tensor<?x8xf32> {gawee.sizes = ["batch", "-"]}, %n: tensor<i64>, %taken: i1) -> (tensor<?x8xf32>, tensor<i64>) {
  %y, %m = scf.if %taken -> (tensor<?x8xf32>, tensor<i64>) {
    %0 = gawee.relu %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
    scf.yield %0, %n : tensor<?x8xf32>, tensor<i64>
  } else {
    scf.yield %x, %n : tensor<?x8xf32>, tensor<i64>
  }
  func.return %y, %m : tensor<?x8xf32>, tensor<i64>
}

// -----

// CHECK-LABEL: func.func @a_loop_of_open_sizes
// CHECK:         %y = scf.while (%v = %x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK:         {gawee.sizes = {{\[\["batch", "-"\]\]}}}
func.func @a_loop_of_open_sizes(%x: tensor<?x8xf32> {gawee.sizes = ["batch", "-"]}, %go: i1) -> tensor<?x8xf32> {
  %y = scf.while (%v = %x) : (tensor<?x8xf32>) -> (tensor<?x8xf32>) {
    scf.condition(%go) %v : tensor<?x8xf32>
  } do {
  ^bb0(%v: tensor<?x8xf32>):
    %0 = gawee.relu %v : (tensor<?x8xf32>) -> tensor<?x8xf32>
    scf.yield %0 : tensor<?x8xf32>
  }
  func.return %y : tensor<?x8xf32>
}
