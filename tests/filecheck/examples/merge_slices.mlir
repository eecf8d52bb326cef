// RUN: gawee-opt --load=%S/../../../examples/passes/merge_slices.py --merge-slices %s | filecheck %s
// RUN: gawee-opt --load=%S/../../../examples/passes/merge_slices.py --merge-slices --check-each %s -o %t

// CHECK-LABEL: func.func @offsets_and_strides_of_two_slices_are_composed
// CHECK-NEXT:    %z = gawee.slice %x offsets [1, 10] sizes [2, 2] strides [1, -4]
// CHECK-NEXT:    func.return %z
func.func @offsets_and_strides_of_two_slices_are_composed(%x: tensor<3x13xf32>) -> tensor<2x2xf32> {
  %y = gawee.slice %x offsets [1, 2] sizes [2, 5] strides [1, 2] : (tensor<3x13xf32>) -> tensor<2x5xf32>
  %z = gawee.slice %y offsets [0, 4] sizes [2, 2] strides [1, -2] : (tensor<2x5xf32>) -> tensor<2x2xf32>
  return %z : tensor<2x2xf32>
}
