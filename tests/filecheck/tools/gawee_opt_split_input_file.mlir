// RUN: gawee-opt --split-input-file %s | filecheck %s
// RUN: gawee-opt --split-input-file < %s | gawee-opt --split-input-file | filecheck %s

// A chunk of comments is an empty module.
// CHECK:       builtin.module {
// CHECK-NEXT:  }

// -----

// CHECK-LABEL: func.func @first
func.func @first() {
  return
}

// -----

// A line of more dashes, or one that goes on, is a comment.
// --------
// ----- not a marker

// CHECK:       // -----
// CHECK-LABEL: func.func @second_may_reuse_a_name
func.func @second_may_reuse_a_name() {
  return
}
// CHECK-NOT:   // -----
