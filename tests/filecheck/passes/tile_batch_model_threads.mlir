// RUN: gawee-opt -p 'tile-batch{target=skylake-avx512 num-threads=2}' --split-input-file %s | filecheck %s
// RUN: gawee-opt -p 'tile-batch{target=skylake-avx512 num-threads=2 threads=1}' --split-input-file %s | filecheck %s --check-prefix IN-TURN

// A part of one image stays in the cache of a core, and no thread waits for another one.
// CHECK-LABEL: func.func @main
// CHECK:         gawee.scan steps 6
// CHECK:         {gawee.batch, gawee.threads = 2 : i64}

// An option computes the parts one after the other.
// IN-TURN-LABEL: func.func @main
// IN-TURN-NOT:     gawee.threads
func.func @main(%x: tensor<6x16x56x56xf32>) -> tensor<6x16x56x56xf32> {
  %0 = gawee.max_pool %x kernel [3, 3] strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] ceil_mode false : (tensor<6x16x56x56xf32>) -> tensor<6x16x56x56xf32>
  %1 = gawee.max_pool %0 kernel [3, 3] strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] ceil_mode false : (tensor<6x16x56x56xf32>) -> tensor<6x16x56x56xf32>
  func.return %1 : tensor<6x16x56x56xf32>
}

// -----

// Parts would read 37 MB of weights from main memory, again for each turn; one turn gains too little.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     gawee.scan
func.func @main(%x: tensor<6x3072xf32>, %w: tensor<3072x3072xf32> {gawee.parameter = "w"}) -> tensor<6x3072xf32> {
  %0 = gawee.matmul %x, %w : (tensor<6x3072xf32>, tensor<3072x3072xf32>) -> tensor<6x3072xf32>
  func.return %0 : tensor<6x3072xf32>
}

// -----

// Of three images one thread would have two: the arithmetic of both threads together is faster.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     gawee.threads
func.func @main(%x: tensor<3x64x28x28xf32>, %w: tensor<64x64x3x3xf32> {gawee.parameter = "w"}) -> tensor<3x64x28x28xf32> {
  %0 = gawee.conv %x, %w strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<3x64x28x28xf32>, tensor<64x64x3x3xf32>) -> tensor<3x64x28x28xf32>
  func.return %0 : tensor<3x64x28x28xf32>
}
