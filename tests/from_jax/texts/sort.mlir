module @jit_sorted_pairs {
  func.func public @main(%arg0: tensor<3x11xf32>, %arg1: tensor<3x11xf32>) -> (tensor<3x11xf32>, tensor<3x11xf32>) {
    %c2147483647_i32 = arith.constant 2147483647 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant 0x7FC00000 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %0:2 = iree_linalg_ext.sort dimension(1) outs(%arg0, %arg1 : tensor<3x11xf32>, tensor<3x11xf32>) {
    ^bb0(%arg2: f32, %arg3: f32, %arg4: f32, %arg5: f32):
      %1 = arith.cmpf oeq, %arg2, %cst_0 : f32
      %2 = arith.select %1, %cst_0, %arg2 : f32
      %3 = arith.cmpf une, %arg2, %arg2 : f32
      %4 = arith.select %3, %cst, %2 : f32
      %5 = arith.cmpf oeq, %arg3, %cst_0 : f32
      %6 = arith.select %5, %cst_0, %arg3 : f32
      %7 = arith.cmpf une, %arg3, %arg3 : f32
      %8 = arith.select %7, %cst, %6 : f32
      %9 = arith.bitcast %4 : f32 to i32
      %10 = arith.cmpi slt, %9, %c0_i32 : i32
      %11 = arith.subi %c2147483647_i32, %9 : i32
      %12 = arith.select %10, %11, %9 : i32
      %13 = arith.bitcast %8 : f32 to i32
      %14 = arith.cmpi slt, %13, %c0_i32 : i32
      %15 = arith.subi %c2147483647_i32, %13 : i32
      %16 = arith.select %14, %15, %13 : i32
      %17 = arith.cmpi slt, %12, %16 : i32
      iree_linalg_ext.yield %17 : i1
    } -> tensor<3x11xf32>, tensor<3x11xf32>
    return %0#0, %0#1 : tensor<3x11xf32>, tensor<3x11xf32>
  }
}

