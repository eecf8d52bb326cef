// RUN: gawee-opt %s -o %t && filecheck %s --input-file %t
// RUN: gawee-opt --output=%t %s && gawee-opt %t | filecheck %s
// RUN: gawee-opt %s -o - | filecheck %s

// CHECK-LABEL: func.func @written_to_a_file
func.func @written_to_a_file() {
  return
}
