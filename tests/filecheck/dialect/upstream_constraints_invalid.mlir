// RUN: not gawee-opt %s 2>&1 | filecheck %s

// What upstream asks of its ops and xDSL does not. All problems of a file are told at once.

func.func @slices(%x: tensor<5x3xf32>, %y: tensor<4x2xf32>, %z: tensor<3xf32>, %m: memref<5x3xf32>, %n: index) {
  // CHECK: upstream_constraints_invalid.mlir:7:3: error: 'tensor.extract_slice' op expected offset 2, size 4 and stride 1 to stay in axis 0 of size 5
  %0 = tensor.extract_slice %x[2, 0] [4, 3] [1, 1] : tensor<5x3xf32> to tensor<4x3xf32>
  // CHECK: error: 'tensor.insert_slice' op expected offset 1, size 2 and stride 2 to stay in axis 1 of size 3
  %1 = tensor.insert_slice %y into %x[0, 1] [4, 2] [1, 2] : tensor<4x2xf32> into tensor<5x3xf32>
  // CHECK: error: 'tensor.extract_slice' op expected a slice of sizes 2x3, got 3
  %2 = tensor.extract_slice %x[2, 0] [2, 3] [1, 1] : tensor<5x3xf32> to tensor<3xf32>
  // CHECK: error: 'tensor.insert_slice' op expected a slice of sizes ?x3, got 3
  %3 = tensor.insert_slice %z into %x[0, 0] [%n, 3] [1, 1] : tensor<3xf32> into tensor<5x3xf32>
  // CHECK: error: 'memref.subview' op expected a slice of sizes 1x2, got 3
  %4 = "memref.subview"(%m) <{static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, 2>, static_strides = array<i64: 1, 1>, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (memref<5x3xf32>) -> memref<3xf32, strided<[1]>>
  func.return
}

func.func @other_layouts(%m: memref<15xf32>) {
  // CHECK: error: 'memref.reinterpret_cast' op expected 2 strides, got 1
  %0 = "memref.reinterpret_cast"(%m) <{static_offsets = array<i64: 0>, static_sizes = array<i64: 5, 3>, static_strides = array<i64: 3>, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (memref<15xf32>) -> memref<5x3xf32, strided<[3, 1]>>
  func.return
}

func.func @axes_are_joined_in_groups(%x: tensor<2x3x5xf32>, %y: tensor<6x5xf32>) {
  // CHECK: error: 'tensor.collapse_shape' op expected 2 groups of the axes 0 to 2 in order, got {{\[\[}}0, 1], [2, 3]]
  %0 = tensor.collapse_shape %x [[0, 1], [2, 3]] : tensor<2x3x5xf32> into tensor<6x5xf32>
  // CHECK: error: 'tensor.collapse_shape' op expected size 6 of axis 0, the product of [2, 3], got 7
  %1 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x3x5xf32> into tensor<7x5xf32>
  // CHECK: error: 'tensor.expand_shape' op expected 2 groups of the axes 0 to 2 in order, got {{\[\[}}1, 2], [3]]
  %2 = tensor.expand_shape %y [[1, 2], [3]] output_shape [2, 3, 5] : tensor<6x5xf32> into tensor<2x3x5xf32>
  func.return
}

func.func @a_scalar_is_one_element(%x: tensor<1x7xf32>) {
  // CHECK: error: 'tensor.collapse_shape' op expected size 7 of axis 0, the product of [1, 7], got 1
  %0 = tensor.collapse_shape %x [] : tensor<1x7xf32> into tensor<f32>
  func.return
}

func.func @regions_yield_what_the_op_gives(%c: i1, %x: tensor<3xf32>, %y: tensor<2xf32>, %n: index) {
  // CHECK: error: 'scf.if' op expected yields of (tensor<3xf32>), got (tensor<2xf32>)
  %0 = scf.if %c -> (tensor<3xf32>) {
    scf.yield %x : tensor<3xf32>
  } else {
    scf.yield %y : tensor<2xf32>
  }
  // CHECK: error: 'scf.if' op expected yields of (tensor<3xf32>), got ()
  %1 = scf.if %c -> (tensor<3xf32>) {
    %e = tensor.empty() : tensor<3xf32>
  } else {
    scf.yield %x : tensor<3xf32>
  }
  // CHECK: error: 'scf.while' op expected values of 'scf.condition' of (tensor<3xf32>), got (tensor<2xf32>)
  %2 = scf.while (%a = %x) : (tensor<3xf32>) -> tensor<3xf32> {
    scf.condition(%c) %y : tensor<2xf32>
  } do {
  ^bb0(%b: tensor<3xf32>):
    scf.yield %b : tensor<3xf32>
  }
  // CHECK: error: 'scf.while' op expected yields of (tensor<3xf32>), got (tensor<2xf32>)
  %3 = scf.while (%a = %x) : (tensor<3xf32>) -> tensor<3xf32> {
    scf.condition(%c) %x : tensor<3xf32>
  } do {
  ^bb0(%b: tensor<3xf32>):
    scf.yield %y : tensor<2xf32>
  }
  // CHECK: error: 'scf.for' op expected results of (tensor<2xf32>), got (tensor<3xf32>)
  %4 = "scf.for"(%n, %n, %n, %y) ({
  ^bb0(%i: index, %a: tensor<2xf32>):
    scf.yield %a : tensor<2xf32>
  }) : (index, index, index, tensor<2xf32>) -> tensor<3xf32>
  func.return
}

func.func @branches_pass_what_blocks_take(%x: f32, %n: index, %c: i1) {
  // CHECK: error: 'cf.cond_br' op expected values of a branch of (index), got (f32)
  "cf.cond_br"(%c, %x)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i1, f32) -> ()
^bb1(%i: index):
  // CHECK: error: 'cf.br' op expected values of a branch of (), got (index)
  "cf.br"(%i)[^bb2] : (index) -> ()
^bb2:
  func.return
}

func.func @structured_ops_give_what_they_write(%x: tensor<5xf32>, %y: tensor<7xf32>, %v: f32) {
  // CHECK: error: 'linalg.fill' op expected results of (tensor<5xf32>), got (tensor<7xf32>)
  %0 = "linalg.fill"(%v, %x) <{operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }) : (f32, tensor<5xf32>) -> tensor<7xf32>
  // CHECK: error: 'linalg.generic' op expected yields of (f32), got (index)
  %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<5xf32>) outs(%x : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32):
    %i = linalg.index 0 : index
    linalg.yield %i : index
  } -> tensor<5xf32>
  func.return
}

func.func @casts_keep_the_shape(%x: vector<4xf16>) {
  // CHECK: error: 'arith.extf' op expected one shape, got 'vector<4xf16>' and 'vector<3xf32>'
  %0 = "arith.extf"(%x) : (vector<4xf16>) -> vector<3xf32>
  func.return
}

func.func @padding_is_an_element(%x: tensor<5xf32>, %v: f64) {
  // CHECK: error: 'tensor.pad' op expected yields of (f32), got (f64)
  %0 = tensor.pad %x low[0] high[1] {
  ^bb0(%i: index):
    tensor.yield %v : f64
  } : tensor<5xf32> to tensor<6xf32>
  func.return
}

"memref.global"() <{sym_name = "table", sym_visibility = "private", type = memref<3xf32>, initial_value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>}> : () -> ()
func.func @a_global_has_its_type(%m: memref<5x3xf32>) {
  // CHECK: error: 'memref.get_global' op expected results of (memref<3xf32>), got (memref<4xf32>)
  %0 = memref.get_global @table : memref<4xf32>
  // CHECK: error: 'memref.get_global' op expected a global '@no_table'
  %1 = memref.get_global @no_table : memref<3xf32>
  func.return
}

// CHECK: error: 'func.func' op expected attributes of 2 arguments, got 1
"func.func"() <{sym_name = "attributes", function_type = (f32, f32) -> (), arg_attrs = [{}]}> ({
^bb0(%a: f32, %b: f32):
  func.return
}) : () -> ()

func.func @what_is_inside_passes(%x: tensor<5x3xf32>, %n: tensor<?x3xf32>, %i: index) {
  // CHECK-NOT: error
  %0 = tensor.extract_slice %x[3, 0] [2, 3] [1, 1] : tensor<5x3xf32> to tensor<2x3xf32>
  %1 = tensor.extract_slice %n[9, 0] [2, 3] [1, 1] : tensor<?x3xf32> to tensor<2x3xf32>
  %2 = tensor.extract_slice %x[%i, 0] [2, 3] [1, 1] : tensor<5x3xf32> to tensor<2x3xf32>
  %3 = tensor.extract_slice %x[3, 1] [1, 1] [1, 1] : tensor<5x3xf32> to tensor<1x1xf32>
  %4 = tensor.collapse_shape %3 [] : tensor<1x1xf32> into tensor<f32>
  func.return
}
