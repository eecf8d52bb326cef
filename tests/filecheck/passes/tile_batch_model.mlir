// RUN: gawee-opt -p 'tile-batch{target=skylake-avx512 num-threads=1}' --split-input-file %s | filecheck %s

// One image is 0.4 MB that a node reads and writes, all of them are 26: twice as much fits into 1 MB, not into 27.
// CHECK-LABEL: func.func @main
// CHECK:         gawee.scan steps 64
// CHECK:           gawee.max_pool
// CHECK:           gawee.max_pool
func.func @main(%x: tensor<64x16x56x56xf32>) -> tensor<64x16x56x56xf32> {
  %0 = gawee.max_pool %x kernel [3, 3] strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] ceil_mode false : (tensor<64x16x56x56xf32>) -> tensor<64x16x56x56xf32>
  %1 = gawee.max_pool %0 kernel [3, 3] strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] ceil_mode false : (tensor<64x16x56x56xf32>) -> tensor<64x16x56x56xf32>
  func.return %1 : tensor<64x16x56x56xf32>
}

// -----

// What fits into the nearest memory stays as it is.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     gawee.scan
func.func @main(%x: tensor<6x3x5x7xf32>) -> tensor<6x3x5x7xf32> {
  %0 = gawee.max_pool %x kernel [3, 3] strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] ceil_mode false : (tensor<6x3x5x7xf32>) -> tensor<6x3x5x7xf32>
  func.return %0 : tensor<6x3x5x7xf32>
}

// -----

// Images that are mixed stay together.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     gawee.scan
func.func @main(%x: tensor<64x16x56x56xf32>) -> tensor<16x56x56xf32> {
  %0 = gawee.reduce_mean %x axes [0] : (tensor<64x16x56x56xf32>) -> tensor<16x56x56xf32>
  func.return %0 : tensor<16x56x56xf32>
}

// -----

// Zeros that are written out for all images are no weights, which small parts would read more often.
// CHECK-LABEL: func.func @main
// CHECK:         gawee.scan steps 64
func.func @main(%x: tensor<64x16x56x56xf32>) -> tensor<64x16x56x56xf32> {
  %0 = gawee.max_pool %x kernel [3, 3] strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] ceil_mode false : (tensor<64x16x56x56xf32>) -> tensor<64x16x56x56xf32>
  %zero = gawee.constant dense<0.0> : tensor<64x16x56x56xf32>
  %1 = gawee.add %0, %zero : (tensor<64x16x56x56xf32>, tensor<64x16x56x56xf32>) -> tensor<64x16x56x56xf32>
  %2 = gawee.max_pool %1 kernel [3, 3] strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] ceil_mode false : (tensor<64x16x56x56xf32>) -> tensor<64x16x56x56xf32>
  func.return %2 : tensor<64x16x56x56xf32>
}

// -----

// Attention writes and reads its scores, which are many more than all that goes in and out.
// CHECK-LABEL: func.func @main
// CHECK:         gawee.scan steps 31
// CHECK:           gawee.attention
func.func @main(%q: tensor<62x3x57x5xf32>, %k: tensor<62x3x59x5xf32>, %v: tensor<62x3x59x7xf32>) -> tensor<62x3x57x7xf32> {
  %0 = gawee.attention %q, %k, %v scale 0.5 : (tensor<62x3x57x5xf32>, tensor<62x3x59x5xf32>, tensor<62x3x59x7xf32>) -> tensor<62x3x57x7xf32>
  func.return %0 : tensor<62x3x57x7xf32>
}

// -----

// A classifier's 31 MB of weights would be read for each part: from there on all images are computed at once.
// CHECK-LABEL: func.func @main
// CHECK:         gawee.scan steps 62
// CHECK:           gawee.conv
// CHECK-NEXT:      gawee.max_pool
// CHECK-NEXT:      gawee.reshape {{.*}} shape [1, 6293]
// CHECK-NEXT:      gawee.yield
// CHECK:         %[[ROWS:.*]] = gawee.reshape {{.*}} shape [62, 6293]
// CHECK-NEXT:    %[[MORE:.*]] = gawee.matmul %[[ROWS]], %w
// CHECK-NEXT:    %[[POSITIVE:.*]] = gawee.relu %[[MORE]]
// CHECK-NEXT:    gawee.matmul %[[POSITIVE]], %v
func.func @main(%x: tensor<62x7x121x113xf32>, %c: tensor<7x7x1x1xf32> {gawee.parameter = "c"}, %w: tensor<1237x6293xf32> {gawee.parameter = "w"}, %v: tensor<11x1237xf32> {gawee.parameter = "v"}) -> tensor<62x11xf32> {
  %0 = gawee.conv %x, %c strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<62x7x121x113xf32>, tensor<7x7x1x1xf32>) -> tensor<62x7x61x57xf32>
  %1 = gawee.max_pool %0 kernel [3, 3] strides [2, 2] padding [1, 1, 1, 1] dilations [1, 1] ceil_mode false : (tensor<62x7x61x57xf32>) -> tensor<62x7x31x29xf32>
  %2 = gawee.reshape %1 shape [62, 6293] : (tensor<62x7x31x29xf32>) -> tensor<62x6293xf32>
  %3 = gawee.matmul %2, %w : (tensor<62x6293xf32>, tensor<1237x6293xf32>) -> tensor<62x1237xf32>
  %4 = gawee.relu %3 : (tensor<62x1237xf32>) -> tensor<62x1237xf32>
  %5 = gawee.matmul %4, %v : (tensor<62x1237xf32>, tensor<11x1237xf32>) -> tensor<62x11xf32>
  func.return %5 : tensor<62x11xf32>
}

// -----

// Images without elements are computed at once.
// CHECK-LABEL: func.func @no_channels
// CHECK-NOT:     scf.for
func.func @no_channels(%x: tensor<64x0x56x56xf32> {gawee.input = "x"}) -> (tensor<64x0x56x56xf32> {gawee.output = "y"}) {
  %0 = gawee.max_pool %x kernel [3, 3] strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] ceil_mode false : (tensor<64x0x56x56xf32>) -> tensor<64x0x56x56xf32>
  %zero = gawee.constant dense<> : tensor<64x0x56x56xf32>
  %1 = gawee.add %0, %zero : (tensor<64x0x56x56xf32>, tensor<64x0x56x56xf32>) -> tensor<64x0x56x56xf32>
  %2 = gawee.max_pool %1 kernel [3, 3] strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] ceil_mode false : (tensor<64x0x56x56xf32>) -> tensor<64x0x56x56xf32>
  return %2 : tensor<64x0x56x56xf32>
}
