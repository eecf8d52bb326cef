"builtin.module"() ({
  "llvm.func"() <{arg_attrs = [{gawee.input = "x", gawee.type = memref<3x5xf32>, llvm.noalias, llvm.align = 4 : i64, llvm.nonnull, llvm.dereferenceable = 60 : i64}, {gawee.output = "y", gawee.type = memref<3xf32>, llvm.noalias, llvm.align = 4 : i64, llvm.nonnull, llvm.dereferenceable = 12 : i64}, {gawee.workspace, gawee.type = memref<64xi8>, llvm.noalias, llvm.align = 64 : i64, llvm.nonnull, llvm.dereferenceable = 64 : i64}], unnamed_addr = 0 : i64, sym_name = "main", function_type = !llvm.func<void (!llvm.ptr, !llvm.ptr, !llvm.ptr)>, CConv = #llvm.cconv<ccc>, linkage = #llvm.linkage<"external">, visibility_ = 0 : i64}> ({
  ^bb0(%x: !llvm.ptr, %y: !llvm.ptr, %workspace: !llvm.ptr):
    %0 = "llvm.mlir.constant"() <{value = 0 : i64}> : () -> i64
    "llvm.call"(%workspace, %x, %y) <{fastmathFlags = #llvm.fastmath<none>, CConv = #llvm.cconv<ccc>, TailCallKind = #llvm.tailcallkind<none>, op_bundle_sizes = array<i32>, operandSegmentSizes = array<i32: 3, 0>, callee = @generic_0}> : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    "llvm.return"() : () -> ()
  }) : () -> ()
  "llvm.func"() <{arg_attrs = [{llvm.noalias, llvm.readonly}], unnamed_addr = 0 : i64, sym_name = "main_packed", function_type = !llvm.func<void (!llvm.ptr)>, CConv = #llvm.cconv<ccc>, linkage = #llvm.linkage<"external">, visibility_ = 0 : i64}> ({
  ^bb0(%args: !llvm.ptr):
    %1 = "llvm.getelementptr"(%args) <{rawConstantIndices = array<i32: 0>, elem_type = !llvm.ptr, noWrapFlags = 0 : i32, inbounds}> : (!llvm.ptr) -> !llvm.ptr
    %x_1 = "llvm.load"(%1) <{ordering = 0 : i64}> : (!llvm.ptr) -> !llvm.ptr
    %2 = "llvm.getelementptr"(%args) <{rawConstantIndices = array<i32: 1>, elem_type = !llvm.ptr, noWrapFlags = 0 : i32, inbounds}> : (!llvm.ptr) -> !llvm.ptr
    %y_1 = "llvm.load"(%2) <{ordering = 0 : i64}> : (!llvm.ptr) -> !llvm.ptr
    %3 = "llvm.getelementptr"(%args) <{rawConstantIndices = array<i32: 2>, elem_type = !llvm.ptr, noWrapFlags = 0 : i32, inbounds}> : (!llvm.ptr) -> !llvm.ptr
    %workspace_1 = "llvm.load"(%3) <{ordering = 0 : i64}> : (!llvm.ptr) -> !llvm.ptr
    "llvm.call"(%x_1, %y_1, %workspace_1) <{fastmathFlags = #llvm.fastmath<none>, CConv = #llvm.cconv<ccc>, TailCallKind = #llvm.tailcallkind<none>, op_bundle_sizes = array<i32>, operandSegmentSizes = array<i32: 3, 0>, callee = @main}> : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    "llvm.return"() : () -> ()
  }) : () -> ()
  "llvm.func"() <{arg_attrs = [{llvm.noalias, llvm.align = 4 : i64, llvm.nonnull, llvm.dereferenceable = 12 : i64}, {llvm.noalias, llvm.align = 4 : i64, llvm.nonnull, llvm.dereferenceable = 60 : i64, llvm.readonly}, {llvm.noalias, llvm.align = 4 : i64, llvm.nonnull, llvm.dereferenceable = 12 : i64}], unnamed_addr = 0 : i64, sym_name = "generic_0", function_type = !llvm.func<void (!llvm.ptr, !llvm.ptr, !llvm.ptr)>, CConv = #llvm.cconv<ccc>, linkage = #llvm.linkage<"internal">, visibility_ = 0 : i64}> ({
  ^bb0(%m: !llvm.ptr, %x_2: !llvm.ptr, %y_2: !llvm.ptr):
    %c5 = "llvm.mlir.constant"() <{value = 5 : i64}> : () -> i64
    %c3 = "llvm.mlir.constant"() <{value = 3 : i64}> : () -> i64
    %c1 = "llvm.mlir.constant"() <{value = 1 : i64}> : () -> i64
    %c0 = "llvm.mlir.constant"() <{value = 0 : i64}> : () -> i64
    %m_1 = "llvm.mlir.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
    %4 = "llvm.mlir.constant"() <{value = 5.000000e+00 : f32}> : () -> f32
    "llvm.br"(%c0) [^bb1] : (i64) -> ()
  ^bb1(%d0: i64):
    %5 = "llvm.icmp"(%d0, %c3) <{predicate = 2 : i64}> : (i64, i64) -> i1
    "llvm.cond_br"(%5) [^bb2, ^bb3] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
  ^bb2:
    %6 = "llvm.getelementptr"(%m, %d0) <{rawConstantIndices = array<i32: -2147483648>, elem_type = f32, noWrapFlags = 0 : i32, inbounds}> : (!llvm.ptr, i64) -> !llvm.ptr
    "llvm.store"(%m_1, %6) <{ordering = 0 : i64}> : (f32, !llvm.ptr) -> ()
    %7 = "llvm.add"(%d0, %c1) <{overflowFlags = 1 : i32}> : (i64, i64) -> i64
    "llvm.br"(%7) [^bb1] : (i64) -> ()
  ^bb3:
    "llvm.br"(%c0) [^bb4] : (i64) -> ()
  ^bb4(%d0_1: i64):
    %8 = "llvm.icmp"(%d0_1, %c3) <{predicate = 2 : i64}> : (i64, i64) -> i1
    "llvm.cond_br"(%8) [^bb5, ^bb9] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
  ^bb5:
    %9 = "llvm.getelementptr"(%m, %d0_1) <{rawConstantIndices = array<i32: -2147483648>, elem_type = f32, noWrapFlags = 0 : i32, inbounds}> : (!llvm.ptr, i64) -> !llvm.ptr
    %10 = "llvm.load"(%9) <{ordering = 0 : i64}> : (!llvm.ptr) -> f32
    "llvm.br"(%c0, %10) [^bb6] : (i64, f32) -> ()
  ^bb6(%d1: i64, %11: f32):
    %12 = "llvm.icmp"(%d1, %c5) <{predicate = 2 : i64}> : (i64, i64) -> i1
    "llvm.cond_br"(%12) [^bb7, ^bb8] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
  ^bb7:
    %13 = "llvm.mul"(%d0_1, %c5) <{overflowFlags = 1 : i32}> : (i64, i64) -> i64
    %14 = "llvm.add"(%13, %d1) <{overflowFlags = 1 : i32}> : (i64, i64) -> i64
    %15 = "llvm.getelementptr"(%x_2, %14) <{rawConstantIndices = array<i32: -2147483648>, elem_type = f32, noWrapFlags = 0 : i32, inbounds}> : (!llvm.ptr, i64) -> !llvm.ptr
    %16 = "llvm.load"(%15) <{ordering = 0 : i64}> : (!llvm.ptr) -> f32
    %17 = "llvm.fadd"(%11, %16) <{fastmathFlags = #llvm.fastmath<none>}> : (f32, f32) -> f32
    %18 = "llvm.add"(%d1, %c1) <{overflowFlags = 1 : i32}> : (i64, i64) -> i64
    "llvm.br"(%18, %17) [^bb6] : (i64, f32) -> ()
  ^bb8:
    %19 = "llvm.getelementptr"(%m, %d0_1) <{rawConstantIndices = array<i32: -2147483648>, elem_type = f32, noWrapFlags = 0 : i32, inbounds}> : (!llvm.ptr, i64) -> !llvm.ptr
    "llvm.store"(%11, %19) <{ordering = 0 : i64}> : (f32, !llvm.ptr) -> ()
    %20 = "llvm.add"(%d0_1, %c1) <{overflowFlags = 1 : i32}> : (i64, i64) -> i64
    "llvm.br"(%20) [^bb4] : (i64) -> ()
  ^bb9:
    "llvm.br"(%c0) [^bb10] : (i64) -> ()
  ^bb10(%d0_2: i64):
    %21 = "llvm.icmp"(%d0_2, %c3) <{predicate = 2 : i64}> : (i64, i64) -> i1
    "llvm.cond_br"(%21) [^bb11, ^bb12] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
  ^bb11:
    %22 = "llvm.getelementptr"(%m, %d0_2) <{rawConstantIndices = array<i32: -2147483648>, elem_type = f32, noWrapFlags = 0 : i32, inbounds}> : (!llvm.ptr, i64) -> !llvm.ptr
    %23 = "llvm.load"(%22) <{ordering = 0 : i64}> : (!llvm.ptr) -> f32
    %24 = "llvm.fdiv"(%23, %4) <{fastmathFlags = #llvm.fastmath<none>}> : (f32, f32) -> f32
    %25 = "llvm.getelementptr"(%y_2, %d0_2) <{rawConstantIndices = array<i32: -2147483648>, elem_type = f32, noWrapFlags = 0 : i32, inbounds}> : (!llvm.ptr, i64) -> !llvm.ptr
    "llvm.store"(%24, %25) <{ordering = 0 : i64}> : (f32, !llvm.ptr) -> ()
    %26 = "llvm.add"(%d0_2, %c1) <{overflowFlags = 1 : i32}> : (i64, i64) -> i64
    "llvm.br"(%26) [^bb10] : (i64) -> ()
  ^bb12:
    "llvm.return"() : () -> ()
  }) {passthrough = ["noinline"]} : () -> ()
}) : () -> ()
