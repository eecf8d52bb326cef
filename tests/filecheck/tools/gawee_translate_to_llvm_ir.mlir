// RUN: gawee-opt --gawee-to-llvm %s | gawee-translate --to llvm-ir | filecheck %s
// RUN: not gawee-translate --to llvm-ir %s 2>&1 | filecheck %s --check-prefix=GRAPH

// CHECK-LABEL: define void @main(
// CHECK-SAME:    ptr noalias {{.*}} %x
// CHECK:         call void @
// CHECK-LABEL: define internal void @
// CHECK:         call float @llvm.maximum.f32(float
// GRAPH: error: expected a module of the llvm dialect, got 'func.func'
// GRAPH: hint: gawee-opt --gawee-to-llvm takes a graph there
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}
