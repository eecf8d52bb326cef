// RUN: gawee-opt --check-each --check-seed=1 --load=%S/../../instruments/wrong_passes/swapped_outputs.py --swapped-outputs --verify-diagnostics %s -o %t.1 2>/dev/null
// RUN: gawee-opt --check-each --check-seed=1 --load=%S/../../instruments/wrong_passes/swapped_outputs.py --swapped-outputs --verify-diagnostics %s -o %t.again 2>/dev/null
// RUN: gawee-opt --check-each --check-seed=2 --load=%S/../../instruments/wrong_passes/swapped_outputs.py --swapped-outputs --verify-diagnostics %s -o %t.2 2>/dev/null
// RUN: diff %t.1 %t.again
// RUN: not diff %t.1 %t.2
// RUN: filecheck %s --input-file %t.2

// CHECK: error: pass 'swapped-outputs' moved output 'output0' at
func.func @other_data_show_other_differences(%x: tensor<3x5xf32>, %z: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>) {
  %r = gawee.relu %x : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %r, %z : tensor<3x5xf32>, tensor<3x5xf32>
}
