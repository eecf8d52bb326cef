// RUN: gawee-opt --mlir-timing --canonicalize --cse %s -o %t 2>&1 | filecheck %s
// RUN: gawee-opt --mlir-timing --canonicalize %s 2>/dev/null | filecheck %s --check-prefix=OUT

// CHECK:      pass {{.*}} seconds {{.*}} % {{.*}} ops before {{.*}} ops after {{.*}} patterns fired
// CHECK:      parse
// CHECK:      canonicalize {{.*}} 4 {{.*}} 3
// CHECK:      cse {{.*}} 3 {{.*}} 3
// CHECK:      print
// CHECK:      total {{.*}} 100.0

// OUT-NOT:   seconds
// OUT:       func.func @the_table_goes_to_stderr
func.func @the_table_goes_to_stderr(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.identity %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = gawee.relu %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}
