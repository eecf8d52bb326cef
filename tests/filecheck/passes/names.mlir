// Results have the name of the node that does the work, constants that of their value.
// RUN: gawee-opt %s -p fold-batch-norm,fold-conv-add | filecheck %s --check-prefix FOLD
// RUN: gawee-opt %s --gawee-to-linalg | filecheck %s --check-prefix LINALG
// RUN: gawee-opt %s --gawee-to-linalg -p form-kernels | filecheck %s --check-prefix FUSE
// RUN: gawee-opt %s --gawee-to-linalg -p 'form-kernels,convert-to-winograd{target=skylake-avx512}' | filecheck %s --check-prefix WINOGRAD
// RUN: gawee-opt %s --gawee-to-linalg -p 'form-kernels,convert-to-winograd{target=skylake-avx512},assign-layouts{target=skylake-avx512},assign-schedules{target=skylake-avx512}' | filecheck %s --check-prefix LAYOUT
// RUN: gawee-opt %s --gawee-to-linalg -p 'form-kernels,convert-to-winograd{target=skylake-avx512},assign-layouts{target=skylake-avx512},hoist-parameter-computation,bufferize,outline-kernels,plan-memory' | filecheck %s --check-prefix BUFFER

// RUN: gawee-opt %s --check-indices --gawee-to-linalg -p form-kernels | filecheck %s --check-prefix INDICES

// FOLD-LABEL:   func.func @main
// FOLD:           %weight1_folded, %{{.*}} = gawee.fold_batch_norm
// FOLD:           %conv1 = gawee.conv
// FOLD-NEXT:      %relu1 = gawee.relu %conv1
// FOLD:           %conv2 = gawee.conv %relu1, %weight2 bias
// FOLD-NEXT:      %relu2 = gawee.relu %conv2

// LINALG-LABEL: func.func @main
// LINALG-DAG:     %c0.0 = arith.constant 0.000000e+00 : f32
// LINALG-DAG:     %conv1_padded = tensor.pad
// LINALG-DAG:     %conv1_init = tensor.empty()
// LINALG-DAG:     %conv1 = linalg.conv_2d_nchw_fchw {{.*}} ins(%conv1_padded, %weight1_folded :
// LINALG-DAG:     %relu1 = linalg.generic {{.*}} ins(%conv1 :
// LINALG-DAG:     %conv2 = linalg.conv_2d_nchw_fchw
// LINALG-DAG:     %relu2 = linalg.generic {{.*}} ins(%conv2 :
// LINALG-DAG:     %c-inf = arith.constant 0xff800000 : f32
// LINALG-DAG:     %pool_init{{.*}} = linalg.fill ins(%c-inf
// LINALG-DAG:     %pool = linalg.pooling_nchw_max {{.*}} ins(%pool_padded
// LINALG-DAG:     %scaled = linalg.{{.*}} ins(%gelu,

// A kernel that computes relu1 and pads for the next one is still conv1; one of a gelu and a
// product is the gelu; a sum that is stored transposed is the sum.
// FUSE-LABEL:   func.func @main
// FUSE:           %conv1_padded = gawee.kernel parallel [1, 64, 56, 56] ins(%x :
// FUSE:           %conv1 = gawee.kernel parallel [1, 64, 56, 56] reduce [64, 3, 3] ins(%conv1_padded,
// FUSE:             %c0.0 = arith.constant 0.000000e+00 : f32
// FUSE:             } : tensor<1x64x58x58xf32>
// FUSE:           %conv2 = gawee.kernel parallel [1, 64, 56, 56] reduce [64, 3, 3] ins(%conv1,
// FUSE:           %pool = gawee.kernel parallel [1, 64, 28, 28] reduce [3, 3] ins(%conv2 :
// FUSE:           %gelu = gawee.kernel parallel [5, 3] ins(%z, %y :
// FUSE:           %sum = gawee.kernel parallel [3, 5] ins(%y, %z :
// FUSE:           return %pool, %gelu, %sum

// WINOGRAD-LABEL: func.func @main
// WINOGRAD:         %weight_transform = arith.constant dense<
// WINOGRAD:         %conv1 = "gawee.winograd"(
// WINOGRAD:         %conv2 = {{.*}}%conv1,
// WINOGRAD:         %pool = gawee.kernel parallel [1, 64, 28, 28] reduce [3, 3] ins(%conv2 :

// LAYOUT-LABEL: func.func @main
// LAYOUT:         %conv1 = "gawee.winograd"(
// LAYOUT:         : (tensor<{{.*}}>) -> tensor<1x4x58x58x16xf32>
// LAYOUT:         %conv2 = {{.*}}%conv1,
// LAYOUT:         %pool = gawee.kernel parallel [1, 64, 28, 28] reduce [3, 3] ins(%conv2 : tensor<1x4x57x57x16xf32>)

// BUFFER-LABEL: func.func @main
// BUFFER:         %c{{[0-9]+}} = arith.constant {{[0-9]+}} : index
// BUFFER:         %conv1 = memref.view %workspace
// BUFFER:         func.call @winograd_0({{.*}}, %conv1)
// BUFFER:         %conv2 = memref.view %workspace
// BUFFER:         %pool = memref.view %workspace
// BUFFER:         func.call @pool_0(%conv2, %pool)
func.func @main(%x: tensor<1x64x56x56xf32> {gawee.input = "x"}, %y: tensor<5x3xf32> {gawee.input = "y"}, %z: tensor<5x3xf32> {gawee.input = "z"}, %weight1: tensor<64x64x3x3xf32> {gawee.parameter = "weight1"}, %mean: tensor<64xf32> {gawee.parameter = "mean"}, %variance: tensor<64xf32> {gawee.parameter = "variance"}, %weight2: tensor<64x64x3x3xf32> {gawee.parameter = "weight2"}, %shift: tensor<64x1x1xf32> {gawee.parameter = "shift"}) -> (tensor<1x64x28x28xf32> {gawee.output = "a"}, tensor<5x3xf32> {gawee.output = "b"}, tensor<3x5xf32> {gawee.output = "c"}) {
  %conv1 = gawee.conv %x, %weight1 strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32> loc("conv1")
  %bn = gawee.batch_norm %conv1 mean %mean variance %variance eps 1.0e-5 : tensor<1x64x56x56xf32>, tensor<64xf32> loc("bn")
  %relu1 = gawee.relu %bn : (tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32> loc("relu1")
  %conv2 = gawee.conv %relu1, %weight2 strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32> loc("conv2")
  %shifted = gawee.add %conv2, %shift : (tensor<1x64x56x56xf32>, tensor<64x1x1xf32>) -> tensor<1x64x56x56xf32> loc("shifted")
  %relu2 = gawee.relu %shifted : (tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32> loc("relu2")
  %pool = gawee.max_pool %relu2 kernel [3, 3] strides [2, 2] padding [1, 1, 1, 1] dilations [1, 1] ceil_mode false : (tensor<1x64x56x56xf32>) -> tensor<1x64x28x28xf32> loc("pool")
  %gelu = gawee.gelu %y approximate "none" : (tensor<5x3xf32>) -> tensor<5x3xf32> loc("gelu")
  %scaled = gawee.mul %gelu, %z : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32> loc("scaled")
  %sum = gawee.add %y, %z : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32> loc("sum")
  %turned = gawee.transpose %sum permutation [1, 0] : (tensor<5x3xf32>) -> tensor<3x5xf32> loc("turned")
  return %pool, %scaled, %turned : tensor<1x64x28x28xf32>, tensor<5x3xf32>, tensor<3x5xf32>
}

// INDICES-LABEL: func.func @indices
// INDICES:         %rows_indices = gawee.kernel parallel [4] ins(%i :
// INDICES:         %rows_largest_index = gawee.kernel parallel [] reduce [4] ins(%i :
// INDICES:         %rows = linalg.generic {{.*}} ins(%rows_indices :
func.func @indices(%x: tensor<5x3xf32>, %i: tensor<4xi64>) -> tensor<4x3xf32> {
  %rows = gawee.gather %x, %i axis 0 : (tensor<5x3xf32>, tensor<4xi64>) -> tensor<4x3xf32> loc("rows")
  return %rows : tensor<4x3xf32>
}
