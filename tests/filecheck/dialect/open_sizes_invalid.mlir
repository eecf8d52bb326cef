// RUN: gawee-opt %s --verify-diagnostics --split-input-file | filecheck %s

// CHECK: 'gawee.add' op expected shapes to broadcast, got batch and length
func.func @two_names_are_two_sizes(%x: tensor<?xf32> {gawee.sizes = ["batch"]}, %y: tensor<?xf32> {gawee.sizes = ["length"]}) -> tensor<?xf32> {
  %0 = gawee.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}

// -----

// CHECK: 'gawee.conv' op expected size 'height - 3' to be a multiple of '2' for all its values
func.func @a_quotient_need_not_be_whole(%x: tensor<2x3x?x8xf32> {gawee.sizes = ["-", "-", "height", "-"]}, %w: tensor<4x3x3x3xf32>) -> tensor<2x4x?x3xf32> attributes {gawee.ranges = {height = "9 to 99"}} {
  %0 = gawee.conv %x, %w strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x3x?x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x?x3xf32>
  func.return %0 : tensor<2x4x?x3xf32>
}

// -----

// CHECK: 'gawee.slice' op expected to know whether '3' is less than 'length'
func.func @a_slice_has_to_stay_inside(%x: tensor<?xf32> {gawee.sizes = ["length"]}) -> tensor<4xf32> {
  %0 = gawee.slice %x offsets [0] sizes [4] strides [1] : (tensor<?xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

// CHECK: 'gawee.reshape' op expected shape 2 (2 elements) to keep the length elements of the input
func.func @a_form_is_no_number(%x: tensor<?xf32> {gawee.sizes = ["length"]}) -> tensor<2xf32> {
  %0 = gawee.reshape %x shape [2] : (tensor<?xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// CHECK: 'gawee.relu' op expected result type 'tensor<?x3xf32>' of sizes batch x 3, got 'tensor<?x4xf32>'
func.func @sizes_that_are_known_are_checked(%x: tensor<?x3xf32> {gawee.sizes = ["batch", "-"]}) -> tensor<?x4xf32> {
  %0 = gawee.relu %x : (tensor<?x3xf32>) -> tensor<?x4xf32>
  func.return %0 : tensor<?x4xf32>
}

// -----

// CHECK: 'gawee.relu' op expected operand #0 of static shape, got 'tensor<?xf32>'
func.func @a_size_without_a_name(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = gawee.relu %x : (tensor<?xf32>) -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}

// -----

// CHECK: 'func.func' op expected gawee.sizes of argument #0 to have 2 entries, one an axis, got 1
func.func @a_name_for_each_axis(%x: tensor<?x3xf32> {gawee.sizes = ["batch"]}) {
  func.return
}

// -----

// CHECK: 'func.func' op expected gawee.sizes of argument #0 to name the axes whose size is '?', and '-' for others, got 'three' for axis 1 of tensor<?x3xf32>
func.func @a_name_for_what_is_known(%x: tensor<?x3xf32> {gawee.sizes = ["batch", "three"]}) {
  func.return
}

// -----

// CHECK: 'func.func' op expected gawee.sizes of argument #0 to be names of a tensor's sizes
func.func @names_of_no_tensor(%x: f32 {gawee.sizes = ["batch"]}) {
  func.return
}

// -----

// CHECK: 'func.func' op expected a size such as '2 * length + 1', got '2 * * length'
func.func @no_size(%x: tensor<?xf32> {gawee.sizes = ["2 * * length"]}) {
  func.return
}

// -----

// CHECK: 'func.func' op expected a size such as '2 * length + 1', got 'length / 3': expected size 'length' to be a multiple of '3' for all its values
func.func @no_whole_size(%x: tensor<?xf32> {gawee.sizes = ["length / 3"]}) {
  func.return
}

// -----

// CHECK: 'func.func' op expected the range of size 'batch' such as '1 to 512', '1 or more' or '8 to 512 step 8', got 'many'
func.func @no_range(%x: tensor<?xf32> {gawee.sizes = ["batch"]}) attributes {gawee.ranges = {batch = "many"}} {
  func.return
}

// -----

// CHECK: 'func.func' op expected the range of size 'batch' to begin with a multiple of its step and to end behind it, got '8 to 4'
func.func @an_empty_range(%x: tensor<?xf32> {gawee.sizes = ["batch"]}) attributes {gawee.ranges = {batch = "8 to 4"}} {
  func.return
}

// -----

// CHECK: 'func.func' op expected the range of size 'batch' in quotes, got 3 : i64
func.func @a_number_for_a_range(%x: tensor<?xf32> {gawee.sizes = ["batch"]}) attributes {gawee.ranges = {batch = 3}} {
  func.return
}

// -----

// CHECK: 'func.func' op expected gawee.ranges to be a dictionary, got "batch"
func.func @ranges_of_no_names(%x: tensor<?xf32> {gawee.sizes = ["batch"]}) attributes {gawee.ranges = "batch"} {
  func.return
}

// -----

// CHECK: 'gawee.reshape' op expected size 'length / 2' to be whole for all its values
func.func @half_a_size(%x: tensor<?xf32> {gawee.sizes = ["length"]}) -> tensor<?x2xf32> {
  %0 = gawee.reshape %x shape ["length / 2", 2] : (tensor<?xf32>) -> tensor<?x2xf32>
  func.return %0 : tensor<?x2xf32>
}

// -----

// CHECK: 'func.func' op expected a size such as '2 * length + 1', got '1000000000000000000000'
func.func @a_number_of_more_than_64_bits(%x: tensor<?xf32> {gawee.sizes = ["1000000000000000000000"]}) {
  func.return
}

// -----

// CHECK:      'gawee.iota' op expected sizes that arguments name, got 'lenght'
// CHECK-NEXT: hint: did you mean 'length'?
func.func @a_name_that_no_argument_has(%x: tensor<?xi32> {gawee.sizes = ["length"]}) -> tensor<3x?xi32> {
  %0 = gawee.iota axis 1 {shape = #gawee.sizes<[3, "lenght + 1"]>} : tensor<3x?xi32>
  func.return %0 : tensor<3x?xi32>
}

// -----

// CHECK:      'gawee.iota' op expected sizes that arguments name, got 'length'
// CHECK-NEXT: hint: gawee.sizes of arguments names none
func.func @a_name_where_arguments_have_none(%x: tensor<3xi32>) -> tensor<3x?xi32> {
  %0 = gawee.iota axis 1 {shape = #gawee.sizes<[3, "length"]>} : tensor<3x?xi32>
  func.return %0 : tensor<3x?xi32>
}

// -----

// CHECK: 'gawee.relu' op operation gawee.relu terminates block in multi-block region but is not a terminator
func.func @a_scan_of_two_blocks(%x: tensor<?x3xf32> {gawee.sizes = ["rows", "-"]}) -> tensor<?x3xf32> {
  %0 = gawee.scan steps "rows" over(%x : tensor<?x3xf32>) {
    %1 = gawee.relu %now : (tensor<3xf32>) -> tensor<3xf32>
  ^bb0(%now: tensor<3xf32>):
    gawee.yield %1 : tensor<3xf32>
  } -> tensor<?x3xf32>
  func.return %0 : tensor<?x3xf32>
}

// -----

// CHECK: 'scf.if' op expected value #0 to have one shape whatever runs, got 2 * n x 8 and n x 8
// CHECK: hint: numbers for open sizes: --shape batch=4
func.func @branches_of_two_sizes(%x: tensor<?x8xf32> {gawee.sizes = ["n", "-"]}, %taken: i1) -> tensor<?x8xf32> {
  %y = scf.if %taken -> (tensor<?x8xf32>) {
    %0 = gawee.cat %x, %x dim 0 : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    scf.yield %0 : tensor<?x8xf32>
  } else {
    scf.yield %x : tensor<?x8xf32>
  }
  func.return %y : tensor<?x8xf32>
}

// -----

// CHECK: 'scf.while' op expected value #0 to have one shape whatever runs, got n x 8 and 2 * n x 8
func.func @steps_that_grow(%x: tensor<?x8xf32> {gawee.sizes = ["n", "-"]}, %go: i1) -> tensor<?x8xf32> {
  %y = scf.while (%v = %x) : (tensor<?x8xf32>) -> (tensor<?x8xf32>) {
    scf.condition(%go) %v : tensor<?x8xf32>
  } do {
  ^bb0(%v: tensor<?x8xf32>):
    %0 = gawee.cat %v, %v dim 0 : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    scf.yield %0 : tensor<?x8xf32>
  }
  func.return %y : tensor<?x8xf32>
}

// -----

// CHECK: 'gawee.iota' op expected result type 'tensor<3x0xi32>', got 'tensor<3x?xi32>'
func.func @a_form_without_names_is_a_number(%x: tensor<?xi32> {gawee.sizes = ["length"]}) -> tensor<3x?xi32> {
  %y = gawee.iota axis 1 {shape = #gawee.sizes<[3, "-1 + 1"]>} : tensor<3x?xi32>
  func.return %y : tensor<3x?xi32>
}
