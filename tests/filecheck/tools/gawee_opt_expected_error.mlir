// RUN: gawee-opt --verify-diagnostics --split-input-file %s | filecheck %s --allow-empty

// Where errors are annotated, they are compared and nothing is printed.
// CHECK-NOT: {{(error|func)}}

func.func @on_the_same_line(%x: tensor<2xi1>) {
  %y = gawee.relu %x : (tensor<2xi1>) -> tensor<2xi1> // expected-error {{unsupported element type 'i1'}}
  return
}

// -----

func.func @on_the_line_below(%x: tensor<2x3xf32>) {
  // expected-error @below {{expected result type 'tensor<2x3xf32>', got 'tensor<3x2xf32>'}}
  %y = gawee.relu %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @some_lines_away(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{expected result type}}

  %y = gawee.relu %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @on_the_line_above(%x: tensor<2x3xf32>) {
  %y = gawee.relu %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // expected-error @above {{expected result type}}
  return
}
