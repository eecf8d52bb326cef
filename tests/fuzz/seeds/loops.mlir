builtin.module {
  "memref.global"() <{sym_name = "constant_3", type = memref<i64>, initial_value = dense<-9223372036854775804> : tensor<i64>, sym_visibility = "private", constant, alignment = 64 : i64}> : () -> ()
  "memref.global"() <{sym_name = "constant_2", type = memref<i64>, initial_value = dense<3> : tensor<i64>, sym_visibility = "private", constant, alignment = 64 : i64}> : () -> ()
  "memref.global"() <{sym_name = "constant_1", type = memref<i64>, initial_value = dense<-4> : tensor<i64>, sym_visibility = "private", constant, alignment = 64 : i64}> : () -> ()
  "memref.global"() <{sym_name = "constant_0", type = memref<4xf32>, initial_value = dense<[1.000000e+00, -2.000000e+00, 5.000000e-01, 2.500000e-01]> : tensor<4xf32>, sym_visibility = "private", constant, alignment = 64 : i64}> : () -> ()
  func.func @main(%x: memref<2x3x7x5xf32> {gawee.input = "x"}, %w: memref<4x3x3x2xf32> {gawee.parameter = "conv.weight"}, %i: memref<6xi64> {gawee.input = "i"}, %y: memref<2x4x6xf32> {gawee.output = "y"}, %output1: memref<i64> {gawee.indices = {op = "gawee.gather", axes = array<i64: 2>, sizes = array<i64: 4>, place = "net.mlir:9:3"}}, %workspace: memref<1600xi8> {gawee.workspace}) {
    %0 = arith.constant 0 : index
    %c = memref.view %workspace[%0][] : memref<1600xi8> to memref<2x3x9x5xf32>
    %1 = arith.constant 1088 : index
    %c_1 = memref.view %workspace[%1][] : memref<1600xi8> to memref<2x4x4x4xf32>
    func.call @conv_2d_nchw_fchw_0(%c, %x, %c_1, %w) : (memref<2x3x9x5xf32>, memref<2x3x7x5xf32>, memref<2x4x4x4xf32>, memref<4x3x3x2xf32>) -> ()
    %r = memref.view %workspace[%0][] : memref<1600xi8> to memref<2x4x4x4xf32>
    func.call @generic_0(%c_1, %r) : (memref<2x4x4x4xf32>, memref<2x4x4x4xf32>) -> ()
    %2 = arith.constant 512 : index
    %m = memref.view %workspace[%2][] : memref<1600xi8> to memref<2x4x4xf32>
    %3 = arith.constant 640 : index
    %m_1 = memref.view %workspace[%3][] : memref<1600xi8> to memref<2x4x4xf32>
    func.call @generic_1(%m, %r, %m_1) : (memref<2x4x4xf32>, memref<2x4x4x4xf32>, memref<2x4x4xf32>) -> ()
    %4 = memref.view %workspace[%0][] : memref<1600xi8> to memref<6xi64>
    %5 = arith.constant 64 : index
    %6 = memref.view %workspace[%5][] : memref<1600xi8> to memref<6xi64>
    %7 = arith.constant 128 : index
    %8 = memref.view %workspace[%7][] : memref<1600xi8> to memref<6xi64>
    func.call @generic_2(%i, %4, %6, %8, %output1, %y, %m_1) : (memref<6xi64>, memref<6xi64>, memref<6xi64>, memref<6xi64>, memref<i64>, memref<2x4x6xf32>, memref<2x4x4xf32>) -> ()
    func.return
  }
  func.func private @conv_2d_nchw_fchw_0(%c: memref<2x3x9x5xf32>, %x: memref<2x3x7x5xf32>, %c_1: memref<2x4x4x4xf32>, %w: memref<4x3x3x2xf32>) {
    %c4 = arith.constant 4 : index
    %c7 = arith.constant 7 : index
    %c5 = arith.constant 5 : index
    %c9 = arith.constant 9 : index
    %c3 = arith.constant 3 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c_2 = arith.constant 0.000000e+00 : f32
    scf.for %d0 = %c0 to %c2 step %c1 {
      scf.for %d1 = %c0 to %c3 step %c1 {
        scf.for %d2 = %c0 to %c9 step %c1 {
          scf.for %d3 = %c0 to %c5 step %c1 {
            memref.store %c_2, %c[%d0, %d1, %d2, %d3] : memref<2x3x9x5xf32>
          }
        }
      }
    }
    %0 = memref.subview %c[0, 0, 1, 0] [2, 3, 7, 5] [1, 1, 1, 1] : memref<2x3x9x5xf32> to memref<2x3x7x5xf32, strided<[135, 45, 5, 1], offset: 5>>
    scf.for %d0_1 = %c0 to %c2 step %c1 {
      scf.for %d1_1 = %c0 to %c3 step %c1 {
        scf.for %d2_1 = %c0 to %c7 step %c1 {
          scf.for %d3_1 = %c0 to %c5 step %c1 {
            %1 = memref.load %x[%d0_1, %d1_1, %d2_1, %d3_1] : memref<2x3x7x5xf32>
            memref.store %1, %0[%d0_1, %d1_1, %d2_1, %d3_1] : memref<2x3x7x5xf32, strided<[135, 45, 5, 1], offset: 5>>
          }
        }
      }
    }
    %b = memref.get_global @constant_0 : memref<4xf32>
    scf.for %d0_2 = %c0 to %c2 step %c1 {
      scf.for %d1_2 = %c0 to %c4 step %c1 {
        scf.for %d2_2 = %c0 to %c4 step %c1 {
          scf.for %d3_2 = %c0 to %c4 step %c1 {
            %2 = memref.load %b[%d1_2] : memref<4xf32>
            memref.store %2, %c_1[%d0_2, %d1_2, %d2_2, %d3_2] : memref<2x4x4x4xf32>
          }
        }
      }
    }
    scf.for %d0_3 = %c0 to %c2 step %c1 {
      scf.for %d1_3 = %c0 to %c4 step %c1 {
        scf.for %d2_3 = %c0 to %c4 step %c1 {
          scf.for %d4 = %c0 to %c3 step %c1 {
            scf.for %d5 = %c0 to %c3 step %c1 {
              scf.for %d6 = %c0 to %c2 step %c1 {
                scf.for %d3_3 = %c0 to %c4 step %c1 {
                  %3 = memref.load %c_1[%d0_3, %d1_3, %d2_3, %d3_3] : memref<2x4x4x4xf32>
                  %4 = arith.muli %d2_3, %c2 : index
                  %5 = arith.addi %4, %d5 : index
                  %6 = arith.addi %d3_3, %d6 : index
                  %7 = memref.load %c[%d0_3, %d4, %5, %6] : memref<2x3x9x5xf32>
                  %8 = memref.load %w[%d1_3, %d4, %d5, %d6] : memref<4x3x3x2xf32>
                  %9 = arith.mulf %7, %8 : f32
                  %10 = arith.addf %3, %9 : f32
                  memref.store %10, %c_1[%d0_3, %d1_3, %d2_3, %d3_3] : memref<2x4x4x4xf32>
                }
              }
            }
          }
        }
      }
    }
    func.return
  }
  func.func private @generic_0(%c: memref<2x4x4x4xf32>, %r: memref<2x4x4x4xf32>) {
    %c4 = arith.constant 4 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    scf.for %d0 = %c0 to %c2 step %c1 {
      scf.for %d1 = %c0 to %c4 step %c1 {
        scf.for %d2 = %c0 to %c4 step %c1 {
          scf.for %d3 = %c0 to %c4 step %c1 {
            %0 = memref.load %c[%d0, %d1, %d2, %d3] : memref<2x4x4x4xf32>
            %1 = arith.constant 0.000000e+00 : f32
            %2 = arith.maximumf %0, %1 : f32
            memref.store %2, %r[%d0, %d1, %d2, %d3] : memref<2x4x4x4xf32>
          }
        }
      }
    }
    func.return
  }
  func.func private @generic_1(%m: memref<2x4x4xf32>, %r: memref<2x4x4x4xf32>, %m_1: memref<2x4x4xf32>) {
    %c4 = arith.constant 4 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %m_2 = arith.constant 0.000000e+00 : f32
    scf.for %d0 = %c0 to %c2 step %c1 {
      scf.for %d1 = %c0 to %c4 step %c1 {
        scf.for %d2 = %c0 to %c4 step %c1 {
          memref.store %m_2, %m[%d0, %d1, %d2] : memref<2x4x4xf32>
        }
      }
    }
    scf.for %d0_1 = %c0 to %c2 step %c1 {
      scf.for %d1_1 = %c0 to %c4 step %c1 {
        scf.for %d2_1 = %c0 to %c4 step %c1 {
          %0 = memref.load %m[%d0_1, %d1_1, %d2_1] : memref<2x4x4xf32>
          %1 = scf.for %d3 = %c0 to %c4 step %c1 iter_args(%2 = %0) -> (f32) {
            %3 = memref.load %r[%d0_1, %d1_1, %d2_1, %d3] : memref<2x4x4x4xf32>
            %4 = arith.addf %2, %3 : f32
            scf.yield %4 : f32
          }
          memref.store %1, %m[%d0_1, %d1_1, %d2_1] : memref<2x4x4xf32>
        }
      }
    }
    scf.for %d0_2 = %c0 to %c2 step %c1 {
      scf.for %d1_2 = %c0 to %c4 step %c1 {
        scf.for %d2_2 = %c0 to %c4 step %c1 {
          %5 = memref.load %m[%d0_2, %d1_2, %d2_2] : memref<2x4x4xf32>
          %6 = arith.constant 4.000000e+00 : f32
          %7 = arith.divf %5, %6 : f32
          memref.store %7, %m_1[%d0_2, %d1_2, %d2_2] : memref<2x4x4xf32>
        }
      }
    }
    func.return
  }
  func.func private @generic_2(%i: memref<6xi64>, %0: memref<6xi64>, %1: memref<6xi64>, %2: memref<6xi64>, %output1: memref<i64>, %y: memref<2x4x6xf32>, %m: memref<2x4x4xf32>) {
    %c4 = arith.constant 4 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %3 = memref.get_global @constant_1 : memref<i64>
    scf.for %d0 = %c0 to %c6 step %c1 {
      %4 = memref.load %i[%d0] : memref<6xi64>
      %5 = memref.load %3[] : memref<i64>
      %6 = arith.maxsi %4, %5 : i64
      memref.store %6, %0[%d0] : memref<6xi64>
    }
    %7 = memref.get_global @constant_2 : memref<i64>
    scf.for %d0_1 = %c0 to %c6 step %c1 {
      %8 = memref.load %0[%d0_1] : memref<6xi64>
      %9 = memref.load %7[] : memref<i64>
      %10 = arith.minsi %8, %9 : i64
      memref.store %10, %1[%d0_1] : memref<6xi64>
    }
    %11 = memref.get_global @constant_3 : memref<i64>
    scf.for %d0_2 = %c0 to %c6 step %c1 {
      %12 = memref.load %i[%d0_2] : memref<6xi64>
      %13 = memref.load %11[] : memref<i64>
      %14 = arith.addi %12, %13 : i64
      memref.store %14, %2[%d0_2] : memref<6xi64>
    }
    %15 = arith.constant -9223372036854775808 : i64
    memref.store %15, %output1[] : memref<i64>
    %16 = memref.load %output1[] : memref<i64>
    %17 = scf.for %d0_3 = %c0 to %c6 step %c1 iter_args(%18 = %16) -> (i64) {
      %19 = memref.load %2[%d0_3] : memref<6xi64>
      %20 = arith.maxsi %18, %19 : i64
      scf.yield %20 : i64
    }
    memref.store %17, %output1[] : memref<i64>
    scf.for %d0_4 = %c0 to %c2 step %c1 {
      scf.for %d1 = %c0 to %c4 step %c1 {
        scf.for %d2 = %c0 to %c6 step %c1 {
          %21 = memref.load %1[%d2] : memref<6xi64>
          %22 = arith.index_cast %21 : i64 to index
          %23 = arith.cmpi slt, %22, %c0 : index
          %24 = arith.addi %22, %c4 : index
          %25 = arith.select %23, %24, %22 : index
          %26 = memref.load %m[%d0_4, %d1, %25] : memref<2x4x4xf32>
          memref.store %26, %y[%d0_4, %d1, %d2] : memref<2x4x6xf32>
        }
      }
    }
    func.return
  }
}
