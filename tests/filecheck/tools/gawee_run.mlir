// RUN: gawee-run %s --weights random --level llvm --compare gawee --repeat 2 | filecheck %s --check-prefix=COMPARE
// RUN: gawee-run %s --weights random --level linalg --profile | filecheck %s --check-prefix=PROFILE
// RUN: gawee-run %s --weights random --cost --level gawee | filecheck %s --check-prefix=COST
// RUN: rm -rf %t && gawee-run %s --weights random --emit ll --emit-dir %t --name net --fast-math contract | filecheck %s --check-prefix=EMIT
// RUN: filecheck %s --check-prefix=LLVM < %t/net.ll
// RUN: gawee-run %s --weights random --level llvm --roofline %t/roof.svg | filecheck %s --check-prefix=ROOF
// RUN: filecheck %s --check-prefix=SVG < %t/roof.svg
// RUN: env XDG_CACHE_HOME=%t gawee-run %s --weights random --level gawee --measure | filecheck %s --check-prefix=MEASURE

// COMPARE: level llvm: ready in {{.*}} s, ran in {{.*}} ms
// COMPARE: level gawee: ready in
// COMPARE: llvm against gawee
// COMPARE: y {{.*}} {{close|same}}
// PROFILE: time by node
// Which of its ops took longest differs between runs; it stands for the node.
// PROFILE: {{(arith|tensor|linalg)\.}}
// PROFILE: limits of one core of host
// COST: cost of 1 node
// COST: conv {{.*}} 480 {{.*}} 240 {{.*}} 320
// EMIT: wrote {{.*}}net.ll
// LLVM: call contract {{.*}}@llvm.fma
// LLVM: define i32 @net_run(
// ROOF: time by node
// ROOF: wrote {{.*}}roof.svg
// SVG: GFLOP/s
// MEASURE: limits of one core of host: {{.*}} (measured
func.func @main(%x: tensor<2x3x5x2xf32>, %w: tensor<4x3x1x1xf32> {gawee.parameter = "w"}) -> (tensor<2x4x5x2xf32> {gawee.output = "y"}) {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x3x5x2xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x5x2xf32>
  func.return %y : tensor<2x4x5x2xf32>
}
