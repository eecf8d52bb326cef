// RUN: gawee-opt --tile-batch --split-input-file %s | filecheck %s

// What convolves is computed of one image after the other; the product behind, whose weights are
// more than its images, of all of them.
// CHECK-LABEL: func.func @main
// CHECK:         %[[PARTS:.*]] = gawee.reshape %x shape ["batch", 1, 3, 9, 7] : (tensor<?x3x9x7xf32>) -> tensor<?x1x3x9x7xf32>
// CHECK-NEXT:    %[[ALL:.*]] = gawee.scan steps "batch" over(%[[PARTS]] : tensor<?x1x3x9x7xf32>) {
// CHECK-NEXT:    ^bb0(%[[IMAGE:.*]]: tensor<1x3x9x7xf32>):
// CHECK-NEXT:      gawee.conv %[[IMAGE]], %w {{.*}} -> tensor<1x5x9x7xf32>
// CHECK-NEXT:      %[[MADE:.*]] = gawee.reshape {{.*}} shape [1, 315]
// CHECK-NEXT:      gawee.yield %[[MADE]] : tensor<1x315xf32>
// CHECK-NEXT:    } -> tensor<?x1x315xf32> {gawee.batch}
// CHECK-NEXT:    %[[ROWS:.*]] = gawee.reshape %[[ALL]] shape ["batch", 315]
// CHECK-NEXT:    gawee.matmul %[[ROWS]], %v
func.func @main(%x: tensor<?x3x9x7xf32> {gawee.input = "x", gawee.sizes = ["batch", "-", "-", "-"]},
                %w: tensor<5x3x3x3xf32> {gawee.parameter = "w"}, %v: tensor<50x315xf32> {gawee.parameter = "v"})
    -> tensor<?x50xf32> attributes {gawee.ranges = {batch = "1 to 32"}} {
  %0 = gawee.conv %x, %w strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<?x3x9x7xf32>, tensor<5x3x3x3xf32>) -> tensor<?x5x9x7xf32>
  %1 = gawee.reshape %0 shape ["batch", 315] : (tensor<?x5x9x7xf32>) -> tensor<?x315xf32>
  %2 = gawee.matmul %1, %v : (tensor<?x315xf32>, tensor<50x315xf32>) -> tensor<?x50xf32>
  func.return %2 : tensor<?x50xf32>
}

// -----

// Rows of products are better off together.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     gawee.scan
func.func @main(%x: tensor<?x30xf32> {gawee.input = "x", gawee.sizes = ["batch", "-"]}, %v: tensor<50x30xf32> {gawee.parameter = "v"}) -> tensor<?x50xf32> {
  %0 = gawee.matmul %x, %v : (tensor<?x30xf32>, tensor<50x30xf32>) -> tensor<?x50xf32>
  func.return %0 : tensor<?x50xf32>
}

// -----

// Where images have an open size too, their code would be open all the same.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     gawee.scan
func.func @main(%x: tensor<?x3x?x7xf32> {gawee.input = "x", gawee.sizes = ["batch", "-", "height", "-"]}, %w: tensor<5x3x3x3xf32> {gawee.parameter = "w"}) -> tensor<?x5x?x7xf32> {
  %0 = gawee.conv %x, %w strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<?x3x?x7xf32>, tensor<5x3x3x3xf32>) -> tensor<?x5x?x7xf32>
  func.return %0 : tensor<?x5x?x7xf32>
}

// -----

// An input that all images share has no open size; then none is taken to have images.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     gawee.scan
func.func @main(%x: tensor<?x3x9x7xf32> {gawee.input = "x", gawee.sizes = ["batch", "-", "-", "-"]}, %w: tensor<7x3x3x3xf32> {gawee.input = "w"}) -> tensor<?x7x9x7xf32> {
  %0 = gawee.conv %x, %w strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<?x3x9x7xf32>, tensor<7x3x3x3xf32>) -> tensor<?x7x9x7xf32>
  func.return %0 : tensor<?x7x9x7xf32>
}

// -----

// What mixes images is computed of all, and so is what comes behind.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     gawee.scan
func.func @main(%x: tensor<?x3x9x7xf32> {gawee.input = "x", gawee.sizes = ["batch", "-", "-", "-"]}, %w: tensor<5x3x3x3xf32> {gawee.parameter = "w"}) -> tensor<5x9x7xf32> {
  %0 = gawee.conv %x, %w strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<?x3x9x7xf32>, tensor<5x3x3x3xf32>) -> tensor<?x5x9x7xf32>
  %1 = gawee.reduce_max %0 axes [0] : (tensor<?x5x9x7xf32>) -> tensor<5x9x7xf32>
  func.return %1 : tensor<5x9x7xf32>
}

// -----

// What reads a value that is written out for all images stays outside.
// CHECK-LABEL: func.func @main
// CHECK:         %[[ALL:.*]] = gawee.scan steps "batch"
// CHECK:           gawee.conv
// CHECK:         %[[PATCHES:.*]] = gawee.reshape %[[ALL]]
// CHECK:         gawee.cat %{{.*}}, %[[PATCHES]] dim 2 : (tensor<?x5x1xf32>, tensor<?x5x63xf32>) -> tensor<?x5x64xf32>
func.func @main(%x: tensor<?x3x9x7xf32> {gawee.input = "x", gawee.sizes = ["batch", "-", "-", "-"]},
                %w: tensor<5x3x3x3xf32> {gawee.parameter = "w"}, %t: tensor<1x5x1xf32> {gawee.parameter = "t"}) -> tensor<?x5x64xf32> {
  %0 = gawee.conv %x, %w strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<?x3x9x7xf32>, tensor<5x3x3x3xf32>) -> tensor<?x5x9x7xf32>
  %1 = gawee.reshape %0 shape ["batch", 5, 63] : (tensor<?x5x9x7xf32>) -> tensor<?x5x63xf32>
  %2 = gawee.broadcast_to %t shape ["batch", 5, 1] : (tensor<1x5x1xf32>) -> tensor<?x5x1xf32>
  %3 = gawee.cat %2, %1 dim 2 : (tensor<?x5x1xf32>, tensor<?x5x63xf32>) -> tensor<?x5x64xf32>
  func.return %3 : tensor<?x5x64xf32>
}

// -----

// A batch is looked at for a number that it may have.
// CHECK-LABEL: func.func @main
// CHECK:         gawee.scan steps "batch"
func.func @main(%x: tensor<?x3x9x7xf32> {gawee.input = "x", gawee.sizes = ["batch", "-", "-", "-"]}, %w: tensor<5x3x3x3xf32> {gawee.parameter = "w"}) -> tensor<?x5x9x7xf32>
    attributes {gawee.ranges = {batch = "16 to 32"}} {
  %0 = gawee.conv %x, %w strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<?x3x9x7xf32>, tensor<5x3x3x3xf32>) -> tensor<?x5x9x7xf32>
  func.return %0 : tensor<?x5x9x7xf32>
}
