// RUN: gawee-opt --verify-diagnostics --split-input-file %s | filecheck %s

// CHECK: gawee_opt_verify_diagnostics.mlir:{{[0-9]+}}:3: error: 'gawee.relu' op unsupported element type 'i1' of input
func.func @an_error_goes_to_stdout_with_its_line(%x: tensor<2xi1>) {
  %y = gawee.relu %x : (tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

// CHECK: func.func @the_next_chunk_is_still_read
func.func @the_next_chunk_is_still_read() {
  return
}

// -----

// CHECK: gawee_opt_verify_diagnostics.mlir:{{[0-9]+}}:{{.*}}: error: 'gawee.rule' op is not registered
func.func @a_parse_error_has_its_line_too(%x: tensor<2xf32>) {
  %y = gawee.rule %x : (tensor<2xf32>) -> tensor<2xf32>
  return
}
