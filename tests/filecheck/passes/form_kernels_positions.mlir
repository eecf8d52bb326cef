// RUN: gawee-opt %s --split-input-file -p form-kernels | filecheck %s

// Positions are computed where elements are read there.

// CHECK-LABEL: func.func @computed_where_elements_are_read
// CHECK-NOT:   gawee.kernel
// CHECK:       linalg.generic {{.*}} ins(%i, %j : tensor<3x5xi32>, tensor<3x5xi32>)
// CHECK-NEXT:  ^bb0(%{{.*}}: i32, %{{.*}}: i32, %{{.*}}: f32):
// CHECK-NEXT:    [[P:%.*]] = arith.addi
// CHECK-NEXT:    [[ROW:%.*]] = linalg.index 0
// CHECK-NEXT:    [[C:%.*]] = arith.index_cast [[P]] : i32 to index
// CHECK-NEXT:    tensor.extract %x{{\[}}[[ROW]], [[C]]]
func.func @computed_where_elements_are_read(%x: tensor<3x7xf32>, %i: tensor<3x5xi32>, %j: tensor<3x5xi32>) -> tensor<3x5xf32> {
  %e = tensor.empty() : tensor<3x5xi32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%i, %j : tensor<3x5xi32>, tensor<3x5xi32>) outs(%e : tensor<3x5xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %s = arith.addi %a, %b : i32
    linalg.yield %s : i32
  } -> tensor<3x5xi32>
  %f = tensor.empty() : tensor<3x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<3x5xi32>) outs(%f : tensor<3x5xf32>) {
  ^bb0(%a: i32, %o: f32):
    %row = linalg.index 0 : index
    %c = arith.index_cast %a : i32 to index
    %v = tensor.extract %x[%row, %c] : tensor<3x7xf32>
    linalg.yield %v : f32
  } -> tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}

// -----

// Each would be computed once for every row.

// CHECK-LABEL: func.func @read_again_for_each_row
// CHECK:       [[P:%.*]] = gawee.kernel
// CHECK:       linalg.generic {{.*}} ins([[P]] : tensor<5xi32>)
func.func @read_again_for_each_row(%x: tensor<3x7xf32>, %i: tensor<5xi32>) -> tensor<3x5xf32> {
  %e = tensor.empty() : tensor<5xi32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%i : tensor<5xi32>) outs(%e : tensor<5xi32>) {
  ^bb0(%a: i32, %o: i32):
    %s = arith.addi %a, %a : i32
    linalg.yield %s : i32
  } -> tensor<5xi32>
  %f = tensor.empty() : tensor<3x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<5xi32>) outs(%f : tensor<3x5xf32>) {
  ^bb0(%a: i32, %o: f32):
    %row = linalg.index 0 : index
    %c = arith.index_cast %a : i32 to index
    %v = tensor.extract %x[%row, %c] : tensor<3x7xf32>
    linalg.yield %v : f32
  } -> tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}

// -----

// CHECK-LABEL: func.func @returned_as_well
// CHECK:       [[P:%.*]] = gawee.kernel
// CHECK:       linalg.generic {{.*}} ins([[P]] : tensor<5xi32>)
func.func @returned_as_well(%x: tensor<7xf32>, %i: tensor<5xi32>) -> (tensor<5xf32>, tensor<5xi32>) {
  %e = tensor.empty() : tensor<5xi32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%i : tensor<5xi32>) outs(%e : tensor<5xi32>) {
  ^bb0(%a: i32, %o: i32):
    %s = arith.addi %a, %a : i32
    linalg.yield %s : i32
  } -> tensor<5xi32>
  %f = tensor.empty() : tensor<5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%p : tensor<5xi32>) outs(%f : tensor<5xf32>) {
  ^bb0(%a: i32, %o: f32):
    %c = arith.index_cast %a : i32 to index
    %v = tensor.extract %x[%c] : tensor<7xf32>
    linalg.yield %v : f32
  } -> tensor<5xf32>
  func.return %y, %p : tensor<5xf32>, tensor<5xi32>
}

// -----

// What is no arithmetic on integers is computed on vectors before.

// CHECK-LABEL: func.func @made_of_floats
// CHECK:       [[P:%.*]] = gawee.kernel
// CHECK:       linalg.generic {{.*}} ins([[P]] : tensor<5xi32>)
func.func @made_of_floats(%x: tensor<7xf32>, %i: tensor<5xf32>) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xi32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%i : tensor<5xf32>) outs(%e : tensor<5xi32>) {
  ^bb0(%a: f32, %o: i32):
    %r = math.floor %a : f32
    %s = arith.fptosi %r : f32 to i32
    linalg.yield %s : i32
  } -> tensor<5xi32>
  %f = tensor.empty() : tensor<5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%p : tensor<5xi32>) outs(%f : tensor<5xf32>) {
  ^bb0(%a: i32, %o: f32):
    %c = arith.index_cast %a : i32 to index
    %v = tensor.extract %x[%c] : tensor<7xf32>
    linalg.yield %v : f32
  } -> tensor<5xf32>
  func.return %y : tensor<5xf32>
}
