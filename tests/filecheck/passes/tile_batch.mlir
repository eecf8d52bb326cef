// RUN: gawee-opt -p 'tile-batch{images=2}' --split-input-file %s | filecheck %s

// Whatever is counted by images is so for those of a part; views that join images and others, too.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%x: tensor<6x3x9x7xf32>, %w: tensor<5x3x3x3xf32> {{.*}}) -> tensor<6x4xf32>
// CHECK-NEXT:    %[[PARTS:.*]] = gawee.reshape %x shape [3, 2, 3, 9, 7]
// CHECK-NEXT:    %[[ALL:.*]] = gawee.scan steps 3 over(%[[PARTS]] : tensor<3x2x3x9x7xf32>) {
// CHECK-NEXT:    ^bb0(%[[IMAGES:.*]]: tensor<2x3x9x7xf32>):
// CHECK-NEXT:      gawee.conv %[[IMAGES]], %w {{.*}} -> tensor<2x5x9x7xf32>
// CHECK-NEXT:      gawee.reshape {{.*}} shape [10, 63]
// CHECK-NEXT:      gawee.reduce_sum {{.*}} -> tensor<10xf32>
// CHECK-NEXT:      gawee.reshape {{.*}} shape [2, 5]
// CHECK-NEXT:      %[[MADE:.*]] = gawee.slice {{.*}} sizes [2, 4]
// CHECK-NEXT:      gawee.yield %[[MADE]] : tensor<2x4xf32>
// CHECK-NEXT:    } -> tensor<3x2x4xf32> {gawee.batch}
// CHECK-NEXT:    %[[Y:.*]] = gawee.reshape %[[ALL]] shape [6, 4]
// CHECK-NEXT:    func.return %[[Y]]
func.func @main(%x: tensor<6x3x9x7xf32>, %w: tensor<5x3x3x3xf32> {gawee.parameter = "w"}) -> tensor<6x4xf32> {
  %0 = gawee.conv %x, %w strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x3x9x7xf32>, tensor<5x3x3x3xf32>) -> tensor<6x5x9x7xf32>
  %1 = gawee.reshape %0 shape [30, 63] : (tensor<6x5x9x7xf32>) -> tensor<30x63xf32>
  %2 = gawee.reduce_sum %1 axes [-1] : (tensor<30x63xf32>) -> tensor<30xf32>
  %3 = gawee.reshape %2 shape [6, 5] : (tensor<30xf32>) -> tensor<6x5xf32>
  %4 = gawee.slice %3 offsets [0, 1] sizes [6, 4] strides [1, 1] : (tensor<6x5xf32>) -> tensor<6x4xf32>
  func.return %4 : tensor<6x4xf32>
}

// -----

// What all images share stays outside; several values come in and go out.
// CHECK-LABEL: func.func @main
// CHECK:         %[[T:.*]] = gawee.tanh %t
// CHECK:         %[[A2:.*]], %[[B2:.*]] = gawee.scan steps 2 over(%{{.*}}, %{{.*}} : tensor<2x2x3xf32>, tensor<2x2x3xf32>) {
// CHECK-NEXT:    ^bb0(%[[X:.*]]: tensor<2x3xf32>, %[[Z:.*]]: tensor<2x3xf32>):
// CHECK-NEXT:      %[[A:.*]] = gawee.add %[[X]], %[[T]] : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:      %[[B:.*]] = gawee.mul %[[A]], %[[Z]]
// CHECK-NEXT:      gawee.yield %[[A]], %[[B]]
// CHECK:         %[[A4:.*]] = gawee.reshape %[[A2]] shape [4, 3]
// CHECK:         %[[B4:.*]] = gawee.reshape %[[B2]] shape [4, 3]
// CHECK:         func.return %[[B4]], %[[A4]]
func.func @main(%x: tensor<4x3xf32>, %z: tensor<4x3xf32>, %t: tensor<1x3xf32> {gawee.parameter = "t"}) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  %0 = gawee.tanh %t : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %1 = gawee.add %x, %0 : (tensor<4x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32>
  %2 = gawee.mul %1, %z : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  func.return %2, %1 : tensor<4x3xf32>, tensor<4x3xf32>
}

// -----

// What was written out for four images is written out for the two of a part.
// CHECK-LABEL: func.func @main
// CHECK:         gawee.scan steps 2
// CHECK:           %[[TOKEN:.*]] = gawee.broadcast_to %t shape [2, 1, 3]
// CHECK:           gawee.cat %[[TOKEN]], %{{.*}} dim 1 {{.*}} -> tensor<2x8x3xf32>
func.func @main(%x: tensor<4x7x3xf32>, %t: tensor<1x1x3xf32> {gawee.parameter = "t"}) -> tensor<4x8x3xf32> {
  %0 = gawee.broadcast_to %t shape [4, 1, 3] : (tensor<1x1x3xf32>) -> tensor<4x1x3xf32>
  %1 = gawee.cat %0, %x dim 1 : (tensor<4x1x3xf32>, tensor<4x7x3xf32>) -> tensor<4x8x3xf32>
  func.return %1 : tensor<4x8x3xf32>
}

// -----

// A gather whose indices come from images would have its check in the loop: it stays outside.
// CHECK-LABEL: func.func @main
// CHECK:         %[[ROWS:.*]] = gawee.gather {{.*}} -> tensor<4x5x3xf32>
// CHECK:         gawee.reshape %[[ROWS]] shape [2, 2, 5, 3]
// CHECK:         gawee.scan steps 2
// CHECK:           gawee.relu {{.*}} -> tensor<2x5x3xf32>
func.func @main(%x: tensor<4x5xi64>, %t: tensor<9x3xf32> {gawee.parameter = "t"}) -> tensor<4x5x3xf32> {
  %0 = gawee.gather %t, %x axis 0 : (tensor<9x3xf32>, tensor<4x5xi64>) -> tensor<4x5x3xf32>
  %1 = gawee.relu %0 : (tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  func.return %1 : tensor<4x5x3xf32>
}

// -----

// Where images are along another axis in between, the part goes on until they are along axis 0.
// CHECK-LABEL: func.func @main
// CHECK:         gawee.scan steps 2
// CHECK:           gawee.transpose {{.*}} -> tensor<3x2xf32>
// CHECK:           gawee.tanh
// CHECK:           gawee.transpose {{.*}} -> tensor<2x3xf32>
// CHECK:         } -> tensor<2x2x3xf32> {gawee.batch}
// CHECK:         gawee.transpose {{.*}} -> tensor<3x4xf32>
func.func @main(%x: tensor<4x3xf32>) -> tensor<3x4xf32> {
  %0 = gawee.transpose %x permutation [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %1 = gawee.tanh %0 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %2 = gawee.transpose %1 permutation [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %3 = gawee.transpose %2 permutation [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  func.return %3 : tensor<3x4xf32>
}
