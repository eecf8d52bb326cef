// RUN: gawee-opt --load=%S/../../../examples/passes/fuse_relu_into_clip.py --fuse-relu-into-clip %s | filecheck %s
// RUN: gawee-opt --load=%S/../../../examples/passes/fuse_relu_into_clip.py --fuse-relu-into-clip --check-each %s -o %t

// CHECK-LABEL: func.func @a_relu_raises_the_minimum_of_its_clip
// CHECK-NEXT:    %z = gawee.clip %x min 0.000000e+00 max 6.000000e+00
// CHECK-NEXT:    func.return %z
func.func @a_relu_raises_the_minimum_of_its_clip(%x: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %y = gawee.relu %x : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %z = gawee.clip %y min -1.0 max 6.0 : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %z : tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @a_maximum_below_zero_is_kept
// CHECK:         gawee.relu
// CHECK:         gawee.clip %{{.*}} max -2.000000e+00
func.func @a_maximum_below_zero_is_kept(%x: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %y = gawee.relu %x : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %z = gawee.clip %y max -2.0 : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %z : tensor<2x3x5xf32>
}
