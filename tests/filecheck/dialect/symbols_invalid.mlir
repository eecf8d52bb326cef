// RUN: not gawee-opt %s 2>&1 | filecheck %s

func.func private @elsewhere(tensor<2x3xf32>)

// The second op of a name has the place.
// CHECK: symbols_invalid.mlir:[[# @LINE + 1]]:1: error: 'func.func' op redefinition of symbol "elsewhere"
func.func private @elsewhere(tensor<3xf32>)
