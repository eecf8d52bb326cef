// RUN: gawee-opt --list-passes | filecheck %s
// RUN: gawee-opt --list-passes --allow-unregistered-dialect %s | filecheck %s

// Ours first, then those of xDSL and of other plugins, with their options.
// CHECK:      passes of gawee:
// CHECK-NEXT:   fold-batch-norm {{ *[A-Z]}}
// CHECK:        lower-to-linalg {{ *[A-Z]}}
// CHECK:        canonicalize {{ *[A-Za-z]}}
// CHECK:      passes of xDSL and of other plugins:
// CHECK:        approximate-math-with-bitcast
// CHECK-NEXT:       log: bool = true
// CHECK-NEXT:       exp: bool = true
// CHECK:        dce
