// RUN: gawee-opt --watch --watch-runs=1 --load %S/inputs/relu_to_cube.py --relu-to-cube %s | filecheck %s

// CHECK:      // run 1
// CHECK-NEXT: builtin.module {
// CHECK:      mine.cube
// CHECK:      // relu-to-cube: ReluToCube fired 1
func.func @the_first_run_prints_all(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.identity %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = gawee.relu %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}
