// RUN: gawee-opt %s --bufferize --split-input-file | filecheck %s
// RUN: gawee-opt %s --bufferize --split-input-file | gawee-opt --split-input-file | filecheck %s

// Each argument of open sizes is viewed once, in sizes that are computed of the names.
// CHECK-LABEL: func.func @a_name_is_an_argument
// CHECK-SAME:    (%x: memref<?x3xf32> {gawee.input = "x", gawee.sizes = ["2 * n + 1", "-"]},
// CHECK-SAME:     [[OUT:%[a-z0-9]+]]: memref<?x3xf32> {gawee.output = "y", gawee.sizes = ["2 * n + 1", "-"]},
// CHECK-SAME:     %n: index {gawee.size = "n"})
// CHECK-SAME:    attributes {gawee.ranges = {n = "1 to 9"}}
// CHECK:         [[TWICE:%[0-9]+]] = arith.muli %n, %{{.*}} : index
// CHECK:         [[ROWS:%[0-9]+]] = arith.addi [[TWICE]], %{{.*}} : index
// CHECK:         memref.reinterpret_cast %x to offset: [0], sizes: {{\[}}[[ROWS]], 3], strides: [3, 1] : memref<?x3xf32> to memref<?x3xf32>
// CHECK-NOT:     divui
// CHECK:         memref.alloc(%n) : memref<?xf32>
func.func @a_name_is_an_argument(%x: tensor<?x3xf32> {gawee.input = "x", gawee.sizes = ["2 * n + 1", "-"]}) -> (tensor<?x3xf32> {gawee.output = "y", gawee.sizes = ["2 * n + 1", "-"]}) attributes {gawee.ranges = {n = "1 to 9"}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %size = tensor.dim %x, %c0 : tensor<?x3xf32>
  %twice = arith.subi %size, %c1 : index
  %n = arith.divui %twice, %c2 {gawee.size = "n"} : index
  %v = arith.constant 1.5 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %a = linalg.fill ins(%v : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %b = linalg.exp ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  func.return %x : tensor<?x3xf32>
}

// -----

// A reshape says the sizes of what it makes.
// CHECK-LABEL: func.func @a_reshape_of_open_sizes
// CHECK:         [[ROWS:%[0-9]+]] = arith.muli %batch, %length : index
// CHECK:         %rows = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: {{\[}}[[ROWS]], 7], strides: [7, 1] : memref<?x?x7xf32> to memref<?x7xf32>
// CHECK:         %y_2 = memref.alloc(%{{.*}}) : memref<?x7xf32>
// CHECK:         linalg.exp ins(%rows : memref<?x7xf32>) outs(%y_2 : memref<?x7xf32>)
// CHECK:         memref.reinterpret_cast %y_2 to offset: [0], sizes: [%batch, %length, 7], strides: [%{{.*}}, 7, 1] : memref<?x7xf32> to memref<?x?x7xf32>
func.func @a_reshape_of_open_sizes(%x: tensor<?x?x7xf32> {gawee.input = "x", gawee.sizes = ["batch", "length", "-"]}) -> (tensor<?x?x7xf32> {gawee.output = "y", gawee.sizes = ["batch", "length", "-"]}) {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim {gawee.size = "batch"} %x, %c0 : tensor<?x?x7xf32>
  %c1 = arith.constant 1 : index
  %length = tensor.dim {gawee.size = "length"} %x, %c1 : tensor<?x?x7xf32>
  %rows = tensor.collapse_shape %x [[0 : i64, 1 : i64], [2 : i64]] : tensor<?x?x7xf32> into tensor<?x7xf32>
  %n = arith.muli %batch, %length : index
  %e = tensor.empty(%n) : tensor<?x7xf32>
  %y = linalg.exp ins(%rows : tensor<?x7xf32>) outs(%e : tensor<?x7xf32>) -> tensor<?x7xf32>
  %z = tensor.expand_shape %y [[0 : i64, 1 : i64], [2 : i64]] output_shape [%batch, %length, 7] : tensor<?x7xf32> into tensor<?x?x7xf32>
  func.return %z : tensor<?x?x7xf32>
}
