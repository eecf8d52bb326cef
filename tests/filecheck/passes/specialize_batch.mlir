// RUN: gawee-opt -p 'specialize-batch{images=5}' --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%x: tensor<5x3x8x7xf32>, %w: tensor<6x3x3x3xf32> {gawee.parameter = "w"}) -> tensor<5x4xf32>
// CHECK:         gawee.conv {{.*}} -> tensor<5x6x6x5xf32>
// CHECK:         gawee.reshape {{.*}} shape [30, 30] {{.*}} -> tensor<30x30xf32>
// CHECK:         gawee.reduce_sum {{.*}} -> tensor<30xf32>
// CHECK:         gawee.reshape {{.*}} shape [5, 6] {{.*}} -> tensor<5x6xf32>
// CHECK:         gawee.slice {{.*}} sizes [5, 4] {{.*}} -> tensor<5x4xf32>
func.func @main(%x: tensor<2x3x8x7xf32>, %w: tensor<6x3x3x3xf32> {gawee.parameter = "w"}) -> tensor<2x4xf32> {
  %0 = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x3x8x7xf32>, tensor<6x3x3x3xf32>) -> tensor<2x6x6x5xf32>
  %1 = gawee.reshape %0 shape [12, 30] : (tensor<2x6x6x5xf32>) -> tensor<12x30xf32>
  %2 = gawee.reduce_sum %1 axes [-1] : (tensor<12x30xf32>) -> tensor<12xf32>
  %3 = gawee.reshape %2 shape [2, 6] : (tensor<12xf32>) -> tensor<2x6xf32>
  %4 = gawee.slice %3 offsets [0, 1] sizes [2, 4] strides [1, 1] : (tensor<2x6xf32>) -> tensor<2x4xf32>
  func.return %4 : tensor<2x4xf32>
}

// -----

// What joins steps and images has as many rows of each step as there are images.
// CHECK-LABEL: func.func @main
// CHECK:         gawee.transpose {{.*}} -> tensor<7x5x3xf32>
// CHECK:         gawee.reshape {{.*}} shape [35, 3]
// CHECK:         gawee.matmul {{.*}} -> tensor<35x4xf32>
// CHECK:         gawee.reshape {{.*}} shape [7, 5, 4]
func.func @main(%x: tensor<2x7x3xf32>, %w: tensor<4x3xf32> {gawee.parameter = "w"}) -> tensor<7x2x4xf32> {
  %0 = gawee.transpose %x permutation [1, 0, 2] : (tensor<2x7x3xf32>) -> tensor<7x2x3xf32>
  %1 = gawee.reshape %0 shape [14, 3] : (tensor<7x2x3xf32>) -> tensor<14x3xf32>
  %2 = gawee.matmul %1, %w : (tensor<14x3xf32>, tensor<4x3xf32>) -> tensor<14x4xf32>
  %3 = gawee.reshape %2 shape [7, 2, 4] : (tensor<14x4xf32>) -> tensor<7x2x4xf32>
  func.return %3 : tensor<7x2x4xf32>
}

// -----

// What was written out for two images is written out for five; what one image has is taken once.
// CHECK-LABEL: func.func @main
// CHECK:         %[[ALL:.*]] = gawee.tile %t repeats [2, 1, 1]
// CHECK:         %[[APART:.*]] = gawee.reshape %[[ALL]] shape [1, 2, 1, 1, 3]
// CHECK:         %[[ONE:.*]] = gawee.slice %[[APART]] offsets [0, 0, 0, 0, 0] sizes [1, 1, 1, 1, 3]
// CHECK:         %[[FIVE:.*]] = gawee.tile %[[ONE]] repeats [1, 5, 1, 1, 1]
// CHECK:         %[[TOKEN:.*]] = gawee.reshape %[[FIVE]] shape [5, 1, 3]
// CHECK:         gawee.cat %[[TOKEN]], %x dim 1 {{.*}} -> tensor<5x8x3xf32>
func.func @main(%x: tensor<2x7x3xf32>, %t: tensor<1x1x3xf32> {gawee.parameter = "t"}) -> tensor<2x8x3xf32> {
  %0 = gawee.tile %t repeats [2, 1, 1] : (tensor<1x1x3xf32>) -> tensor<2x1x3xf32>
  %1 = gawee.cat %0, %x dim 1 : (tensor<2x1x3xf32>, tensor<2x7x3xf32>) -> tensor<2x8x3xf32>
  func.return %1 : tensor<2x8x3xf32>
}

// -----

// What is broadcast to two images is broadcast to five.
// CHECK-LABEL: func.func @main
// CHECK:         %[[TOKEN:.*]] = gawee.broadcast_to %t shape [5, 1, 3]
// CHECK:         gawee.cat %[[TOKEN]], %x dim 1 {{.*}} -> tensor<5x8x3xf32>
func.func @main(%x: tensor<2x7x3xf32>, %t: tensor<1x1x3xf32> {gawee.parameter = "t"}) -> tensor<2x8x3xf32> {
  %0 = gawee.broadcast_to %t shape [2, 1, 3] : (tensor<1x1x3xf32>) -> tensor<2x1x3xf32>
  %1 = gawee.cat %0, %x dim 1 : (tensor<2x1x3xf32>, tensor<2x7x3xf32>) -> tensor<2x8x3xf32>
  func.return %1 : tensor<2x8x3xf32>
}

// -----

// A state that was written out for two images is theirs from the first step on.
// CHECK-LABEL: func.func @main
// CHECK:         gawee.scan steps 7 initial(%{{.*}} : tensor<5x3xf32>) over(%{{.*}} : tensor<7x5x3xf32>)
// CHECK-NEXT:    ^{{.*}}(%{{.*}}: tensor<5x3xf32>, %{{.*}}: tensor<5x3xf32>):
// CHECK:         } -> tensor<5x3xf32>, tensor<7x5x3xf32>
func.func @main(%x: tensor<2x7x3xf32>) -> (tensor<2x3xf32>, tensor<7x2x3xf32>) {
  %h = gawee.constant dense<0.5> : tensor<2x3xf32>
  %0 = gawee.transpose %x permutation [1, 0, 2] : (tensor<2x7x3xf32>) -> tensor<7x2x3xf32>
  %last, %all = gawee.scan steps 7 initial(%h : tensor<2x3xf32>) over(%0 : tensor<7x2x3xf32>) {
  ^bb0(%state: tensor<2x3xf32>, %now: tensor<2x3xf32>):
    %sum = gawee.add %state, %now : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %next = gawee.tanh %sum : (tensor<2x3xf32>) -> tensor<2x3xf32>
    gawee.yield %next, %sum : tensor<2x3xf32>, tensor<2x3xf32>
  } -> tensor<2x3xf32>, tensor<7x2x3xf32>
  func.return %last, %all : tensor<2x3xf32>, tensor<7x2x3xf32>
}

// -----

// Tensors of images after each other have as many rows as images in each of them.
// CHECK-LABEL: func.func @main
// CHECK:         gawee.cat {{.*}} dim 0 {{.*}} -> tensor<10x3xf32>
// CHECK:         gawee.reshape {{.*}} shape [2, 5, 3]
func.func @main(%x: tensor<4x3xf32>) -> tensor<2x4x3xf32> {
  %0 = gawee.relu %x : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %1 = gawee.cat %0, %x dim 0 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  %2 = gawee.reshape %1 shape [2, 4, 3] : (tensor<8x3xf32>) -> tensor<2x4x3xf32>
  func.return %2 : tensor<2x4x3xf32>
}
