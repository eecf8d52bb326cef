// RUN: gawee-opt --linalg-generalize-named-ops %s | filecheck %s

// CHECK-LABEL: func.func @a_named_op_becomes_generic
// CHECK:       linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
// CHECK:         %[[P:.*]] = arith.mulf
// CHECK-NEXT:    arith.addf %{{.*}}, %[[P]] : f32
// CHECK-NOT:   linalg.matvec
func.func @a_named_op_becomes_generic(%a: tensor<5x7xf32>, %x: tensor<7xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
  %z = linalg.matvec ins(%a, %x : tensor<5x7xf32>, tensor<7xf32>) outs(%y : tensor<5xf32>) -> tensor<5xf32>
  return %z : tensor<5xf32>
}

// CHECK-LABEL: func.func @integers_are_cast_to_the_type_of_the_sum
// CHECK:         arith.extsi %{{.*}} : i8 to i32
// CHECK:         arith.extui %{{.*}} : i8 to i32
func.func @integers_are_cast_to_the_type_of_the_sum(%a: tensor<5x7xi8>, %b: tensor<7x3xi8>, %c: tensor<5x3xi32>) -> tensor<5x3xi32> {
  %d = linalg.matmul ins(%a, %b : tensor<5x7xi8>, tensor<7x3xi8>) outs(%c : tensor<5x3xi32>) -> tensor<5x3xi32>
  %e = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%a, %b : tensor<5x7xi8>, tensor<7x3xi8>) outs(%d : tensor<5x3xi32>) -> tensor<5x3xi32>
  return %e : tensor<5x3xi32>
}

// CHECK-LABEL: func.func @a_reduction_keeps_its_body
// CHECK:       linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
// CHECK-NEXT:  ^bb0(%[[IN:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK-NEXT:    arith.subf %[[OUT]], %[[IN]] : f32
func.func @a_reduction_keeps_its_body(%a: tensor<5x7xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
  %z = linalg.reduce { arith.subf } ins(%a : tensor<5x7xf32>) outs(%y : tensor<5xf32>) dimensions = [1]
  return %z : tensor<5xf32>
}

// CHECK-LABEL: func.func @a_broadcast_reads_without_the_added_dimension
// CHECK:       linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
func.func @a_broadcast_reads_without_the_added_dimension(%a: tensor<7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %z = linalg.broadcast ins(%a : tensor<7xf32>) outs(%y : tensor<5x7xf32>) dimensions = [0]
  return %z : tensor<5x7xf32>
}
