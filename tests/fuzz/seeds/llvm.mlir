builtin.module {
  llvm.func @main(%x: !llvm.ptr {gawee.input = "x", gawee.type = memref<3x5xf32>, llvm.noalias, llvm.align = 4 : i64, llvm.nonnull, llvm.dereferenceable = 60 : i64}, %y: !llvm.ptr {gawee.output = "y", gawee.type = memref<3xf32>, llvm.noalias, llvm.align = 4 : i64, llvm.nonnull, llvm.dereferenceable = 12 : i64}, %workspace: !llvm.ptr {gawee.workspace, gawee.type = memref<64xi8>, llvm.noalias, llvm.align = 64 : i64, llvm.nonnull, llvm.dereferenceable = 64 : i64}) {
    %0 = llvm.mlir.constant(0) : i64
    llvm.call @generic_0(%workspace, %x, %y) : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    llvm.return
  }
  llvm.func @main_packed(%args: !llvm.ptr {llvm.noalias, llvm.readonly}) {
    %1 = llvm.getelementptr inbounds %args[0] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %x_1 = llvm.load %1 : !llvm.ptr -> !llvm.ptr
    %2 = llvm.getelementptr inbounds %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %y_1 = llvm.load %2 : !llvm.ptr -> !llvm.ptr
    %3 = llvm.getelementptr inbounds %args[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %workspace_1 = llvm.load %3 : !llvm.ptr -> !llvm.ptr
    llvm.call @main(%x_1, %y_1, %workspace_1) : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    llvm.return
  }
  llvm.func internal @generic_0(%m: !llvm.ptr {llvm.noalias, llvm.align = 4 : i64, llvm.nonnull, llvm.dereferenceable = 12 : i64}, %x_2: !llvm.ptr {llvm.noalias, llvm.align = 4 : i64, llvm.nonnull, llvm.dereferenceable = 60 : i64, llvm.readonly}, %y_2: !llvm.ptr {llvm.noalias, llvm.align = 4 : i64, llvm.nonnull, llvm.dereferenceable = 12 : i64}) attributes {passthrough = ["noinline"]} {
    %c5 = llvm.mlir.constant(5) : i64
    %c3 = llvm.mlir.constant(3) : i64
    %c1 = llvm.mlir.constant(1) : i64
    %c0 = llvm.mlir.constant(0) : i64
    %m_1 = llvm.mlir.constant(0.000000e+00 : f32) : f32
    %4 = llvm.mlir.constant(5.000000e+00 : f32) : f32
    llvm.br ^bb1(%c0 : i64)
  ^bb1(%d0: i64):
    %5 = llvm.icmp "slt" %d0, %c3 : i64
    llvm.cond_br %5, ^bb2, ^bb3
  ^bb2:
    %6 = llvm.getelementptr inbounds %m[%d0] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %m_1, %6 : f32, !llvm.ptr
    %7 = llvm.add %d0, %c1 overflow<nsw> : i64
    llvm.br ^bb1(%7 : i64)
  ^bb3:
    llvm.br ^bb4(%c0 : i64)
  ^bb4(%d0_1: i64):
    %8 = llvm.icmp "slt" %d0_1, %c3 : i64
    llvm.cond_br %8, ^bb5, ^bb9
  ^bb5:
    %9 = llvm.getelementptr inbounds %m[%d0_1] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %10 = llvm.load %9 : !llvm.ptr -> f32
    llvm.br ^bb6(%c0, %10 : i64, f32)
  ^bb6(%d1: i64, %11: f32):
    %12 = llvm.icmp "slt" %d1, %c5 : i64
    llvm.cond_br %12, ^bb7, ^bb8
  ^bb7:
    %13 = llvm.mul %d0_1, %c5 overflow<nsw> : i64
    %14 = llvm.add %13, %d1 overflow<nsw> : i64
    %15 = llvm.getelementptr inbounds %x_2[%14] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %16 = llvm.load %15 : !llvm.ptr -> f32
    %17 = llvm.fadd %11, %16 : f32
    %18 = llvm.add %d1, %c1 overflow<nsw> : i64
    llvm.br ^bb6(%18, %17 : i64, f32)
  ^bb8:
    %19 = llvm.getelementptr inbounds %m[%d0_1] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %11, %19 : f32, !llvm.ptr
    %20 = llvm.add %d0_1, %c1 overflow<nsw> : i64
    llvm.br ^bb4(%20 : i64)
  ^bb9:
    llvm.br ^bb10(%c0 : i64)
  ^bb10(%d0_2: i64):
    %21 = llvm.icmp "slt" %d0_2, %c3 : i64
    llvm.cond_br %21, ^bb11, ^bb12
  ^bb11:
    %22 = llvm.getelementptr inbounds %m[%d0_2] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %23 = llvm.load %22 : !llvm.ptr -> f32
    %24 = llvm.fdiv %23, %4 : f32
    %25 = llvm.getelementptr inbounds %y_2[%d0_2] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %24, %25 : f32, !llvm.ptr
    %26 = llvm.add %d0_2, %c1 overflow<nsw> : i64
    llvm.br ^bb10(%26 : i64)
  ^bb12:
    llvm.return
  }
}
