// RUN: gawee-opt --linalg-generalize-named-ops --split-input-file %s | filecheck %s --check-prefix=GENERIC
// RUN: gawee-opt --convert-linalg-to-loops --split-input-file %s | filecheck %s --check-prefix=LOOPS

// GENERIC-LABEL: func.func @max_pool_combines_the_input_with_the_accumulator
// GENERIC:       linalg.generic
// GENERIC-NEXT:  ^bb0(%[[IN:.*]]: f32, %[[WINDOW:.*]]: f32, %[[OUT:.*]]: f32):
// GENERIC-NEXT:    arith.maximumf %[[OUT]], %[[IN]] : f32

// LOOPS-LABEL:   func.func @max_pool_combines_the_input_with_the_accumulator
// LOOPS-COUNT-6: scf.for
// LOOPS:         arith.maximumf
func.func @max_pool_combines_the_input_with_the_accumulator(%x: memref<2x3x9x8xf32>, %window: memref<3x2xf32>, %out: memref<2x3x4x7xf32>) {
  linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>} ins(%x, %window : memref<2x3x9x8xf32>, memref<3x2xf32>) outs(%out : memref<2x3x4x7xf32>)
  return
}

// -----

// GENERIC-LABEL: func.func @transposed_matmul_keeps_its_maps
// GENERIC:       linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}

// LOOPS-LABEL:   func.func @transposed_matmul_keeps_its_maps
// LOOPS:         scf.for %[[M:.*]] =
// LOOPS:         scf.for %[[N:.*]] =
// LOOPS:         scf.for %[[K:.*]] =
// LOOPS:         memref.load %b[%[[N]], %[[K]]] : memref<7x8xf32>
func.func @transposed_matmul_keeps_its_maps(%a: memref<5x8xf32>, %b: memref<7x8xf32>, %c: memref<5x7xf32>) {
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : memref<5x8xf32>, memref<7x8xf32>) outs(%c : memref<5x7xf32>)
  return
}

// -----

// GENERIC-LABEL: func.func @depthwise_conv_reduces_over_the_kernel_alone
// GENERIC:       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]

// LOOPS-LABEL:   func.func @depthwise_conv_reduces_over_the_kernel_alone
// LOOPS-COUNT-6: scf.for
// LOOPS:         arith.mulf
func.func @depthwise_conv_reduces_over_the_kernel_alone(%x: memref<2x4x9x7xf32>, %w: memref<4x3x2xf32>, %out: memref<2x4x7x6xf32>) {
  linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %w : memref<2x4x9x7xf32>, memref<4x3x2xf32>) outs(%out : memref<2x4x7x6xf32>)
  return
}
