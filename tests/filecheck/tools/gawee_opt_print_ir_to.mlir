// RUN: gawee-opt --canonicalize --cse --print-ir-to=%t %s -o /dev/null
// RUN: filecheck %s --input-file=%t/index.txt
// RUN: filecheck %s --input-file=%t/00_input.mlir --check-prefix=INPUT
// RUN: filecheck %s --input-file=%t/02_cse.mlir --check-prefix=SAME

// CHECK: 00 input 4 ops 00_input.mlir
// CHECK: 01 canonicalize {{[0-9]}} ops 01_canonicalize.mlir
// CHECK: 02 cse (unchanged) 02_cse.mlir

// INPUT: gawee.identity

// SAME: // (unchanged) as in 01_canonicalize.mlir
func.func @the_folder_has_a_file_for_every_pass(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.identity %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = gawee.relu %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}
