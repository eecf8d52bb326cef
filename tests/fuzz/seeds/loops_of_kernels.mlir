builtin.module {
  "memref.global"() <{sym_name = "constant_0", type = memref<4xf32>, initial_value = dense<[1.000000e+00, -2.000000e+00, 5.000000e-01, 2.500000e-01]> : tensor<4xf32>, sym_visibility = "private", constant, alignment = 64 : i64}> : () -> ()
  func.func @prepare(%w: memref<4x3x3x2xf32> {gawee.parameter = "conv.weight"}, %w_1: memref<3x3x2x4xf32> {gawee.output = "0"}, %workspace: memref<0xi8> {gawee.workspace}) {
    func.call @copy_0(%w, %w_1) : (memref<4x3x3x2xf32>, memref<3x3x2x4xf32>) -> ()
    func.return
  }
  func.func @main(%x: memref<2x3x7x5xf32> {gawee.input = "x"}, %i: memref<6xi64> {gawee.input = "i"}, %w: memref<3x3x2x4xf32> {gawee.prepared = "0"}, %y: memref<2x4x6xf32> {gawee.output = "y"}, %output1: memref<i64> {gawee.indices = {op = "gawee.gather", axes = array<i64: 2>, sizes = array<i64: 4>, place = "net.mlir:9:3"}}, %workspace: memref<1600xi8> {gawee.workspace}) {
    %0 = arith.constant 0 : index
    %c = memref.view %workspace[%0][] : memref<1600xi8> to memref<2x3x9x5xf32>
    func.call @copy_1(%x, %c) : (memref<2x3x7x5xf32>, memref<2x3x9x5xf32>) -> ()
    %1 = arith.constant 1088 : index
    %r = memref.view %workspace[%1][] : memref<1600xi8> to memref<2x4x4x4xf32>
    func.call @conv_0(%c, %w, %r) : (memref<2x3x9x5xf32>, memref<3x3x2x4xf32>, memref<2x4x4x4xf32>) -> ()
    %m = memref.view %workspace[%0][] : memref<1600xi8> to memref<2x4x4xf32>
    func.call @reduce_0(%r, %m) : (memref<2x4x4x4xf32>, memref<2x4x4xf32>) -> ()
    %2 = arith.constant 128 : index
    %3 = memref.view %workspace[%2][] : memref<1600xi8> to memref<6xi64>
    func.call @elementwise_0(%i, %3) : (memref<6xi64>, memref<6xi64>) -> ()
    func.call @reduce_1(%i, %output1) : (memref<6xi64>, memref<i64>) -> ()
    func.call @generic_0(%3, %y, %m) : (memref<6xi64>, memref<2x4x6xf32>, memref<2x4x4xf32>) -> ()
    func.return
  }
  func.func private @copy_0(%w: memref<4x3x3x2xf32>, %w_1: memref<3x3x2x4xf32>) {
    %c4 = arith.constant 4 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c0 = arith.constant 0 : index
    scf.for %d1 = %c0 to %c3 step %c1 {
      scf.for %d2 = %c0 to %c3 step %c1 {
        scf.for %d3 = %c0 to %c2 step %c1 {
          scf.for %d0 = %c0 to %c4 step %c1 {
            %0 = memref.load %w[%d0, %d1, %d2, %d3] : memref<4x3x3x2xf32>
            memref.store %0, %w_1[%d1, %d2, %d3, %d0] : memref<3x3x2x4xf32>
          } {gawee.unroll = 1 : i64}
        }
      }
    }
    func.return
  }
  func.func private @copy_1(%x: memref<2x3x7x5xf32>, %c: memref<2x3x9x5xf32>) {
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c3 = arith.constant 3 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c0 = arith.constant 0 : index
    %0 = arith.constant 0.000000e+00 : f32
    %1 = vector.broadcast %0 : f32 to vector<4xf32>
    scf.for %i0 = %c0 to %c2 step %c1 {
      scf.for %i1 = %c0 to %c3 step %c1 {
        vector.store %1, %c[%i0, %i1, %c0, %c0] : memref<2x3x9x5xf32>, vector<4xf32>
        vector.store %1, %c[%i0, %i1, %c0, %c1] : memref<2x3x9x5xf32>, vector<4xf32>
      } {gawee.unroll = 1 : i64}
    } {gawee.unroll = 1 : i64}
    scf.for %i0_1 = %c0 to %c2 step %c1 {
      scf.for %i1_1 = %c0 to %c3 step %c1 {
        vector.store %1, %c[%i0_1, %i1_1, %c8, %c0] : memref<2x3x9x5xf32>, vector<4xf32>
        vector.store %1, %c[%i0_1, %i1_1, %c8, %c1] : memref<2x3x9x5xf32>, vector<4xf32>
      } {gawee.unroll = 1 : i64}
    } {gawee.unroll = 1 : i64}
    scf.for %d0 = %c0 to %c2 step %c1 {
      scf.for %d1 = %c0 to %c3 step %c1 {
        scf.for %d2 = %c0 to %c7 step %c1 {
          %2 = vector.broadcast %0 : f32 to vector<8xf32>
          %3 = arith.constant dense<[true, true, true, true, true, false, false, false]> : vector<8xi1>
          %4 = vector.maskedload %x[%d0, %d1, %d2, %c0], %3, %2 : memref<2x3x7x5xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
          %5 = arith.addi %d2, %c1 : index
          vector.maskedstore %c[%d0, %d1, %5, %c0], %3, %4 : memref<2x3x9x5xf32>, vector<8xi1>, vector<8xf32>
        }
      }
    }
    func.return
  }
  func.func private @conv_0(%c: memref<2x3x9x5xf32>, %w: memref<3x3x2x4xf32>, %r: memref<2x4x4x4xf32>) {
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    %accumulators = memref.alloca() : memref<4xvector<4xf32>>
    %b = memref.get_global @constant_0 : memref<4xf32>
    scf.for %d0 = %c0 to %c2 step %c1 {
      scf.for %d2 = %c0 to %c4 step %c1 {
        %0 = arith.constant 0.000000e+00 : f32
        %1 = vector.broadcast %0 : f32 to vector<4xf32>
        scf.for %t1 = %c0 to %c4 step %c1 {
          memref.store %1, %accumulators[%t1] : memref<4xvector<4xf32>>
        } {gawee.unroll = "full"}
        scf.for %d4 = %c0 to %c3 step %c1 {
          scf.for %d5 = %c0 to %c3 step %c1 {
            scf.for %d6 = %c0 to %c2 step %c1 {
              scf.for %t1_1 = %c0 to %c4 step %c1 {
                %2 = arith.muli %d2, %c2 : index
                %3 = arith.addi %2, %d5 : index
                %4 = vector.load %c[%d0, %d4, %3, %d6] : memref<2x3x9x5xf32>, vector<4xf32>
                %5 = memref.load %w[%d4, %d5, %d6, %t1_1] : memref<3x3x2x4xf32>
                %6 = memref.load %accumulators[%t1_1] : memref<4xvector<4xf32>>
                %7 = vector.broadcast %5 : f32 to vector<4xf32>
                %8 = math.fma %4, %7, %6 : vector<4xf32>
                memref.store %8, %accumulators[%t1_1] : memref<4xvector<4xf32>>
              } {gawee.unroll = "full"}
            } {gawee.unroll = 1 : i64}
          } {gawee.unroll = 1 : i64}
        } {gawee.unroll = 1 : i64}
        scf.for %t1_2 = %c0 to %c4 step %c1 {
          %9 = memref.load %b[%t1_2] : memref<4xf32>
          %10 = memref.load %accumulators[%t1_2] : memref<4xvector<4xf32>>
          %11 = vector.broadcast %9 : f32 to vector<4xf32>
          %12 = arith.addf %11, %10 : vector<4xf32>
          %13 = arith.cmpf ogt, %1, %12 : vector<4xf32>
          %14 = arith.select %13, %1, %12 : vector<4xi1>, vector<4xf32>
          vector.store %14, %r[%d0, %t1_2, %d2, %c0] : memref<2x4x4x4xf32>, vector<4xf32>
        } {gawee.unroll = "full"}
      }
    }
    func.return
  }
  func.func private @reduce_0(%r: memref<2x4x4x4xf32>, %m: memref<2x4x4xf32>) {
    %c3 = arith.constant 3 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    %accumulators = memref.alloca() : memref<4xvector<4xf32>>
    scf.for %d0 = %c0 to %c2 step %c1 {
      %0 = arith.constant 0.000000e+00 : f32
      %1 = vector.broadcast %0 : f32 to vector<4xf32>
      scf.for %t1 = %c0 to %c4 step %c1 {
        memref.store %1, %accumulators[%t1] : memref<4xvector<4xf32>>
      } {gawee.unroll = "full"}
      scf.for %d3 = %c0 to %c4 step %c1 {
        scf.for %t1_1 = %c0 to %c4 step %c1 {
          %2 = memref.load %r[%d0, %t1_1, %c0, %d3] : memref<2x4x4x4xf32>
          %3 = vector.insert %2, %1 [0] : f32 into vector<4xf32>
          %4 = memref.load %r[%d0, %t1_1, %c1, %d3] : memref<2x4x4x4xf32>
          %5 = vector.insert %4, %3 [1] : f32 into vector<4xf32>
          %6 = memref.load %r[%d0, %t1_1, %c2, %d3] : memref<2x4x4x4xf32>
          %7 = vector.insert %6, %5 [2] : f32 into vector<4xf32>
          %8 = memref.load %r[%d0, %t1_1, %c3, %d3] : memref<2x4x4x4xf32>
          %9 = vector.insert %8, %7 [3] : f32 into vector<4xf32>
          %10 = memref.load %accumulators[%t1_1] : memref<4xvector<4xf32>>
          %11 = arith.addf %10, %9 : vector<4xf32>
          memref.store %11, %accumulators[%t1_1] : memref<4xvector<4xf32>>
        } {gawee.unroll = "full"}
      } {gawee.unroll = 1 : i64}
      scf.for %t1_2 = %c0 to %c4 step %c1 {
        %12 = memref.load %accumulators[%t1_2] : memref<4xvector<4xf32>>
        %13 = arith.constant 4.000000e+00 : f32
        %14 = vector.broadcast %13 : f32 to vector<4xf32>
        %15 = arith.divf %12, %14 : vector<4xf32>
        vector.store %15, %m[%d0, %t1_2, %c0] : memref<2x4x4xf32>, vector<4xf32>
      } {gawee.unroll = "full"}
    }
    func.return
  }
  func.func private @elementwise_0(%i: memref<6xi64>, %0: memref<6xi64>) {
    %c0 = arith.constant 0 : index
    %1 = arith.constant 0 : i64
    %2 = vector.broadcast %1 : i64 to vector<8xi64>
    %3 = arith.constant dense<[true, true, true, true, true, true, false, false]> : vector<8xi1>
    %4 = vector.maskedload %i[%c0], %3, %2 : memref<6xi64>, vector<8xi1>, vector<8xi64> into vector<8xi64>
    %5 = arith.constant -4 : i64
    %6 = vector.broadcast %5 : i64 to vector<8xi64>
    %7 = arith.maxsi %4, %6 : vector<8xi64>
    %8 = arith.constant 3 : i64
    %9 = vector.broadcast %8 : i64 to vector<8xi64>
    %10 = arith.minsi %7, %9 : vector<8xi64>
    vector.maskedstore %0[%c0], %3, %10 : memref<6xi64>, vector<8xi1>, vector<8xi64>
    func.return
  }
  func.func private @reduce_1(%i: memref<6xi64>, %output1: memref<i64>) {
    %c0 = arith.constant 0 : index
    %accumulators = memref.alloca() : memref<vector<8xi64>>
    %0 = arith.constant -9223372036854775808 : i64
    %1 = vector.broadcast %0 : i64 to vector<8xi64>
    memref.store %1, %accumulators[] : memref<vector<8xi64>>
    %2 = arith.constant 0 : i64
    %3 = vector.broadcast %2 : i64 to vector<8xi64>
    %4 = arith.constant dense<[true, true, true, true, true, true, false, false]> : vector<8xi1>
    %5 = vector.maskedload %i[%c0], %4, %3 : memref<6xi64>, vector<8xi1>, vector<8xi64> into vector<8xi64>
    %6 = memref.load %accumulators[] : memref<vector<8xi64>>
    %7 = arith.constant -9223372036854775804 : i64
    %8 = vector.broadcast %7 : i64 to vector<8xi64>
    %9 = arith.addi %5, %8 : vector<8xi64>
    %10 = arith.maxsi %6, %9 : vector<8xi64>
    %11 = arith.select %4, %10, %6 : vector<8xi1>, vector<8xi64>
    memref.store %11, %accumulators[] : memref<vector<8xi64>>
    %12 = memref.load %accumulators[] : memref<vector<8xi64>>
    %13 = vector.reduction <maxsi>, %12 : vector<8xi64> into i64
    memref.store %13, %output1[] : memref<i64>
    func.return
  }
  func.func private @generic_0(%0: memref<6xi64>, %y: memref<2x4x6xf32>, %m: memref<2x4x4xf32>) {
    %c6 = arith.constant 6 : index
    %c4 = arith.constant 4 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    scf.for %d0 = %c0 to %c2 step %c1 {
      scf.for %d1 = %c0 to %c4 step %c1 {
        scf.for %d2 = %c0 to %c6 step %c1 {
          %1 = memref.load %0[%d2] : memref<6xi64>
          %2 = arith.index_cast %1 : i64 to index
          %3 = arith.cmpi slt, %2, %c0 : index
          %4 = arith.addi %2, %c4 : index
          %5 = arith.select %3, %4, %2 : index
          %6 = memref.load %m[%d0, %d1, %5] : memref<2x4x4xf32>
          memref.store %6, %y[%d0, %d1, %d2] : memref<2x4x6xf32>
        }
      }
    }
    func.return
  }
}
