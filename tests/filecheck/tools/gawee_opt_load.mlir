// RUN: gawee-opt --load %S/inputs/relu_to_cube.py --relu-to-cube %s 2>%t | filecheck %s
// RUN: filecheck %s --input-file=%t --check-prefix=HEARD
// RUN: gawee-opt --load %S/inputs/relu_to_cube.py --relu-to-cube %s 2>/dev/null | gawee-translate --load %S/inputs/relu_to_cube.py | filecheck %s

// HEARD: Misses: gawee.relu: expected element type f32, got i32

// CHECK-LABEL: func.func @a_file_brings_a_pass_an_op_and_an_instrument
// CHECK:       mine.cube %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:       gawee.relu
// CHECK-SAME:  tensor<2x3xi32>
func.func @a_file_brings_a_pass_an_op_and_an_instrument(%x: tensor<2x3xf32>, %i: tensor<2x3xi32>)
    -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %y = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = gawee.relu %i : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return %y, %z : tensor<2x3xf32>, tensor<2x3xi32>
}
