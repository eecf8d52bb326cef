// REQUIRES: mlir-opt
// RUN: gawee-opt --gawee-to-linalg --annotate-cost=target=apple-m1 %s | mlir-opt | filecheck %s --check-prefix=TENSORS
// RUN: gawee-opt --gawee-to-linalg --bufferize --outline-kernels --plan-memory --annotate-cost=target=skylake-avx512 %s | mlir-opt | filecheck %s --check-prefix=BUFFERS
// RUN: gawee-opt --gawee-to-loops --annotate-cost=target=generic-avx2 %s | mlir-opt | filecheck %s --check-prefix=LOOPS

// Stock mlir-opt takes the attribute and prints it again, its entries in alphabetical order.
// The convolution reads 84 + 54 floats, and reads and writes 60 that it accumulates into.
// TENSORS:     linalg.conv_2d_nchw_fchw {{.*}}gawee.cost = {bytes = 1032 : i64, flops = 2160 : i64, intensity = {{.*}} : f64, predicted_us = {{.*}} : f64}
// TENSORS:     linalg.generic {{.*}} attrs = {gawee.cost = {bytes = 480 : i64, flops = 60 : i64,

// BUFFERS:     call @{{.*}} {gawee.cost = {bytes = {{.*}}, flops = 2160 : i64,
// BUFFERS:     call @{{.*}} {gawee.cost = {bytes = 480 : i64, flops = 60 : i64,
// BUFFERS:     linalg.conv_2d_nchw_fchw {{.*}}gawee.cost = {bytes = 1032 : i64, flops = 2160 : i64,

// LOOPS:       call @{{.*}} {gawee.cost = {bytes = {{.*}}, flops = 2160 : i64,
// LOOPS:       scf.for
// LOOPS:       } {gawee.cost = {bytes = 1032 : i64, flops = 2160 : i64,
func.func @main(%x: tensor<1x2x6x7xf32>, %w: tensor<3x2x3x3xf32> {gawee.parameter = "w"}, %b: tensor<3xf32> {gawee.parameter = "b"}) -> tensor<1x3x4x5xf32> {
  %y = gawee.conv %x, %w bias %b strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1x2x6x7xf32>, tensor<3x2x3x3xf32>, tensor<3xf32>) -> tensor<1x3x4x5xf32>
  %z = gawee.relu %y : (tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32>
  func.return %z : tensor<1x3x4x5xf32>
}
