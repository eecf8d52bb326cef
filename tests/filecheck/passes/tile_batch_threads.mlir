// RUN: gawee-opt -p 'tile-batch{images=1 threads=2}' %s | filecheck %s
// RUN: gawee-opt -p 'tile-batch{images=1 threads=2},gawee-to-kernels{target=skylake-avx512 num-threads=2 algorithms=exact}' %s | filecheck %s --check-prefix KERNELS
// RUN: gawee-opt -p 'tile-batch{images=1},gawee-to-kernels{target=skylake-avx512 num-threads=2 algorithms=exact}' %s | filecheck %s --check-prefix ONE-PART
// RUN: gawee-opt -p 'tile-batch{images=1 threads=2},gawee-to-kernels{target=skylake-avx512 num-threads=2},bufferize,outline-kernels' %s | filecheck %s --check-prefix OUTLINED
// RUN: gawee-opt -p 'tile-batch{images=7 threads=2}' %s | filecheck %s --check-prefix WHOLE
// RUN: gawee-opt -p 'tile-batch{images=1 threads=9}' %s | filecheck %s --check-prefix FEW

// CHECK-LABEL: func.func @main
// CHECK:         gawee.scan steps 7
// CHECK:         } -> tensor<7x1x48x23x21xf32> {gawee.batch, gawee.threads = 2 : i64}

// A kernel of a part is run by one thread; where all threads compute one part, they share it.
// KERNELS-LABEL: func.func @main
// KERNELS:         scf.for
// KERNELS:           schedule
// KERNELS-NOT:       parallel =
// KERNELS:         } {gawee.scan, gawee.batch, gawee.threads = 2 : i64}

// ONE-PART-LABEL: func.func @main
// ONE-PART:         scf.for
// ONE-PART:           parallel = {{[12]}}
// ONE-PART:         } {gawee.scan, gawee.batch}

// OUTLINED:    } {gawee.scan, gawee.batch, gawee.threads = 2 : i64}

// WHOLE-NOT: gawee.scan

// There are no more threads than parts.
// FEW: {gawee.batch, gawee.threads = 7 : i64}
func.func @main(%x: tensor<7x32x23x21xf32>, %v: tensor<48x32x3x3xf32> {gawee.parameter = "v"}) -> tensor<7x48x23x21xf32> {
  %0 = gawee.conv %x, %v strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<7x32x23x21xf32>, tensor<48x32x3x3xf32>) -> tensor<7x48x23x21xf32>
  func.return %0 : tensor<7x48x23x21xf32>
}
