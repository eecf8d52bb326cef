// RUN: gawee-opt --check-indices %s | filecheck %s

// The last index comes from the size at run time; what is in range counts as 0.
// CHECK-LABEL: func.func @open_axis
// CHECK-SAME: tensor<i64> {gawee.indices = {op = "gawee.gather", axes = array<i64: 0>, sizes = ["n"], place
// CHECK: %[[COUNT:.*]] = gawee.iota axis 0 {shape = #gawee.sizes<["n"]>} : tensor<?xi64>
// CHECK: %[[LAST:.*]] = gawee.reduce_max %[[COUNT]] axes [0]
// CHECK: %[[INSIDE:.*]] = gawee.minimum %{{.*}}, %[[LAST]]
// CHECK: %[[SAME:.*]] = gawee.compare %i, %[[INSIDE]] predicate "eq"
// CHECK: gawee.where %[[SAME]]
// CHECK: gawee.gather %x, %[[INSIDE]] axis 0
func.func @open_axis(%x: tensor<?x3xf32> {gawee.sizes = ["n", "-"]}, %i: tensor<5xi64>) -> tensor<5x3xf32> {
  %0 = gawee.gather %x, %i axis 0 : (tensor<?x3xf32>, tensor<5xi64>) -> tensor<5x3xf32>
  func.return %0 : tensor<5x3xf32>
}
