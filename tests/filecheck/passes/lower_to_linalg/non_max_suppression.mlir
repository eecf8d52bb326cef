// RUN: gawee-opt --lower-to-linalg %s | filecheck %s

// CHECK-LABEL: func.func @a_pair_reads_what_those_before_it_left
// CHECK:       scf.for %[[I:.*]] = %{{.*}} to {{.*}} iter_args(%{{.*}} = %c) -> (tensor<5xi1>) {
// CHECK:         scf.for %[[J:.*]] = %{{.*}} to {{.*}} iter_args(%[[KEPT:[0-9]+]] = %{{.*}}) -> (tensor<5xi1>) {
// CHECK:           tensor.extract %o[%[[I]], %[[J]]] : tensor<5x5xi1>
// CHECK:           arith.cmpi slt, %[[I]], %[[J]] : index
// CHECK:           tensor.extract %[[KEPT]][%[[I]]] : tensor<5xi1>
// CHECK:           %[[MINE:.*]] = tensor.extract %[[KEPT]][%[[J]]] : tensor<5xi1>
// CHECK-NEXT:      %[[V:.*]] = arith.andi %[[MINE]]
// CHECK-NEXT:      tensor.insert %[[V]] into %[[KEPT]][%[[J]]] : tensor<5xi1>
func.func @a_pair_reads_what_those_before_it_left(%c: tensor<5xi1>, %o: tensor<5x5xi1>) -> tensor<5xi1> {
  %r = gawee.non_max_suppression %c, %o : (tensor<5xi1>, tensor<5x5xi1>) -> tensor<5xi1>
  return %r : tensor<5xi1>
}
