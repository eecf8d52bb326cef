// RUN: gawee-opt --load=%S/../../../examples/passes/split_concat.py --split-concat %s | filecheck %s
// RUN: gawee-opt --load=%S/../../../examples/passes/split_concat.py --split-concat --check-each %s -o %t

// CHECK-LABEL: func.func @three_tensors_are_concatenated_in_pairs
// CHECK-NEXT:    %[[P:.*]] = gawee.cat %a, %b dim 1 : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %[[Q:.*]] = gawee.cat %[[P]], %c dim 1 : (tensor<2x8xf32>, tensor<2x7xf32>) -> tensor<2x15xf32>
// CHECK-NEXT:    func.return %[[Q]]
func.func @three_tensors_are_concatenated_in_pairs(%a: tensor<2x3xf32>, %b: tensor<2x5xf32>, %c: tensor<2x7xf32>) -> tensor<2x15xf32> {
  %y = gawee.cat %a, %b, %c dim 1 : (tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x7xf32>) -> tensor<2x15xf32>
  return %y : tensor<2x15xf32>
}
