// RUN: gawee-opt -p 'tile-batch{images=2},gawee-to-kernels{target=skylake-avx512 num-threads=1 algorithms=exact}' %s | filecheck %s --check-prefix KERNELS
// RUN: gawee-opt -p 'tile-batch{images=2},gawee-to-kernels{target=skylake-avx512 num-threads=1 algorithms=exact},bufferize,outline-kernels' %s | filecheck %s --check-prefix OUTLINED

// Kernels of a part have layouts, halos and schedules as those of a whole batch have; weights are packed once.
// KERNELS-LABEL: func.func @prepare
// KERNELS:         gawee.kernel
// KERNELS-LABEL: func.func @main
// KERNELS:         scf.for
// KERNELS:           } schedule {{.*}} : tensor<2x2x11x9x16xf32>
// KERNELS:           gawee.kernel {{.*}} ins({{.*}} : tensor<2x2x11x9x16xf32>, tensor<2x2x3x3x16x16xf32>)
// KERNELS:           } schedule {{.*}} : tensor<2x3x9x7x8xf32>
// KERNELS:         } {gawee.scan, gawee.batch}

// A kernel of a part is a function, and its buffer is new for each part; the last one writes the output.
// OUTLINED-LABEL: func.func @main
// OUTLINED-NOT:     memref.alloc
// OUTLINED:         scf.for %[[PART:.*]] = %{{.*}} to %{{.*}} step
// OUTLINED-NEXT:      %[[ONE:.*]] = memref.alloc()
// OUTLINED-NEXT:      func.call @matmul_0(%x, %[[PART]], %{{.*}}, %[[ONE]])
// OUTLINED-NEXT:      %[[TWO:.*]] = memref.alloc()
// OUTLINED-NEXT:      func.call @conv_0(%[[ONE]], %{{.*}}, %[[TWO]])
// OUTLINED-NEXT:      func.call @copy_2(%[[TWO]], %output0, %[[PART]])
// OUTLINED-NEXT:    } {gawee.scan, gawee.batch}
// OUTLINED-NEXT:    func.return
func.func @main(%x: tensor<6x3x9x7xf32>, %w: tensor<32x3x1x1xf32> {gawee.parameter = "w"}, %v: tensor<24x32x3x3xf32> {gawee.parameter = "v"}) -> tensor<6x24x9x7xf32> {
  %0 = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<6x3x9x7xf32>, tensor<32x3x1x1xf32>) -> tensor<6x32x9x7xf32>
  %1 = gawee.conv %0, %v strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x32x9x7xf32>, tensor<24x32x3x3xf32>) -> tensor<6x24x9x7xf32>
  func.return %1 : tensor<6x24x9x7xf32>
}
