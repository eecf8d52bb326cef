// RUN: gawee-opt --emit-irdl | filecheck %s

// CHECK:       irdl.dialect @gawee {
// CHECK:         irdl.operation @conv {
// CHECK:           irdl.attributes { "strides" = %{{.*}}, "padding" = %{{.*}}, "dilations" = %{{.*}}, "groups" = %{{.*}} }
// CHECK:           irdl.operands(input: %{{.*}}, weight: %{{.*}}, bias: optional %{{.*}})
// CHECK:           irdl.results(result: %{{.*}})
// CHECK:         irdl.operation @kernel {
// CHECK:           irdl.regions(accumulate: %{{.*}}, finish: %{{.*}})
