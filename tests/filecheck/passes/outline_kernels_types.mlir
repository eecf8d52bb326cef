// RUN: gawee-opt -p outline-kernels %s | filecheck %s
// RUN: gawee-run %s --level llvm --compare buffers | filecheck %s --check-prefix=RAN

// CHECK-LABEL: func.func @main
// CHECK-NEXT:    func.call @elementwise_0(%x, %y)
// CHECK-NEXT:    func.call @elementwise_1(%x, %z)

// RAN: y {{.*}} same
// RAN: z {{.*}} same

// Both read and write f32: what they round to is a type inside alone.
func.func @main(%x: memref<7xf32> {gawee.input = "x"}, %y: memref<7xf32> {gawee.output = "y"}, %z: memref<7xf32> {gawee.output = "z"}) {
  gawee.kernel parallel [7] ins(%x : memref<7xf32>) outs(%y) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] finish {
  ^bb0(%a: f32):
    %0 = arith.truncf %a : f32 to f16
    %1 = arith.extf %0 : f16 to f32
    gawee.yield %1 : f32
  } schedule #gawee.schedule<loops = [d0]> : memref<7xf32>
  gawee.kernel parallel [7] ins(%x : memref<7xf32>) outs(%z) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] finish {
  ^bb0(%a: f32):
    %0 = arith.truncf %a : f32 to bf16
    %1 = arith.extf %0 : bf16 to f32
    gawee.yield %1 : f32
  } schedule #gawee.schedule<loops = [d0]> : memref<7xf32>
  func.return
}
