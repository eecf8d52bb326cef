// RUN: gawee-opt %s --canonicalize | filecheck %s

// CHECK-LABEL: func.func @moves_that_change_nothing_vanish
// CHECK-NEXT:  func.return %x, %x, %x, %x
func.func @moves_that_change_nothing_vanish(%x: tensor<2x1xf32>) -> (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) {
  %a = gawee.transpose %x permutation [0, 1] : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %b = gawee.broadcast_to %a shape [2, 1] : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %c = gawee.tile %x repeats [1, 1] : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %d = gawee.reverse %c axes [1] : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %e = gawee.slice %x offsets [0, 0] sizes [2, 1] strides [1, 3] : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %f = gawee.pad %x low [0, 0] high [0, 0] mode "reflect" : (tensor<2x1xf32>) -> tensor<2x1xf32>
  func.return %b, %d, %e, %f : tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>
}

// CHECK-LABEL: func.func @slice_backwards_of_all_elements_stays
// CHECK-NEXT:  gawee.slice %x offsets [2]
func.func @slice_backwards_of_all_elements_stays(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = gawee.slice %x offsets [2] sizes [3] strides [-1] : (tensor<3xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// CHECK-LABEL: func.func @what_is_overwritten_whole_is_its_update
// CHECK-NEXT:  func.return %u, %x, %x
func.func @what_is_overwritten_whole_is_its_update(%x: tensor<2x3xf32>, %u: tensor<2x3xf32>, %n: tensor<0x3xf32>, %i: tensor<0x1xi64>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %a = gawee.insert_slice %x, %u offsets [0, 0] strides [1, 1] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = gawee.insert_slice %x, %n offsets [1, 0] strides [1, 1] : (tensor<2x3xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  %c = gawee.scatter_nd %x, %i, %n reduction "add" : (tensor<2x3xf32>, tensor<0x1xi64>, tensor<0x3xf32>) -> tensor<2x3xf32>
  func.return %a, %b, %c : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @two_transposes_are_one
// CHECK-NEXT:  %[[Y:.*]] = gawee.transpose %x permutation [2, 0, 1] : (tensor<2x3x5xf32>) -> tensor<5x2x3xf32>
// CHECK-NEXT:  func.return %[[Y]], %x
func.func @two_transposes_are_one(%x: tensor<2x3x5xf32>) -> (tensor<5x2x3xf32>, tensor<2x3x5xf32>) {
  %a = gawee.transpose %x permutation [1, 2, 0] : (tensor<2x3x5xf32>) -> tensor<3x5x2xf32>
  %b = gawee.transpose %a permutation [1, 2, 0] : (tensor<3x5x2xf32>) -> tensor<5x2x3xf32>
  %c = gawee.transpose %a permutation [2, 0, 1] : (tensor<3x5x2xf32>) -> tensor<2x3x5xf32>
  func.return %b, %c : tensor<5x2x3xf32>, tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @two_reversals_are_none
// CHECK-NEXT:  func.return %x
func.func @two_reversals_are_none(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = gawee.reverse %x axes [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = gawee.reverse %a axes [-1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %b : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @constants_are_moved_when_compiling
// CHECK-NEXT:  gawee.constant dense<{{\[\[}}1, 3], [2, 4]]> : tensor<2x2xi64>
// CHECK-NEXT:  gawee.constant dense<{{\[\[}}4, 3], [2, 1]]> : tensor<2x2xi64>
// CHECK-NEXT:  gawee.constant dense<[2, 4]> : tensor<2xi64>
// CHECK-NEXT:  gawee.constant dense<[0, 1, 2]> : tensor<3xi64>
// CHECK-NEXT:  gawee.constant dense<{{\[\[}}1, 0], [3, 4]]> : tensor<2x2xi64>
func.func @constants_are_moved_when_compiling() -> (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2xi64>, tensor<3xi64>, tensor<2x2xi64>) {
  %x = gawee.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  %i = gawee.constant dense<-1> : tensor<i64>
  %a = gawee.transpose %x permutation [1, 0] : (tensor<2x2xi64>) -> tensor<2x2xi64>
  %b = gawee.reverse %x axes [0, 1] : (tensor<2x2xi64>) -> tensor<2x2xi64>
  %c = gawee.gather %x, %i axis 1 : (tensor<2x2xi64>, tensor<i64>) -> tensor<2xi64>
  %d = gawee.iota axis 0 : tensor<3xi64>
  %e = gawee.tri %x upper false diagonal 0 : (tensor<2x2xi64>) -> tensor<2x2xi64>
  func.return %a, %b, %c, %d, %e : tensor<2x2xi64>, tensor<2x2xi64>, tensor<2xi64>, tensor<3xi64>, tensor<2x2xi64>
}
