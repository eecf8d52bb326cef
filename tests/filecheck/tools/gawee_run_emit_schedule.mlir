// RUN: rm -rf %t && gawee-run %s --weights random --emit schedule --emit ll --emit-dir %t --name net --target haswell --num-threads 1 | filecheck %s --check-prefix=EMIT
// RUN: filecheck %s < %t/net_schedule.py
// RUN: gawee-run %s --weights random --emit ll --emit-dir %t --name again --target haswell --num-threads 1 --schedules %t/net_schedule.py
// RUN: sed s/again_/net_/g %t/again.ll | diff - %t/net.ll

// What the compiler chose is a program of steps, which gives the same code when it is read.

// EMIT: wrote {{.*}}net.ll
// EMIT: wrote {{.*}}net_schedule.py

// CHECK: sch = schedule(target="haswell")
// CHECK: # matmul 5x24 over 7 f32
// CHECK-NEXT: # {{.*}}:{{[0-9]+}}:3
// CHECK-NEXT: sch["{{[0-9a-f]+}}"].tile(d0=3).vectorize(d1=8).unroll("d0", "d1")
func.func @main(%x: tensor<5x7xf32>, %w: tensor<24x7xf32> {gawee.parameter = "w"}) -> (tensor<5x24xf32> {gawee.output = "y"}) {
  %y = gawee.matmul %x, %w : (tensor<5x7xf32>, tensor<24x7xf32>) -> tensor<5x24xf32>
  func.return %y : tensor<5x24xf32>
}
